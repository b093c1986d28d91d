// The table of kinds.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/cases.h"

namespace orrery::validate {

std::span<const TableKind> table_kinds() {
  static const std::vector<TableKind> kinds = {
      {"models",
       {"model", "mode", "phase", "batch", "seq_q", "context"},
       model_family,
       predict_model_row},
      {"attention",
       {"backend", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal"},
       attention_family,
       predict_attention_row},
      {"gemm", {"dtype", "batch", "m", "n", "k", "family"}, gemm_family, predict_gemm_row},
      {"membound", {"op", "dtype", "rows", "cols"}, rows_family, predict_rows_row},
  };
  return kinds;
}

}  // namespace orrery::validate
