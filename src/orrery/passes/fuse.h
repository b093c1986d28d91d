// fuse: which operators of a graph become one generated kernel.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "orrery/graph/graph.h"
#include "orrery/library/fused_call.h"

namespace orrery::passes {

// Operators fall into four classes: views move nothing; pointwise operators (copies, joins,
// rotations, look-ups and cache writes among them) and reductions along a row are generated;
// everything else is a kernel of a library, at which fusion ends. A group is grown along its
// values: an operator joins the group that makes one of its operands if
//   - both walk the same elements; or the group is pointwise and nobody else wants more of it than
//     the operator reads (logits of the last position only: the addition before is done for that
//     position alone);
//   - a reduction's rows are the group's;
//   - nothing outside of the group has used the group's values yet, since that could be what the
//     operator also waits for.
// These are TorchInductor's rules as far as decoders show them (torch/_inductor/scheduler.py,
// can_fuse_vertical; simd.py, can_fuse; pointwise values are inlined when they are lowered). It
// fuses no further: neighbours that share no element with each other stay two kernels.
//
//     h2 = h + out;  y = rms_norm(h2);  gu = linear(y);  h3 = h2 + down(...)
//     {h2, y} reads h, out, weight and writes h2, y; h3 is another group

/// Operators of one kernel, and the kernel as a call.
struct Group {
  std::vector<size_t> ops;  // in order; the kernel runs where the last one stands
  library::FusedCall call;
};

struct Grouping {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  std::vector<size_t> group;  // of each operator; kNone: a view or a library's kernel
  std::vector<Group> groups;
};

/// How far a compiler fuses.
struct FuseRules {
  bool into_products = false;  // also into the products and attentions before and after a group
};

/// Groups the operators of a graph without repeats.
Grouping fuse(const graph::Graph& graph, const graph::Sizes& sizes, const FuseRules& rules);

/// Is an operator a view, that moves nothing?
bool is_view(graph::OpKind kind);

}  // namespace orrery::passes
