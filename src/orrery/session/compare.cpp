// Compares a model's step on several machines.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/session/predictor.h"
#include "orrery/session/session.h"

namespace orrery::session {

Result<report::Comparison> Session::compare(const ModelRequest& request,
                                            const std::vector<std::string>& machines) const {
  Predictor predictor(catalog_);
  report::Comparison comparison;
  std::set<std::string> seen;
  for (const std::string& name : machines) {
    ORR_TRY(const machine::Machine machine, catalog_.machine(name));
    if (!seen.insert(machine.id).second) {
      return make_error(ErrorCode::InvalidInput,
                        "[session.compare] machines: got {} twice ('{}'), need each once",
                        machine.id,
                        join(machines, ","));
    }
    ModelRequest there = request;
    there.machine = name;
    comparison.machines.push_back({machine.id, predictor.predict(there)});
  }
  const auto predicted = [](const report::Compared& each) { return each.prediction.ok(); };
  if (std::none_of(comparison.machines.begin(), comparison.machines.end(), predicted)) {
    return comparison.machines.empty()
               ? make_error(ErrorCode::InvalidInput,
                            "[session.compare] machines: got none, need one or more")
               : comparison.machines.front().prediction.error();
  }
  return comparison;
}

}  // namespace orrery::session
