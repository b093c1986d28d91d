// The table of kinds.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/cases.h"

namespace orrery::validate {

namespace {

/// Published layers of experts and exchanges among them.
std::vector<TableKind> published_expert_kinds() {
  return {
      {"public moe_ep_fused",
       {"gpu",
        "phase",
        "dtype",
        "tokens",
        "hidden",
        "inter",
        "experts",
        "topk",
        "tp",
        "ep",
        "distribution",
        "lib",
        "kernel"},
       expert_parallel_family,
       predict_expert_parallel_row},
      {"public moe",
       {"gpu",
        "dtype",
        "tokens",
        "hidden",
        "inter",
        "experts",
        "topk",
        "tp",
        "ep",
        "distribution",
        "lib",
        "kernel"},
       public_moe_family,
       predict_public_moe_row},
      {"public moe_a2a",
       {"gpu",
        "kind",
        "tokens",
        "hidden",
        "experts",
        "topk",
        "nodes",
        "dispatch_us",
        "combine_us",
        "lib"},
       exchange_family,
       predict_exchange_row,
       {{"dispatch_us", "predicted_dispatch_us", dispatch_family, predict_dispatch},
        {"combine_us", "predicted_combine_us", combine_family, predict_combine}}},
  };
}

/// Other published tables, by their columns of machine and source.
std::vector<TableKind> published_kinds() {
  return {
      {"public e2e",
       {"gpu", "phase", "model", "dtype", "batch", "tp", "seqlen_in", "lib"},
       public_model_family,
       predict_public_model_row},
      {"public collectives",
       {"gpu", "dtype", "ngpus", "bytes", "lib"},
       public_collective_family,
       predict_public_collective_row},
      {"public quantize",
       {"gpu", "kind", "dtype", "m", "k", "lib"},
       public_rows_family,
       predict_public_quantize_row},
      {"public rows",
       {"gpu", "dtype", "rows", "cols", "lib"},
       public_rows_family,
       predict_public_rows_row},
      {"public_attention",
       {"gpu",
        "lib",
        "dtype",
        "kv_dtype",
        "heads",
        "kv_heads",
        "head_dim",
        "seqlen_q",
        "seqlen_kv"},
       public_attention_family,
       predict_public_attention_row},
      {"public_mla",
       {"gpu", "lib", "dtype", "kv_dtype", "heads", "tp", "seqlen_q", "seqlen_kv", "causal"},
       public_attention_family,
       predict_public_mla_row},
      {"public grouped_gemm",
       {"gpu", "dtype", "groups", "m_per_group", "n", "k", "lib"},
       grouped_gemm_family,
       predict_public_grouped_gemm_row},
      {"public gemm",
       {"gpu", "dtype", "batch", "m", "n", "k", "lib", "lib_version", "kernel"},
       public_gemm_family,
       predict_public_gemm_row},
      {"linear_attention",
       {"lib", "kind", "phase", "batch", "seqlen", "k_heads", "k_dim", "v_heads", "v_dim"},
       linear_attention_family,
       predict_linear_attention_row},
  };
}

/// Whole models and their layers.
std::vector<TableKind> model_kinds() {
  return {
      {"models",
       {"model", "mode", "phase", "batch", "seq_q", "context"},
       model_family,
       predict_model_row,
       {},
       true},
      {"mixed",
       {"model", "layers", "chunk", "chunk_context", "decodes", "decode_context"},
       mixed_family,
       predict_mixed_row,
       {{"attention_us",
         "predicted_attention_us",
         mixed_attention_family,
         predict_mixed_attention}},
       true},
      {"tp_layers",
       {"model", "layers", "tp", "phase", "batch", "seq_q", "context"},
       tp_family,
       predict_tp_row,
       {{"latency_without_allreduce_us",
         "predicted_without_allreduce_us",
         tp_alone_family,
         predict_tp_alone}},
       true},
  };
}

/// Operators in measuring loops.
std::vector<TableKind> operator_kinds() {
  return {
      {"attention",
       {"backend", "dtype", "batch", "heads", "kv_heads", "seq_q", "seq_kv", "head_dim", "causal"},
       attention_family,
       predict_attention_row},
      {"triton_gemm",
       {"kind", "m", "n", "k", "bm", "bn", "bk", "stages", "warps", "group_m"},
       triton_gemm_family,
       predict_triton_gemm_row,
       {},
       false,
       triton_gemm_choice},
      {"counters",
       {"op", "kernel", "dram__bytes_read.sum", "lts__t_sectors_op_read.sum"},
       counters_family,
       predict_counters_row,
       {},
       false,
       nullptr,
       predict_counters},
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
      {"fused_rows",
       {"op", "dtype", "rows", "cols", "kernel", "grid", "block", "registers", "shared"},
       fused_family,
       predict_fused_row},
      {"membound", {"op", "dtype", "rows", "cols"}, rows_family, predict_rows_row},
  };
}

}  // namespace

std::span<const TableKind> table_kinds() {
  static const std::vector<TableKind> kKinds = [] {
    std::vector<TableKind> all = published_expert_kinds();
    for (const std::vector<TableKind>& more :
         {published_kinds(), model_kinds(), operator_kinds()}) {
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }();
  return kKinds;
}

}  // namespace orrery::validate
