// Lists of decoders beside measured tables: models.json with a note and sizes by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"

namespace orrery::frontend {

/// Reads {"models": {"llama3-8b": {"hidden": .., "intermediate": .., "heads": .., "kv_heads": ..,
/// "head_dim": .., "vocab": .., "layers": ..}, ..}}: plain bfloat16 decoders without biases, head
/// not tied. Errors name model and key.
Result<std::vector<Model>> read_decoder_list(std::string_view json, std::string_view origin);

/// The decoder called `name`; a name ending in -kL means its first k layers.
Result<Model> find_decoder(const std::vector<Model>& list, std::string_view name);

}  // namespace orrery::frontend
