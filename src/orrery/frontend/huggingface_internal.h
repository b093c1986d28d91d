// Parts of the reader of config.json.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/result.h"
#include "orrery/frontend/config_keys.h"
#include "orrery/frontend/model.h"

namespace orrery::frontend {

/// quantisation.cpp: sets the precisions of `layers` and of the cache from quantization_config or
/// the like. `path` for messages.
void read_quantisation(const Json& config,
                       std::string_view path,
                       std::vector<Layer>& layers,
                       Model& model,
                       Complaints& complaints);

/// towers.cpp: the towers of `config` beside its text part; what cannot be read is noted.
void read_towers(const Json& config, Model& model, Complaints& complaints);

/// check_config.cpp: keys that no part reads, and notes of what is left out.
void check_rest(Keys& keys, Model& model);

/// Keys of the whole file around a text part, which are read by others or say where images go.
void check_outside(bool inner, Keys& outer);

/// read_encoder_decoder.cpp: stack and encoder of T5 and Whisper.
void read_encoder_decoder(Keys& keys, Model& model);

/// The norm's epsilon, under any of its names.
double read_epsilon(Keys& keys);

/// Type of the weights, wherever it is said; an error if nowhere.
DType read_dtype(Keys& keys, std::optional<DType> missing);

}  // namespace orrery::frontend
