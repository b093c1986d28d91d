// From operands to the sizes of calls.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/mixed_calls.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/passes/expert_rows.h"

namespace orrery::passes {

namespace {

using graph::OpKind;
using graph::Scheme;

/// The operands' sizes and types of one operator.
class Operands {
 public:
  Operands(const graph::Graph& graph,
           const graph::Sizes& sizes,
           const graph::Op& op,
           std::string_view architecture)
      : graph_(graph), sizes_(sizes), op_(op), architecture_(architecture) {}

  int64_t size(size_t input, size_t axis) const {
    return sizes_(graph_[op_.inputs[input]].type.shape[axis]);
  }

  int64_t rank(size_t input) const {
    return static_cast<int64_t>(graph_[op_.inputs[input]].type.shape.size());
  }

  int64_t elements(size_t input) const {
    return sizes_.elements(graph_[op_.inputs[input]].type.shape);
  }

  DType dtype(size_t input) const { return graph_[op_.inputs[input]].type.dtype; }

  const graph::Op& op() const { return op_; }

  /// Of the chip, without the suffix of its features.
  bool runs_on(std::string_view architecture) const {
    return architecture_.starts_with(architecture);
  }

  const std::string& name() const { return graph_[op_.result].name; }

 private:
  const graph::Graph& graph_;
  const graph::Sizes& sizes_;
  const graph::Op& op_;
  std::string_view architecture_;
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

library::Call latent_attention(const Operands& in) {
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
  call.backend = "efficient";  // the framework's one kernel for heads this large
  return call;
}

/// Whose kernels serving engines run for experts of such weights: what vLLM and SGLang choose by
/// themselves, as far as the libraries know it.
std::string_view backend_of(Scheme scheme, const Operands& in) {
  switch (scheme) {
    case Scheme::None:
      return "triton";
    case Scheme::Tensor:
    case Scheme::Channel:
      return in.runs_on("sm_100") ? "trtllm-gen" : "cutlass";
    case Scheme::Block:
      return in.runs_on("sm_100") ? "trtllm-gen" : in.runs_on("sm_120") ? "triton-64" : "triton";
    case Scheme::Group:
      return "marlin";
    case Scheme::Mx:
      return in.runs_on("sm_90") ? "triton-mxfp4" : "marlin";
    case Scheme::Nv:
      return "flashinfer-cutlass";
  }
  ORR_UNREACHABLE();
}

/// Sets the types of a layer of quantised experts.
void quantise(library::MoeCall& call, const Operands& in, DType weight) {
  const graph::Attributes& attributes = in.op().attributes;
  call.dtype = product_type(attributes, weight);
  if (attributes.scheme == Scheme::Mx) {
    call.dtype = attributes.activations;
  }
  call.quantisation = quantisation_of(attributes.scheme, weight);
  call.backend = backend_of(attributes.scheme, in);
}

Result<library::Call> experts(const Operands& in) {
  const graph::Attributes& attributes = in.op().attributes;
  library::MoeCall call;
  call.hidden = in.size(2, 2);
  call.tokens = in.elements(0) / call.hidden;
  call.inter = in.size(3, 2);
  call.topk = attributes.size;
  call.gated = in.size(2, 1) == 2 * call.inter;
  call.rows = expert_rows(call.tokens, in.size(2, 0), attributes.size);
  call.dtype = in.dtype(0);
  if (attributes.scheme != Scheme::None) {
    quantise(call, in, in.dtype(2));
  }
  return library::Call(std::move(call));
}

}  // namespace

library::Quantisation quantisation_of(Scheme scheme, DType weight) {
  switch (scheme) {
    case Scheme::None:
    case Scheme::Tensor:
    case Scheme::Channel:
      return library::Quantisation::None;
    case Scheme::Block:
      return library::Quantisation::Block128;
    case Scheme::Group:
      return weight == DType::I4 ? library::Quantisation::Int4Weights : library::Quantisation::None;
    case Scheme::Mx:
      return library::Quantisation::Mx;
    case Scheme::Nv:
      return library::Quantisation::Nv;
  }
  ORR_UNREACHABLE();
}

DType product_type(const graph::Attributes& attributes, DType weight) {
  const bool four_bits = attributes.scheme == Scheme::Mx || attributes.scheme == Scheme::Nv;
  return four_bits ? weight : attributes.activations;
}

Result<library::Call> mixed_call(const graph::Graph& graph,
                                 const graph::Sizes& sizes,
                                 const graph::Op& op,
                                 std::string_view architecture) {
  const Operands in(graph, sizes, op, architecture);
  if (op.kind == OpKind::LatentAttention) {
    return latent_attention(in);
  }
  if (op.kind == OpKind::IndexKeys) {
    return index(in);
  }
  if (op.kind == OpKind::Moe) {
    return experts(in);
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
