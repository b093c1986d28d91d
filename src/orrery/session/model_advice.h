// Advice for models: changes of a request, each predicted, and the three that help most.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "orrery/base/result.h"
#include "orrery/report/prediction.h"
#include "orrery/session/session.h"

namespace orrery::session {

using Predict = std::function<Result<report::ModelPrediction>(const ModelRequest&)>;

/// Of other runtimes, larger batches, fp8 products and more GPUs those that save 2 % of the time of
/// a token or more, most first, at most three; of each kind the best. What does not fit into memory
/// or cannot be predicted is left out.
report::Advice model_advice(const ModelRequest& request,
                            const report::ModelPrediction& now,
                            const Predict& predict);

}  // namespace orrery::session
