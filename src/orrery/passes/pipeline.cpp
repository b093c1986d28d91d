// The list of passes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/pipeline.h"

#include <array>

#include "orrery/passes/decompose.h"
#include "orrery/passes/full_window.h"
#include "orrery/passes/lower_framework.h"

namespace orrery::passes {

namespace {

constexpr std::array kPasses = {
    Pass{"full_window", full_window, "attention kernels without windows serve short contexts"},
    Pass{"decompose", decompose, "the framework runs a rotary embedding as five kernels"},
};

constexpr Lowering kFramework{"lower_framework",
                              lower_framework,
                              "eager and CUDA-graph programs run the framework's own kernels"};

}  // namespace

std::span<const Pass> all_passes() {
  return kPasses;
}

const Lowering& lowering_for(plan::Runtime runtime) {
  switch (runtime) {
    case plan::Runtime::Graph:
    case plan::Runtime::Eager:
      return kFramework;
  }
  ORR_UNREACHABLE();
}

}  // namespace orrery::passes
