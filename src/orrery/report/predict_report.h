// Reports of predictions: what `orrery predict` and `orrery explain` print.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "orrery/report/prediction.h"

namespace orrery::report {

/// Explained: every step with its kernels, terms, and why these kernels.
enum class Detail { Summary, Explained };

std::string to_text(const ModelPrediction& prediction, Detail detail);
std::string to_text(const CallPrediction& prediction, Detail detail);

/// Schema: docs/reference/json.md.
std::string to_json(const ModelPrediction& prediction, Detail detail);
std::string to_json(const CallPrediction& prediction, Detail detail);

/// The same object as a part of another document.
class JsonWriter;
void write(JsonWriter& json, const ModelPrediction& prediction, Detail detail);

}  // namespace orrery::report
