// Rows of attention.csv and attention2.csv: attention, forward and backward, in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

constexpr std::string_view kBackward = "_backward";

bool backward(std::string_view backend) {
  return backend.size() > kBackward.size() && backend.ends_with(kBackward);
}

/// Queries, keys and values, twice for what the loop counts of each; of a backward pass also the
/// output and its gradient.
Bytes operands_of(const library::AttentionCall& call) {
  const double dims =
      number(call.head_dim) + number(call.head_dim_v > 0 ? call.head_dim_v : call.head_dim);
  double queries = number(call.batch) * number(call.seq_q);
  double keys = number(call.batch) * number(call.seq_kv);
  if (!call.lengths.empty()) {
    queries = 0;
    for (const int64_t length : call.lengths) {
      queries += number(length);
    }
    keys = queries;
  }
  const double rows = number(call.heads) * queries + number(call.kv_heads) * keys;
  return rows * dims * element_size(call.dtype) * (call.backward ? 1.5 : 1.0);
}

}  // namespace

std::string attention_family(const Fields& row) {
  const bool decode = row.text("seq_q") == "1";
  const std::string_view backend = row.text("backend");
  if (backward(backend)) {
    return "flash backward";
  }
  if (!row.text("window").empty() && row.text("window") != "0") {
    return std::string(backend) + " window";
  }
  const std::string_view values = row.text("head_dim_v");
  if (row.text("head_dim") == "192" || (!values.empty() && values != row.text("head_dim"))) {
    return std::string(backend) + " mla";
  }
  return std::string(backend) + (decode ? " decode" : " prefill");
}

Result<plan::Estimate> predict_attention_row(const Fields& row, const Setup& setup) {
  library::AttentionCall call;
  std::string_view backend = row.text("backend");
  call.backward = backward(backend);
  if (call.backward) {
    backend.remove_suffix(kBackward.size());
  }
  call.backend = backend == "flash_varlen" ? "flash" : backend;
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.heads, row.size("heads"));
  ORR_TRY(call.kv_heads, row.size("kv_heads"));
  ORR_TRY(call.seq_q, row.size("seq_q"));
  ORR_TRY(call.seq_kv, row.size("seq_kv"));
  ORR_TRY(call.head_dim, row.size("head_dim"));
  ORR_TRY(call.head_dim_v, row.integer_or("head_dim_v", 0, 1024));
  ORR_TRY(call.window, row.integer_or("window", 0, int64_t{1} << 32));
  ORR_TRY(call.lengths, row.integers("lengths", 1, int64_t{1} << 32));
  ORR_TRY(const int64_t causal, row.integer("causal", 0, 1));
  call.causal = causal == 1;
  const int64_t sets = input_sets(operands_of(call), call.backward ? 8 : 24);
  return predict(call, setup, {sets, true, call.backward ? 25.0 : 40.0});
}

}  // namespace orrery::validate
