// Rows of attention.csv: attention in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

std::string attention_family(const Fields& row) {
  const bool decode = row.text("seq_q") == "1";
  return std::string(row.text("backend")) + (decode ? " decode" : " prefill");
}

Result<plan::Estimate> predict_attention_row(const Fields& row, const Setup& setup) {
  library::AttentionCall call;
  call.backend = row.text("backend");
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.heads, row.size("heads"));
  ORR_TRY(call.kv_heads, row.size("kv_heads"));
  ORR_TRY(call.seq_q, row.size("seq_q"));
  ORR_TRY(call.seq_kv, row.size("seq_kv"));
  ORR_TRY(call.head_dim, row.size("head_dim"));
  ORR_TRY(const int64_t causal, row.integer("causal", 0, 1));
  call.causal = causal == 1;
  const double rows =
      number(call.heads) * number(call.seq_q) + number(call.kv_heads) * number(call.seq_kv);
  const Bytes operands =
      2 * number(call.batch) * number(call.head_dim) * rows * element_size(call.dtype);
  return predict(call, setup, {input_sets(operands, 24), true});
}

}  // namespace orrery::validate
