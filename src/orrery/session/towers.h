// towers: what encoding images or sound adds to a step.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"
#include "orrery/passes/context.h"
#include "orrery/plan/plan.h"
#include "orrery/session/step.h"

namespace orrery::session {

/// Memory of the towers' weights, which an engine loads whether or not a prompt has images.
Bytes tower_weights(const frontend::Model& model);

/// Puts the kernels of the model's first tower before those of `plan`, for `images` images in each
/// of the step's sequences: every GPU of a group that shares the model encodes its part of them.
/// Errors (InvalidInput): a model without towers; a decode step; sequences shorter than the tokens
/// of their images.
Result<void> add_towers(const frontend::Model& model,
                        int64_t images,
                        const passes::Context& context,
                        Step& step,
                        plan::Plan& plan);

}  // namespace orrery::session
