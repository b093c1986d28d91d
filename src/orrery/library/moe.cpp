// Layers of experts: their calls.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/moe.h"

#include <numeric>

namespace orrery::library {

std::vector<Call> moe_calls(const MoeCall& call) {
  const auto experts = static_cast<int64_t>(call.rows.size());
  const int64_t rows = std::accumulate(call.rows.begin(), call.rows.end(), int64_t{0});
  // What is multiplied in fewer bytes lies in bf16 between the products.
  const DType between = element_size(call.dtype) < Bytes(2.0) ? DType::BF16 : call.dtype;
  const auto over = [&](const char* op, int64_t count, int64_t cols, bool strided = false) {
    return Call(RowsCall{op, count, cols, between, strided});
  };
  std::vector<Call> calls;
  calls.push_back(over("softmax", call.tokens, experts));
  calls.push_back(over("topk8", call.tokens, experts));
  calls.push_back(over("gather_rows", rows, call.hidden));
  calls.emplace_back(
      GroupedGemmCall{call.rows, (call.gated ? 2 : 1) * call.inter, call.hidden, call.dtype});
  calls.push_back(over("silu", rows, call.inter, call.gated));  // of a half of each row
  if (call.gated) {
    calls.push_back(over("mul", rows, call.inter, true));
  }
  calls.emplace_back(GroupedGemmCall{call.rows, call.hidden, call.inter, call.dtype});
  calls.push_back(over("mul", rows, call.hidden, true));  // by a weight a row
  calls.push_back(over("index_add", rows, call.hidden));
  return calls;
}

}  // namespace orrery::library
