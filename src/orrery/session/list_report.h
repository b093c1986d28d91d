// Reports of what is known: `orrery models` and `orrery ops`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "orrery/base/result.h"
#include "orrery/session/catalog.h"

namespace orrery::session {

/// Name, layers, sizes and parameters of every model. Errors: a model file that cannot be read.
Result<std::string> models_report(const Catalog& catalog, bool json);

/// One model: parameters, bytes of its cache, arithmetic of a token, its layers. `query` as of
/// Catalog::model.
Result<std::string> model_report(const Catalog& catalog, std::string_view query, bool json);

/// Every operator with its arguments.
std::string operators_report(bool json);

}  // namespace orrery::session
