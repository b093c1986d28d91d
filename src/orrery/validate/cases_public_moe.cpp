// Rows of public moe.csv: one GPU's share of a layer of experts, as a serving engine runs it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>

#include "orrery/library/moe_types.h"
#include "orrery/plan/timing.h"
#include "orrery/validate/expert_routing.h"
#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

struct KernelName {
  std::string_view part;  // of the table's `kernel` column
  std::string_view backend;
};

// Which kernels an engine took; the first part that the name contains counts.
constexpr std::array kBackends = {
    KernelName{"marlin", "marlin"},
    KernelName{"oaitriton", "triton-mxfp4"},
    KernelName{"flashinfer_trtllm", "trtllm-gen"},
    KernelName{"flashinfer_cutlass", "flashinfer-cutlass"},
    KernelName{"deepgemm", "deepgemm"},
    KernelName{"tritonexperts", "triton"},
    KernelName{"fused_moe", "triton-64"},
    KernelName{"triton_fp8_block", "triton-64"},
    KernelName{"moe_torch_flow", "cutlass"},
};

std::string_view backend_of(const Fields& row, const library::MoeCall& call) {
  const std::string_view kernel = row.text("kernel");
  const bool float_weights = call.quantisation == library::Quantisation::Mx;
  for (const KernelName& each : kBackends) {
    if (kernel.find(each.part) == std::string_view::npos) {
      continue;
    }
    // TensorRT-LLM's module for float weights: its generated kernels or, before Blackwell, Triton's
    if (float_weights && kernel == "moe_torch_flow") {
      return row.text("gpu").find("b200") != std::string_view::npos ? "trtllm-gen" : "triton-mxfp4";
    }
    return each.backend;
  }
  return kernel;
}

// SGLang's collector before 0.5.14 gives a GPU only the tokens that reach it, and counts what they
// want of other GPUs' experts as rows of its first (collector/sglang/collect_moe.py: ids are
// clamped to 0).
void clamp_others(const Routed& routed, library::MoeCall& call) {
  call.tokens = std::max<int64_t>(1, routed.tokens);
  const int64_t local = std::accumulate(call.rows.begin(), call.rows.end(), int64_t{0});
  call.rows.front() += std::max<int64_t>(0, call.tokens * call.topk - local);
}

Result<library::MoeCall> call_of(const Fields& row) {
  library::MoeCall call;
  ORR_TRY(call, library::with_types(call, row.text("dtype")));
  ORR_TRY(call.tokens, row.size("tokens"));
  ORR_TRY(call.hidden, row.size("hidden"));
  ORR_TRY(call.inter, row.size("inter"));
  ORR_TRY(call.topk, row.size("topk"));
  ORR_TRY(const int64_t experts, row.integer("experts", 1, 1 << 16));
  ORR_TRY(const int64_t tp, row.integer("tp", 1, 1 << 16));
  ORR_TRY(const int64_t ep, row.integer("ep", 1, 1 << 16));
  ORR_TRY(const int64_t gated, row.integer("gated", 0, 1));
  call.gated = gated == 1;
  call.inter = std::max<int64_t>(1, call.inter / tp);
  call.backend = backend_of(row, call);
  if (call.backend == "triton-64" && call.quantisation == library::Quantisation::Mx) {
    call.dtype =
        DType::BF16;  // SGLang's Mxfp4MoEMethod widens weights that its kernels do not know
    call.quantisation = library::Quantisation::None;
  }
  const std::string_view lib = row.text("lib");
  const std::string_view version = row.text("lib_version");
  ORR_TRY(Routed routed,
          route({.tokens = call.tokens,
                 .experts = experts,
                 .topk = call.topk,
                 .gpus = ep,
                 .distribution = row.text("distribution"),
                 .fill_first = lib == "vllm" && version == "0.14.0"}));
  call.rows = std::move(routed.rows);
  if (lib == "sglang" && version == "0.5.10" && ep > 1) {
    clamp_others(routed, call);
  }
  return call;
}

}  // namespace

std::string public_moe_family(const Fields& row) {
  return std::string(row.text("lib")) + " " + std::string(row.text("dtype"));
}

// One copy of the weights, so both products' together may stay in L2; a few replays of a CUDA graph
// after a few to warm up, which end before the clock drops.
Result<plan::Estimate> predict_public_moe_row(const Fields& row, const Setup& setup) {
  ORR_TRY(const library::MoeCall call, call_of(row));
  plan::Conditions conditions = conditions_of(setup, {.sets = 2, .fresh = true});
  conditions.clock = setup.clock.value_or(plan::ClockState::Burst);
  conditions.follows_other = true;
  ORR_TRY(plan::StepTime time, plan::time_call(call, conditions, setup.library, setup.estimator));
  return std::move(time.once);
}

}  // namespace orrery::validate
