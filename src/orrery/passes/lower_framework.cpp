// lower_framework: follows sizes and strides through the graph and writes down calls.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/lower_framework.h"

#include <string>
#include <utility>
#include <vector>

#include "orrery/passes/strides.h"
#include "orrery/plan/memory.h"

namespace orrery::passes {

namespace {

using graph::OpKind;
using graph::ValueId;

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const Context& context)
      : graph_(graph), context_(context), layout_(graph.values().size()) {}

  Result<plan::Plan> run() && {
    plan_.name = graph_.name();
    plan_.runtime = context_.runtime;
    plan_.memory = plan::memory_of(graph_, context_.sizes);
    for (size_t i = 0; i < layout_.size(); ++i) {
      layout_[i] = dense(context_.sizes(graph_.values()[i].type.shape));
    }
    for (const graph::Op& op : graph_.ops()) {
      ORR_TRY_VOID(lower(op));
    }
    return std::move(plan_);
  }

 private:
  const Strided& layout(ValueId value) const { return layout_[value.index()]; }

  Strided& result_layout(const graph::Op& op) { return layout_[op.result.index()]; }

  DType dtype(ValueId value) const { return graph_[value].type.dtype; }

  void add(const graph::Op& op, std::string_view suffix, library::Call call) {
    const graph::Value& value = graph_[op.result];
    plan::Step step;
    const std::string prefix = value.repeat.valid() ? graph_[value.repeat].name + "." : "";
    step.name = prefix + value.name + std::string(suffix);
    step.call = std::move(call);
    step.times = graph_.times(value);
    step.conditions.weights = plan::CacheState::Cold;
    step.conditions.activations = plan::CacheState::Warm;
    step.conditions.clock = context_.clock;
    step.conditions.graph = context_.runtime == plan::Runtime::Graph;
    step.conditions.follows_other = true;
    plan_.steps.push_back(std::move(step));
  }

  /// A kernel over the elements of `sizes`, the last axis as columns.
  static library::RowsCall rows(std::string_view kernel,
                                const Strided& over,
                                DType type,
                                bool strided) {
    library::RowsCall call;
    call.op = kernel;
    call.cols = over.sizes.empty() ? 1 : over.sizes.back();
    call.rows = over.elements() / call.cols;
    call.dtype = type;
    call.strided = strided;
    return call;
  }

  /// The operand as a dense value: a copy first, if it is not.
  Strided made_dense(const graph::Op& op, ValueId value) {
    const Strided& from = layout(value);
    Strided to = dense(from.sizes);
    if (!from.dense()) {
      add(op, ".copy", rows("copy", to, dtype(value), !copies_vectorized(from, to)));
    }
    return to;
  }

  Result<void> lower(const graph::Op& op) {
    switch (op.kind) {
      case OpKind::Linear:
        linear(op);
        return {};
      case OpKind::Matmul:
        matmul(op);
        return {};
      case OpKind::Attention:
        return attention(op);
      case OpKind::Embedding:
        add(op, "", rows("embedding", layout(op.result), dtype(op.result), false));
        return {};
      case OpKind::RmsNorm:
      case OpKind::LayerNorm:
      case OpKind::Softmax:
        add(op, "", rows(name(op.kind), made_dense(op, op.inputs[0]), dtype(op.result), false));
        return {};
      case OpKind::Rotary:
        return make_error(ErrorCode::Unsupported,
                          "[passes.lower_framework] {}: got rotary, need it decomposed first",
                          graph_[op.result].name);
      case OpKind::Add:
      case OpKind::Mul:
      case OpKind::Neg:
      case OpKind::Silu:
      case OpKind::Gelu:
        pointwise(op);
        return {};
      case OpKind::Copy:
      case OpKind::Cat:
        copy(op);
        return {};
      case OpKind::CacheWrite:
        cache_write(op);
        return {};
      case OpKind::Slice:
      case OpKind::Reshape:
      case OpKind::Permute:
        return view(op);
    }
    ORR_UNREACHABLE();
  }

  void linear(const graph::Op& op) {
    const Strided x = made_dense(op, op.inputs[0]);
    const Strided& weight = layout(op.inputs[1]);
    library::GemmCall call;
    call.k = weight.sizes[1];
    call.n = weight.sizes[0];
    call.m = x.elements() / call.k;
    call.input = dtype(op.inputs[0]);
    call.output = dtype(op.result);
    add(op, "", call);  // a bias is added by the product's epilogue
  }

