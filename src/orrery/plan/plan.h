// Plans: HOW a graph runs, as the ordered calls that its runtime makes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/library/library.h"
#include "orrery/plan/estimate.h"
#include "orrery/plan/memory.h"

namespace orrery::plan {

// A plan of one decode step, shortened (print_plan in report/ writes it):
//
//     step                   call                                    times
//     x                      embedding rows=32 cols=4096                 1
//     layer.attention_norm   rms_norm rows=32 cols=4096                 32
//     layer.qkv              gemm m=32 n=6144 k=4096 bf16               32
//     ...
//     logits                 gemm m=32 n=128256 k=4096 bf16              1
//
// A step is one call into a library and how often it runs. The steps of a repeated layer stand once
// with the layer's count, so a plan of 80 layers is as small as one of 1.

/// Which kernels run and who launches them: `graph` replays a CUDA graph of the framework's own
/// kernels, `eager` launches each from the host, `inductor` replays what TorchInductor generates,
/// `fused` what fusion without limits would leave.
enum class Runtime { Graph, Eager, Inductor, Fused };
std::string_view name(Runtime runtime);
/// Errors: the runtime of the future (orrery) says that it arrives later.
Result<Runtime> parse_runtime(std::string_view text);

struct Step {
  std::string name;  // of the graph's value: "layer.qkv"
  library::Call call;
  Conditions conditions;
  int64_t times = 1;
  bool operator==(const Step&) const = default;
};

struct Plan {
  std::string name;
  Runtime runtime = Runtime::Graph;
  std::vector<Step> steps;
  Memory memory;
  std::vector<std::string> notes;  // what the calls leave out of the graph
  Duration host_launch;            // host time of an eager operator; zero: the machine's
  bool operator==(const Plan&) const = default;
};

/// Kinds of operators for tables: gemm, attention, conv, norm, pointwise, copy, embedding,
/// other.
std::string_view kind_of(const library::Call& call);

}  // namespace orrery::plan
