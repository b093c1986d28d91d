// The operators of the command line.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/operators.h"

#include <algorithm>

#include "orrery/base/text.h"
#include "orrery/session/argument_reader.h"

namespace orrery::session {

const std::vector<Operator>& operators() {
  static const std::vector<Operator> kAll = [] {
    std::vector<Operator> all;
    for (const auto family : {gemm_operators,
                              attention_operators,
                              moe_operators,
                              conv_operators,
                              mixer_operators,
                              rows_operators,
                              collective_operators}) {
      for (Operator& each : family()) {
        all.push_back(std::move(each));
      }
    }
    return all;
  }();
  return kAll;
}

const Operator* find_operator(std::string_view name) {
  const auto& all = operators();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const Operator& op) { return op.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<library::Call> parse_call(std::string_view name, std::span<const std::string> arguments) {
  const Operator* op = find_operator(name);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const Operator& each : operators()) {
      names.emplace_back(each.name);
    }
    return make_error(ErrorCode::NotFound,
                      "[session.operators] operator: got '{}', need one that `orrery ops` lists{}",
                      name,
                      did_you_mean(name, names));
  }
  ArgumentReader reader(*op, arguments);
  library::Call call = op->call(reader);
  ORR_TRY_VOID(reader.finish());
  return call;
}

}  // namespace orrery::session
