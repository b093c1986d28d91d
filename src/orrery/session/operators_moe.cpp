// Grouped products and layers of experts on the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "orrery/library/moe_types.h"
#include "orrery/passes/expert_rows.h"
#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

constexpr int64_t kMostExperts = 65536;
constexpr int64_t kMostRows = int64_t{1} << 32;

std::vector<int64_t> rows_of(ArgumentReader& reader, int64_t experts, bool given_allowed) {
  if (given_allowed && reader.text("rows_per_expert") != "none") {
    reader.excludes("rows_per_expert", {"tokens", "topk", "zipf"});
    std::vector<int64_t> rows = reader.integers("rows_per_expert", 0, kMostRows);
    if (rows.size() == 1) {
      rows.assign(static_cast<size_t>(experts), rows.front());
    }
    reader.require(
        static_cast<int64_t>(rows.size()) == experts,
        fmt::format("rows_per_expert: got {} numbers, need one or {}", rows.size(), experts));
    return rows;
  }
  const int64_t tokens = reader.integer("tokens", 1, kMostRows);
  const int64_t topk = reader.integer("topk", 1, experts);
  const double zipf = reader.number("zipf", 0, 10);
  return passes::zipf_rows({tokens, experts, topk}, zipf);
}

library::Call grouped_call(ArgumentReader& reader) {
  library::GroupedGemmCall call;
  const int64_t experts = reader.integer("experts", 1, kMostExperts);
  call.rows = rows_of(reader, experts, true);
  call.n = reader.size("n");
  call.k = reader.size("k");
  call.dtype = reader.dtype();
  reader.require(std::any_of(call.rows.begin(), call.rows.end(), [](int64_t r) { return r > 0; }),
                 "rows_per_expert: got 0 rows in all, need at least 1");
  reader.elements("B", {experts, call.n, call.k});
  return call;
}

library::Call moe_call(ArgumentReader& reader) {
  library::MoeCall call;
  const int64_t experts = reader.integer("experts", 1, kMostExperts);
  call.rows = rows_of(reader, experts, false);
  call.tokens = reader.integer("tokens", 1, kMostRows);
  call.topk = reader.integer("topk", 1, experts);
  call.hidden = reader.size("hidden");
  call.inter = reader.size("inter");
  call.gated = reader.flag("gated");
  call.backend = reader.text("backend") == "none" ? "" : reader.text("backend");
  const std::string types = reader.text("dtype");
  Result<library::MoeCall> typed = library::with_types(call, types);
  reader.require(typed.ok(), typed.ok() ? "" : fmt::format("dtype: {}", typed.error().message));
  call = typed.ok() ? *std::move(typed) : std::move(call);
  reader.elements("weights", {experts, call.hidden, call.inter});
  return call;
}

}  // namespace

std::vector<Operator> moe_operators() {
  return {
      {"grouped_gemm",
       "one product per expert, C_e[rows_e, n] = A_e[rows_e, k] B_e[n, k]^T",
       {{"experts", "", "groups"},
        {"rows_per_expert",
         "none",
         "one number, or a list: 12,0,7; none: by tokens, topk, zipf",
         true},
        {"tokens", "1", "tokens that are routed"},
        {"topk", "1", "experts of a token"},
        {"zipf", "0", "0: all experts alike; else rank r is chosen with 1 / r^zipf"},
        {"n", "", "output features"},
        {"k", "", "input features"},
        kDtypeKey},
       grouped_call},
      {"moe",
       "a layer of experts: routing, gather, gate and up, activation, down, scatter",
       {{"tokens", "", "tokens"},
        {"hidden", "", "features of a token"},
        {"inter", "", "features inside an expert"},
        {"experts", "", "experts of this GPU"},
        {"topk", "", "experts of a token"},
        {"zipf", "0", "0: all experts alike; else rank r is chosen with 1 / r^zipf"},
        {"gated", "1", "1: gate and up projection, 0: up alone"},
        {"backend",
         "none",
         "fused kernels: triton, triton-64, cutlass, flashinfer-cutlass, trtllm-gen, deepgemm, "
         "marlin, triton-mxfp4; none: PyTorch's operators"},
        {"dtype", "bf16", "bf16, fp8, fp8_block, nvfp4, w4a16, w4a16_mxfp4, w4a8_mxfp4_mxfp8 ..."}},
       moe_call}};
}

}  // namespace orrery::session
