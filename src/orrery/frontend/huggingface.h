// Decoders from the config.json of Hugging Face transformers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/decoder.h"

namespace orrery::frontend {

/// Reads a config.json. Understood architectures: huggingface_architectures(). A key that changes
/// what is computed and is not understood is an error that names it (Unsupported), as is a value
/// outside what the decoder can express; keys that only matter to training, sampling or tokenising
/// are passed over. `name` becomes the decoder's name.
Result<Decoder> read_huggingface(std::string_view json, std::string_view name);

/// The names that `architectures` may hold, in the table's order.
std::vector<std::string> huggingface_architectures();

}  // namespace orrery::frontend