  void matmul(const graph::Op& op) {
    const Strided& a = layout(op.inputs[0]);
    const size_t rank = a.sizes.size();
    library::GemmCall call;
    call.m = a.sizes[rank - 2];
    call.k = a.sizes[rank - 1];
    call.n = layout(op.result).sizes[rank - 1];
    call.batch = a.elements() / (call.m * call.k);
    call.input = dtype(op.inputs[0]);
    call.output = dtype(op.result);
    add(op, "", call);
  }

  Result<void> attention(const graph::Op& op) {
    const Strided& q = layout(op.inputs[0]);
    const Strided& k = layout(op.inputs[1]);
    if (op.attributes.window != 0) {
      return make_error(
          ErrorCode::Unsupported,
          "[passes.lower_framework] {}: got a sliding window of {} over {} keys, need "
          "a context that the window covers (windows arrive later)",
          graph_[op.result].name,
          op.attributes.window,
          k.sizes[2]);
    }
    library::AttentionCall call;
    call.batch = q.sizes[0];
    call.heads = q.sizes[1];
    call.kv_heads = k.sizes[1];
    call.seq_q = q.sizes[2];
    call.seq_kv = k.sizes[2];
    call.head_dim = q.sizes[3];
    call.causal = op.attributes.causal;
    call.dtype = dtype(op.result);
    add(op, "", call);
    // The library's result has the order of the queries (ATen, cuDNN attention:
    // alloc_with_matching_layout), so transposing back to tokens usually costs nothing.
    result_layout(op) = in_order_of(q);
    return {};
  }

  void pointwise(const graph::Op& op) {
    std::vector<Strided> operands;
    for (const ValueId input : op.inputs) {
      operands.push_back(layout(input));
    }
    const Pointwise kernel = pointwise_layout(operands);
    add(op, "", rows(name(op.kind), kernel.result, dtype(op.result), !kernel.vectorized));
    result_layout(op) = kernel.result;
  }

  /// Copies and joins write a dense result.
  void copy(const graph::Op& op) {
    const Strided& to = layout(op.result);
    bool strided = op.kind == OpKind::Cat && op.attributes.axis != 0;
    for (const ValueId input : op.inputs) {
      strided = strided || !layout(input).dense();
    }
    add(op, "", rows(name(op.kind), to, dtype(op.result), strided));
  }

  void cache_write(const graph::Op& op) {
    const Strided& cache = layout(op.inputs[0]);
    const Strided& entries = layout(op.inputs[1]);
    const auto axis = static_cast<size_t>(op.attributes.axis);
    const Strided place = sliced(cache, axis, entries.sizes[axis]);
    add(op, "", rows("copy", entries, dtype(op.result), !copies_vectorized(entries, place)));
    result_layout(op) = cache;
  }

  Result<void> view(const graph::Op& op) {
    const Strided& from = layout(op.inputs[0]);
    if (op.kind == OpKind::Permute) {
      result_layout(op) = permuted(from, op.attributes.order);
      return {};
    }
    if (op.kind == OpKind::Slice) {
      const auto axis = static_cast<size_t>(op.attributes.axis);
      const int64_t begin = op.attributes.begin;
      const int64_t start = begin < 0 ? from.sizes[axis] + begin : begin;
      if (start < 0 || start > from.sizes[axis] - op.attributes.size) {
        return make_error(ErrorCode::InvalidInput,
                          "[passes.lower_framework] {}: got {} entries, need {} from {}",
                          graph_[op.result].name,
                          from.sizes[axis],
                          op.attributes.size,
                          begin);
      }
      result_layout(op) = sliced(from, axis, op.attributes.size);
      return {};
    }
    const std::vector<int64_t> sizes = context_.sizes(graph_[op.result].type.shape);
    auto as_view = reshaped(from, sizes);
    if (as_view) {
      result_layout(op) = *std::move(as_view);
    } else {
      made_dense(op, op.inputs[0]);  // the result is dense already
    }
    return {};
  }

  const graph::Graph& graph_;
  const Context& context_;
  std::vector<Strided> layout_;  // by value
  plan::Plan plan_;
};

}  // namespace

Result<plan::Plan> lower_framework(const graph::Graph& graph, const Context& context) {
  return Lowering(graph, context).run();
}

}  // namespace orrery::passes
