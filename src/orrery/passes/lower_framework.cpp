// lower_framework: follows sizes and strides through the graph and writes down calls.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/lower_framework.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "orrery/passes/attention_calls.h"
#include "orrery/passes/expert_calls.h"
#include "orrery/passes/mixed_calls.h"
#include "orrery/passes/mixed_step.h"
#include "orrery/passes/packed_calls.h"
#include "orrery/passes/product_types.h"
#include "orrery/passes/strides.h"
#include "orrery/plan/memory.h"

namespace orrery::passes {

namespace {

using graph::OpKind;
using graph::ValueId;

/// What becomes of an operator.
enum class Rule {
  Linear,
  Matmul,
  HeadLinear,
  Attention,
  Mixed,    // mixed_calls.h
  Experts,  // expert_calls.h
  Look,
  Rows,
  Decomposed,  // by a pass before
  Pointwise,
  Copy,
  CacheWrite,
  AllReduce,
  View
};

Rule rule_of(OpKind kind) {
  switch (kind) {
    case OpKind::Linear:
      return Rule::Linear;
    case OpKind::Matmul:
      return Rule::Matmul;
    case OpKind::HeadLinear:
      return Rule::HeadLinear;
    case OpKind::Attention:
      return Rule::Attention;
    case OpKind::AllReduce:
      return Rule::AllReduce;
    case OpKind::LatentAttention:
    case OpKind::IndexKeys:
    case OpKind::GatedDelta:
    case OpKind::Lightning:
    case OpKind::Mamba1:
    case OpKind::Mamba2:
    case OpKind::CausalConv:
      return Rule::Mixed;
    case OpKind::Moe:
      return Rule::Experts;
    case OpKind::Embedding:
      return Rule::Look;
    case OpKind::RmsNorm:
    case OpKind::LayerNorm:
    case OpKind::Softmax:
      return Rule::Rows;
    case OpKind::Rotary:
    case OpKind::Relu2:
    case OpKind::QuickGelu:
      return Rule::Decomposed;
    case OpKind::Add:
    case OpKind::Mul:
    case OpKind::Neg:
    case OpKind::Scale:
    case OpKind::Clamp:
    case OpKind::Silu:
    case OpKind::Gelu:
    case OpKind::GeluTanh:
    case OpKind::Relu:
    case OpKind::Sigmoid:
    case OpKind::Softplus:
    case OpKind::Tanh:
      return Rule::Pointwise;
    case OpKind::Copy:
    case OpKind::Cat:
      return Rule::Copy;
    case OpKind::CacheWrite:
      return Rule::CacheWrite;
    case OpKind::Slice:
    case OpKind::Reshape:
    case OpKind::Permute:
    case OpKind::Expand:
      return Rule::View;
  }
  ORR_UNREACHABLE();
}

class Lowering {
 public:
  Lowering(const graph::Graph& graph, const Context& context)
      : graph_(graph), context_(context), layout_(graph.values().size()) {}

  Lowering(const Expanded& expanded, const Grouping& grouping, const Context& context)
      : Lowering(expanded.graph, context) {
    times_ = &expanded.times;
    grouping_ = &grouping;
  }

  Result<plan::Plan> run() && {
    plan_.name = graph_.name();
    plan_.runtime = context_.runtime;
    plan_.memory = plan::memory_of(graph_, context_.sizes);
    plan_.memory.cache += other_states();
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      at_ = i;
      const graph::Op& op = graph_.ops()[i];
      const size_t group = grouping_ == nullptr ? Grouping::kNone : grouping_->group[i];
      if (group == Grouping::kNone) {
        ORR_TRY_VOID(lower(op));
        continue;
      }
      grouped(op);
      if (grouping_->groups[group].ops.back() == i) {
        add(op, "", grouping_->groups[group].call);
      }
    }
    return std::move(plan_);
  }

 private:
  /// States of recurrences in a mixed step, but the first sequence's: one each, where keys are
  /// packed.
  Bytes other_states() const {
    Bytes sum{0.0};
    for (const graph::Value& value : graph_.values()) {
      const bool one_each = value.kind == graph::ValueKind::Cache && !value.type.shape.empty() &&
                            value.type.shape[0].named();
      if (one_each && !value.name.ends_with(kPackedCache)) {
        sum += static_cast<double>(graph_.times(value)) * context_.sizes.bytes(value.type);
      }
    }
    return static_cast<double>(std::max<size_t>(1, context_.requests.size()) - 1) * sum;
  }

  /// Dense, unless an operator has made it otherwise.
  const Strided& layout(ValueId value) {
    std::optional<Strided>& known = layout_[value.index()];
    if (!known) {
      known = dense(context_.sizes(graph_[value].type.shape));
    }
    return *known;
  }

  std::optional<Strided>& result_layout(const graph::Op& op) { return layout_[op.result.index()]; }

  DType dtype(ValueId value) const { return graph_[value].type.dtype; }

