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
      {"grouped_gemm",
       {"dtype", "experts", "n", "k", "rows_per_expert"},
       grouped_gemm_family,
       predict_grouped_gemm_row},
      {"gemm", {"dtype", "batch", "m", "n", "k", "family"}, gemm_family, predict_gemm_row},
      {"gemm2", {"dtype", "m", "n", "k", "layout"}, gemm_family, predict_gemm_layout_row},
      {"gemm_power",
       {"dtype", "m", "n", "k", "data", "us_5_20ms", "us_last_300ms"},
       gemm_steady_family,
       predict_gemm_steady,
       {{"us_5_20ms", "burst_us", gemm_burst_family, predict_gemm_burst},
        {"us_last_300ms", "steady_us", gemm_steady_family, predict_gemm_steady}}},
      {"conv",
       {"dtype", "batch", "c", "h", "w", "k", "r", "s", "stride", "pad", "groups", "layout"},
       conv_family,
       predict_conv_row},
      {"collectives", {"op", "world", "bytes", "mode"}, collective_family, predict_collective_row},
      {"membound", {"op", "dtype", "rows", "cols"}, rows_family, predict_rows_row},
  };
  return kinds;
}

}  // namespace orrery::validate
