// How large a model is: parameters, bytes of its cache, arithmetic of a token.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/frontend/model.h"

namespace orrery::frontend {

struct ModelSize {
  double parameters = 0;    // of the model, encoder included
  double active = 0;        // of them, those that one token meets: topk of the experts
  double towers = 0;        // of its towers, beside `parameters`
  Bytes weights;            // as stored, with scales
  Bytes cache_per_token;    // of a sequence: what each token adds
  Bytes state;              // of a sequence, whatever its tokens
  Flops flops_per_token;    // of a decode step at context 1, look-ups not counted
  Flops flops_per_context;  // what each token of context adds to it
};

/// Counts over the graphs of both phases. An encoder has no cache; its arithmetic is that of one
/// token of a prefill.
Result<ModelSize> size_of(const Model& model);

/// Parameters of an encoder, from the graph that it would be; 0 if that cannot be written.
double encoder_parameters(const Model& encoder);

}  // namespace orrery::frontend