  std::string step_name(const graph::Value& value, std::string_view suffix) const {
    const std::string_view whole = value.name;
    const std::string_view name = whole.substr(0, whole.find(kPassSuffix));
    const std::string_view repeat =
        value.repeat.valid() ? std::string_view(graph_[value.repeat].name) : std::string_view();
    std::string text;
    text.reserve(repeat.size() + 1 + name.size() + suffix.size());
    if (value.repeat.valid()) {
      text.append(repeat).append(1, '.');
    }
    return text.append(name).append(suffix);
  }

  void add(const graph::Op& op, std::string_view suffix, library::Call call) {
    const graph::Value& value = graph_[op.result];
    plan::Step step;
    step.name = step_name(value, suffix);
    step.call = std::move(call);
    step.times = times_ == nullptr ? graph_.times(value) : (*times_)[at_];
    step.conditions.weights = plan::CacheState::Cold;
    step.conditions.activations = plan::CacheState::Warm;
    step.conditions.clock = context_.clock;
    step.conditions.graph = context_.runtime != plan::Runtime::Eager;
    step.conditions.follows_other = true;
    if (times_ != nullptr) {  // the passes of a repeat stand once
      const auto before =
          std::find_if(plan_.steps.begin(), plan_.steps.end(), [&step](const plan::Step& each) {
            return each.name == step.name && each.call == step.call;
          });
      if (before != plan_.steps.end()) {
        before->times += step.times;
        return;
      }
    }
    plan_.steps.push_back(std::move(step));
  }

  /// Values inside of generated kernels lie as the framework would lay them out.
  void grouped(const graph::Op& op) {
    if (op.kind == OpKind::Rotary) {
      result_layout(op) = in_order_of(layout(op.inputs[0]));
    } else if (op.kind == OpKind::CacheWrite) {
      result_layout(op) = layout(op.inputs[0]);
    } else if (op.kind != OpKind::Cat && op.kind != OpKind::Embedding) {
      std::vector<Strided> operands;
      for (const ValueId input : op.inputs) {
        operands.push_back(layout(input));
      }
      result_layout(op) = pointwise_layout(operands).result;
    }
  }

