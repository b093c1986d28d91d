// Models from the config.json of Hugging Face transformers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"

namespace orrery::frontend {

/// What the file does not say, or what is to be otherwise.
struct ReadOptions {
  std::string quantisation = {};  // text of an hf_quant_config.json beside it; empty: none
};

/// Reads a config.json. Understood families: family_names() in families.h. A key that changes what
/// is computed and is not understood is an error that names it (Unsupported), as is a value outside
/// what a model can express; keys that only matter to training, sampling or tokenising are passed
/// over. Models with towers for images or sound are read as their text part; the towers stand
/// beside it (Model::towers) and notes say so. `name` becomes the model's name.
Result<Model> read_huggingface(std::string_view json,
                               std::string_view name,
                               const ReadOptions& options = {});

}  // namespace orrery::frontend
