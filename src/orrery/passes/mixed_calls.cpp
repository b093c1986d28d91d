// From operands to the sizes of calls.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/mixed_calls.h"

#include <array>
#include <string>
#include <vector>

namespace orrery::passes {

namespace {

using graph::OpKind;

/// The operands' sizes and types of one operator.
class Operands {
 public:
  Operands(const graph::Graph& graph, const graph::Sizes& sizes, const graph::Op& op)
      : graph_(graph), sizes_(sizes), op_(op) {}

  int64_t size(size_t input, size_t axis) const {
    return sizes_(graph_[op_.inputs[input]].type.shape[axis]);
  }

  DType dtype(size_t input) const { return graph_[op_.inputs[input]].type.dtype; }

  const graph::Op& op() const { return op_; }

 private:
  const graph::Graph& graph_;
  const graph::Sizes& sizes_;
  const graph::Op& op_;
};

library::Call recurrence(library::StateMix kind, const Operands& in, std::array<int64_t, 4> heads) {
  library::StateMixCall call;
  call.kind = kind;
  call.batch = in.size(0, 0);
  call.seq = in.size(0, 1);
  call.step = call.seq == 1;
  call.k_heads = heads[0];
  call.k_dim = heads[1];
  call.v_heads = heads[2];
  call.v_dim = heads[3];
  call.dtype = in.dtype(0);
  call.state = in.dtype(in.op().inputs.size() - 1);
  return call;
}

library::Call convolution(const Operands& in) {
  library::Conv1dCall call;
  call.batch = in.size(0, 0);
  call.seq = in.size(0, 1);
  call.step = call.seq == 1;
  call.channels = in.size(0, 2);
  call.taps = in.size(1, 1);
  call.dtype = in.dtype(0);
  return call;
}

library::Call index(const Operands& in) {
  library::IndexerCall call;
  call.batch = in.size(0, 0);
  call.seq_q = in.size(0, 1);
  call.heads = in.size(0, 2);
  call.head_dim = in.size(0, 3);
  call.seq_kv = in.size(1, 1);
  call.topk = in.op().attributes.size;
  return call;
}

library::Call latent_attention(const Operands& in, const Context& context) {
  if (in.op().inputs.size() > 2) {
    library::SparseAttentionCall call;
    call.batch = in.size(0, 0);
    call.heads = in.size(0, 1);
    call.seq_q = in.size(0, 2);
    call.head_dim = in.size(0, 3);
    call.head_dim_v = in.op().attributes.size;
    call.seq_kv = in.size(1, 1);
    call.topk = in.size(2, 2);
    call.dtype = in.dtype(0);
    call.kv_dtype = in.dtype(1);
    return call;
  }
  library::AttentionCall call;
  call.batch = in.size(0, 0);
  // The kernel knows no shared heads: those of one token are written as queries of the one key.
  const bool one_token = in.size(0, 2) == 1;
  call.heads = one_token ? 1 : in.size(0, 1);
  call.kv_heads = 1;
  call.seq_q = one_token ? in.size(0, 1) : in.size(0, 2);
  call.head_dim = in.size(0, 3);
  call.head_dim_v = in.op().attributes.size;
  call.seq_kv = in.size(1, 1);
  call.causal = in.op().attributes.causal && !one_token;
  call.dtype = in.dtype(0);
  call.values_in_keys = true;
  call.backend = "efficient";  // the framework's one kernel for heads this large
  const bool small = in.dtype(1) != call.dtype;
  const std::string backend = latent_backend(context.engine, small, context.architecture);
  if (!backend.empty()) {  // a kernel that knows shared heads
    call.backend = backend;
    call.heads = in.size(0, 1);
    call.seq_q = in.size(0, 2);
    call.causal = in.op().attributes.causal;
  }
  if (small) {
    call.kv_dtype = in.dtype(1);
  }
  return call;
}

}  // namespace

library::Call mixed_call(const graph::Graph& graph, const graph::Op& op, const Context& context) {
  const Operands in(graph, context.sizes, op);
  if (op.kind == OpKind::LatentAttention) {
    return latent_attention(in, context);
  }
  if (op.kind == OpKind::IndexKeys) {
    return index(in);
  }
  if (op.kind == OpKind::GatedDelta) {
    return recurrence(library::StateMix::GatedDelta,
                      in,
                      {in.size(0, 2), in.size(0, 3), in.size(2, 2), in.size(2, 3)});
  }
  if (op.kind == OpKind::Lightning) {
    return recurrence(library::StateMix::Lightning,
                      in,
                      {in.size(0, 2), in.size(0, 3), in.size(2, 2), in.size(2, 3)});
  }
  if (op.kind == OpKind::Mamba1) {
    return recurrence(library::StateMix::Mamba1, in, {1, in.size(2, 1), in.size(0, 2), 1});
  }
  if (op.kind == OpKind::Mamba2) {
    return recurrence(library::StateMix::Mamba2,
                      in,
                      {in.size(2, 2), in.size(2, 3), in.size(0, 2), in.size(0, 3)});
  }
  ORR_CHECK(op.kind == OpKind::CausalConv) << "not a mixing operator";
  return convolution(in);
}

}  // namespace orrery::passes