  /// A copy as the compiler makes one.
  static library::FusedCall generated_copy(const Strided& to, DType type) {
    const int64_t cols = to.sizes.empty() ? 1 : to.sizes.back();
    const library::FusedOperand all{.elements = to.elements(), .dtype = type};
    return {.ops = {"copy"},
            .rows = all.elements / cols,
            .cols = cols,
            .reads = {all},
            .writes = {all}};
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

  /// The operand of a kernel that reads dense values, of which sizes are all that it asks: a copy
  /// first, if it is not dense.
  const Strided& made_dense(const graph::Op& op, ValueId value) {
    const Strided& from = layout(value);
    if (from.dense()) {
      return from;
    }
    const Strided to = dense(from.sizes);
    if (grouping_ != nullptr) {
      add(op, ".copy", generated_copy(to, dtype(value)));
    } else {
      add(op, ".copy", rows("copy", to, dtype(value), !copies_vectorized(from, to)));
    }
    return from;
  }

  Result<void> lower(const graph::Op& op) {
    switch (rule_of(op.kind)) {
      case Rule::Linear:
        linear(op);
        return {};
      case Rule::Matmul:
        matmul(op);
        return {};
      case Rule::HeadLinear:
        head_linear(op);
        return {};
      case Rule::Attention:
        attention(op);
        return {};
      case Rule::AllReduce:
        all_reduce(op);
        return {};
      case Rule::Mixed:
        return mixed(op);
      case Rule::Experts:
        return experts(op);
      case Rule::Look:
        add(op, "", rows("embedding", layout(op.result), dtype(op.result), false));
        return {};
      case Rule::Rows:
        add(op, "", rows(name(op.kind), made_dense(op, op.inputs[0]), dtype(op.result), false));
        return {};
      case Rule::Decomposed:
        return make_error(ErrorCode::Unsupported,
                          "[passes.lower_framework] {}: got {}, need it decomposed first",
                          graph_[op.result].name,
                          name(op.kind));
      case Rule::Pointwise:
        pointwise(op);
        return {};
      case Rule::Copy:
        copy(op);
        return {};
      case Rule::CacheWrite:
        cache_write(op);
        return {};
      case Rule::View:
        return view(op);
    }
    ORR_UNREACHABLE();
  }

  void linear(const graph::Op& op) {
    const Strided& x = made_dense(op, op.inputs[0]);
    const graph::Shape& weight = graph_[op.inputs[1]].type.shape;
    library::GemmCall call;
    call.k = context_.sizes(weight[1]);
    call.n = context_.sizes(weight[0]);
    call.m = x.elements() / call.k;
    call.input = dtype(op.inputs[0]);
    call.output = dtype(op.result);
    const ProductTypes types =
        product_types(op.attributes, dtype(op.inputs[1]), dtype(op.inputs[0]), context_);
    call.input = types.input;
    call.backend = types.backend;
    call.quantisation = types.quantisation;
    if (types.widened) {
      note(
          fmt::format("products: {} activations stay {} on this chip, whose matrix unit does not "
                      "take them",
                      name(op.attributes.activations),
                      name(dtype(op.inputs[0]))));
    } else if (types.input != dtype(op.inputs[0])) {
      add(op, ".quantize", rows("quantize_fp8", x, dtype(op.inputs[0]), false));
    }
    add(op, "", call);  // a bias is added by the product's epilogue
  }

  /// One product per head over the tokens of all sequences, whose rows it reads where they lie.
  void head_linear(const graph::Op& op) {
    const Strided& x = layout(op.inputs[0]);
    library::GemmCall call;
    call.batch = x.sizes[1];
    call.m = x.sizes[0] * x.sizes[2];
    call.k = x.sizes[3];
    call.n = layout(op.result).sizes[3];
    call.input = dtype(op.inputs[0]);
    call.output = dtype(op.result);
    add(op, "", call);
  }

  Result<void> mixed(const graph::Op& op) {
    if (!context_.requests.empty()) {
      ORR_TRY(std::vector<NamedCall> calls, packed_calls(graph_, op, context_));
      for (NamedCall& each : calls) {
        add(op, each.suffix, std::move(each.call));
      }
      return {};
    }
    library::Call call = mixed_call(graph_, op, context_);
    if (std::holds_alternative<library::AttentionCall>(call)) {
      note_all(attention_notes(graph_, op, context_));
    }
    add(op, "", std::move(call));
    return {};
  }

  Result<void> experts(const graph::Op& op) {
    ORR_TRY(ExpertCalls experts, expert_calls(graph_, op, context_));
    note_all(std::move(experts.notes));
    for (NamedCall& each : experts.calls) {
      add(op, each.suffix, std::move(each.call));
    }
    return {};
  }

  void note(std::string text) {
    if (std::find(plan_.notes.begin(), plan_.notes.end(), text) == plan_.notes.end()) {
      plan_.notes.push_back(std::move(text));
    }
  }

  void note_all(std::vector<std::string> texts) {
    for (std::string& text : texts) {
      note(std::move(text));
    }
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

  void attention(const graph::Op& op) {
    const Strided& q = layout(op.inputs[0]);
    note_all(attention_notes(graph_, op, context_));
    for (NamedCall& each : attention_calls(graph_, op, context_)) {
      add(op, each.suffix, std::move(each.call));
    }
    // The library's result has the order of the queries (ATen, cuDNN attention:
    // alloc_with_matching_layout), so transposing back to tokens usually costs nothing.
    Strided like = q;
    like.sizes[3] = layout(op.inputs[2]).sizes[3];
    result_layout(op) = in_order_of(like);
  }

  void all_reduce(const graph::Op& op) {
    const graph::TensorType& type = graph_[op.result].type;
    library::CollectiveCall call;
    call.op = "all_reduce";
    call.bytes = static_cast<int64_t>(context_.sizes.bytes(type).value());
    call.gpus = op.attributes.size;
    call.backend = all_reduce_backend(context_.engine, context_.architecture);
    add(op, "", call);
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
    if (op.kind == OpKind::Expand) {
      result_layout(op) = expanded(from, context_.sizes(graph_[op.result].type.shape));
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
    } else if (!read_by_groups_alone(op.result)) {
      made_dense(op, op.inputs[0]);  // the result is dense already
    }
    return {};
  }

  /// Generated kernels read through any view.
  bool read_by_groups_alone(ValueId value) const {
    if (grouping_ == nullptr) {
      return false;
    }
    for (size_t i = 0; i < graph_.ops().size(); ++i) {
      const auto& inputs = graph_.ops()[i].inputs;
      const bool reads = std::find(inputs.begin(), inputs.end(), value) != inputs.end();
      if (!reads) {
        continue;
      }
      const bool view = is_view(graph_.ops()[i].kind);
      const bool alone = view ? read_by_groups_alone(graph_.ops()[i].result)
                              : grouping_->group[i] != Grouping::kNone;
      if (!alone) {
        return false;
      }
    }
    return true;
  }

  const graph::Graph& graph_;
  const Context& context_;
  const std::vector<int64_t>* times_ = nullptr;  // by operator; none: by repeats
  const Grouping* grouping_ = nullptr;           // none: every operator is a call
  size_t at_ = 0;                                // operator
  std::vector<std::optional<Strided>> layout_;   // by value; none: not asked for yet
  plan::Plan plan_;
};

}  // namespace

Result<plan::Plan> lower_grouped(const Expanded& expanded,
                                 const Grouping& grouping,
                                 const Context& context) {
  return Lowering(expanded, grouping, context).run();
}

Result<plan::Plan> lower_framework(const graph::Graph& graph, const Context& context) {
  return Lowering(graph, context).run();
}

}  // namespace orrery::passes
