// The list of passes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/pipeline.h"

#include <array>

#include "orrery/passes/decompose.h"
#include "orrery/passes/full_window.h"
#include "orrery/passes/lower_framework.h"
#include "orrery/passes/lower_fused.h"
#include "orrery/passes/mixed_step.h"

namespace orrery::passes {

namespace {

constexpr std::array kPasses = {
    Pass{"mixed_step", mixed_step, mixed_step_reads, "packed sequences read their own caches"},
    Pass{"full_window",
         full_window,
         full_window_reads,
         "attention kernels without windows serve short contexts"},
    Pass{"decompose",
         decompose,
         decompose_reads,
         "the framework runs a rotary embedding as five kernels"},
};

Result<plan::Plan> lower_unfused(const graph::Graph& graph,
                                 const Context& context,
                                 Rewrites& /*known*/) {
  return lower_framework(graph, context);
}

constexpr Lowering kFramework{"lower_framework",
                              lower_unfused,
                              "eager and CUDA-graph programs run the framework's own kernels"};

constexpr Lowering kInductor{"lower_inductor",
                             lower_inductor,
                             "TorchInductor makes chains of pointwise operators one kernel"};

constexpr Lowering kFullyFused{"lower_fully_fused",
                               lower_fully_fused,
                               "what is left when nothing but products and attention is launched"};

}  // namespace

std::span<const Pass> all_passes() {
  return kPasses;
}

const Lowering& lowering_for(plan::Runtime runtime) {
  switch (runtime) {
    case plan::Runtime::Graph:
    case plan::Runtime::Eager:
      return kFramework;
    case plan::Runtime::Inductor:
      return kInductor;
    case plan::Runtime::Fused:
      return kFullyFused;
  }
  ORR_UNREACHABLE();
}

}  // namespace orrery::passes
