// The operator graph of one step of a model: embedding, stack, head.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/model_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "orrery/frontend/model_size.h"
#include "orrery/frontend/model_writer_internal.h"

namespace orrery::frontend {

using graph::Dim;
using graph::OpKind;
using graph::ValueId;

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::Prefill:
      return "prefill";
    case Phase::Decode:
      return "decode";
    case Phase::Mixed:
      return "mixed";
    case Phase::Train:
      return "train";
  }
  ORR_UNREACHABLE();
}

Result<Phase> parse_phase(std::string_view text) {
  for (const Phase phase : {Phase::Prefill, Phase::Decode, Phase::Mixed, Phase::Train}) {
    if (text == name(phase)) {
      return phase;
    }
  }
  return make_error(ErrorCode::InvalidInput,
                    "[frontend.model] phase: got '{}', need prefill, decode, mixed or train",
                    text);
}

namespace {

/// Sizes of the rotary embeddings of a stack, each once, in order of use.
std::vector<int64_t> rotary_sizes(const Stack& stack) {
  std::vector<int64_t> sizes;
  const auto add = [&sizes](int64_t size) {
    if (size > 0 && std::find(sizes.begin(), sizes.end(), size) == sizes.end()) {
      sizes.push_back(size);
    }
  };
  for (const LayerGroup& group : stack.groups) {
    for (const Layer& layer : group.body) {
      if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
        add(attention->rotary_dim);
      } else if (const auto* latent = std::get_if<LatentAttention>(&layer.mixer)) {
        add(latent->rope_dim);
      }
    }
  }
  return sizes;
}

/// The choice of keys that some layer takes from the one before; none if no layer does.
std::optional<int64_t> shared_choice(const Stack& stack) {
  for (const LayerGroup& group : stack.groups) {
    for (const Layer& layer : group.body) {
      const auto* latent = std::get_if<LatentAttention>(&layer.mixer);
      if (latent != nullptr && latent->indexer && latent->indexer->shared) {
        return latent->indexer->topk;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Writer::Writer(const Model& model, Phase phase)
    : m_(&model), decode_(phase == Phase::Decode), mixed_(phase == Phase::Mixed), b_(model.name) {}

std::string Writer::named(std::string_view name) const {
  return prefix_ + std::string(name);
}

ValueId Writer::weight(std::string_view name, graph::Shape shape) {
  return b_.weight(named(name), {m_->dtype, std::move(shape)}, shared_weights_);
}

ValueId Writer::op(std::string_view name,
                   OpKind kind,
                   std::vector<ValueId> inputs,
                   graph::Attributes attributes) {
  return b_.op(named(name), kind, std::move(inputs), std::move(attributes));
}

ValueId Writer::plain_norm(
    std::string_view name, ValueId x, OpKind kind, int64_t size, int weights) {
  const std::string base(name);
  std::vector<ValueId> operands = {x};
  if (weights > 0) {
    operands.push_back(weight(base + ".weight", {Dim(size)}));
  }
  if (weights > 1) {
    operands.push_back(weight(base + ".bias", {Dim(size)}));
  }
  return op(name, kind, std::move(operands), {.epsilon = m_->epsilon});
}

/// The model's kind of norm.
ValueId Writer::norm(std::string_view name, ValueId x, int64_t size) {
  switch (m_->norm) {
    case NormKind::Rms:
      return plain_norm(name, x, OpKind::RmsNorm, size, 1);
    case NormKind::Layer:
      return plain_norm(name, x, OpKind::LayerNorm, size, 2);
    case NormKind::LayerNoBias:
      return plain_norm(name, x, OpKind::LayerNorm, size, 1);
    case NormKind::LayerNoWeight:
      return plain_norm(name, x, OpKind::LayerNorm, size, 0);
  }
  ORR_UNREACHABLE();
}

int64_t Writer::width(ValueId x) const {
  const graph::Shape& shape = b_.type(x).shape;
  return shape.empty() ? 0 : shape.back().fixed;
}

ValueId Writer::linear(std::string_view name, ValueId x, const Product& product) {
  const std::string base(name);
  const graph::Precision& stored = product.precision;
  const int64_t inputs = width(x);
  const bool quantised = stored.scheme != graph::Scheme::None;
  std::vector<ValueId> operands = {
      x,
      b_.weight(named(base + ".weight"),
                {quantised ? stored.weight : m_->dtype, {Dim(product.outputs), Dim(inputs)}},
                shared_weights_)};
  if (product.bias) {
    operands.push_back(weight(base + ".bias", {Dim(product.outputs)}));
  }
  graph::Attributes attributes;
  if (quantised) {
    attributes.scheme = stored.scheme;
    attributes.group = stored.group;
    attributes.activations = stored.activations;
    const graph::ScaleShape scale = graph::scale_shape(stored, product.outputs, inputs);
    operands.push_back(b_.constant(
        named(base + ".scale"), {graph::scale_type(stored), {Dim(scale.rows), Dim(scale.cols)}}));
  }
  return op(name, OpKind::Linear, std::move(operands), std::move(attributes));
}

/// `count` columns from `first` on, of x [b, s, ..].
ValueId Writer::part(std::string_view name, ValueId x, int64_t first, int64_t count) {
  return op(name, OpKind::Slice, {x}, {.axis = 2, .begin = first, .size = count});
}

ValueId Writer::reshape(std::string_view name, ValueId x, graph::Shape shape) {
  return op(name, OpKind::Reshape, {x}, {.shape = std::move(shape)});
}

ValueId Writer::permute(std::string_view name, ValueId x, std::vector<int64_t> order) {
  return op(name, OpKind::Permute, {x}, {.order = std::move(order)});
}

ValueId Writer::scaled(std::string_view name, ValueId x, double factor) {
  return factor == 1 ? x : op(name, OpKind::Scale, {x}, {.factor = factor});
}

const graph::Precision& Writer::precision(const Layer& layer, Part part) const {
  return layer.precision[static_cast<size_t>(part)];
}

void Writer::rotary_tables() {
  tables_.clear();
  for (const int64_t size : rotary_sizes(m_->stack)) {
    const std::string end = tables_.empty() ? "" : fmt::format("_{}", size);
    const graph::TensorType type{m_->dtype, {seq_, Dim(size)}};
    const ValueId cos = b_.constant(named("cos" + end), type);
    tables_.emplace_back(size, std::pair(cos, b_.constant(named("sin" + end), type)));
  }
}

ValueId Writer::with_positions(ValueId x, Dim tokens) {
  const Input& input = m_->input;
  if (input.positions > 0) {
    const ValueId ids = b_.constant(named("position_ids"), {DType::I64, {tokens}});
    const graph::Shape shape = {Dim(input.positions), Dim(width(x))};
    const ValueId table = input.learned ? weight("positions", shape)
                                        : b_.constant(named("positions"), {m_->dtype, shape});
    x = op("x_positioned", OpKind::Add, {x, op("position", OpKind::Embedding, {ids, table})});
  }
  if (input.types > 0) {
    const ValueId ids = b_.constant(named("type_ids"), {DType::I64, {tokens}});
    const ValueId table = weight("types", {Dim(input.types), Dim(width(x))});
    x = op("x_typed", OpKind::Add, {x, op("type", OpKind::Embedding, {ids, table})});
  }
  return input.norm ? norm("embedding_norm", x, width(x)) : x;
}

ValueId Writer::embedded() {
  const Input& input = m_->input;
  const int64_t row = input.width > 0 ? input.width : m_->hidden;
  const ValueId ids = b_.input(named("ids"), {DType::I64, {batch_, seq_}});
  if (!table_.valid()) {
    table_ = b_.weight("embedding", {m_->dtype, {Dim(input.vocabulary), Dim(row)}});
  }
  ValueId x = reduced("x", op("x", OpKind::Embedding, {ids, table_}));
  x = scaled("x_scaled", x, input.scale);
  if (row == m_->hidden) {
    return with_positions(x, seq_);
  }
  // ALBERT adds and normalises the narrow rows, OPT the wide ones.
  if (input.norm) {
    return linear("embedding_in", with_positions(x, seq_), {m_->hidden, true});
  }
  return with_positions(linear("embedding_in", x, {m_->hidden, false}), seq_);
}

/// Patches, projected; a token for the class before them; positions. Whisper's second convolution
/// is a product over three neighbours of every other frame.
ValueId Writer::patches() {
  const Input& input = m_->input;
  const int64_t frames = input.halved ? 2 * input.patches : input.patches;
  const Dim hidden(m_->hidden);
  const ValueId pixels =
      b_.input(named("patches"), {m_->dtype, {batch_, Dim(frames), Dim(input.patch_width)}});
  ValueId x = linear("patch", pixels, {m_->hidden, input.patch_bias});
  if (input.halved) {
    const ValueId opened = op("patch_gelu", OpKind::Gelu, {x});
    const ValueId pairs =
        reshape("patch_pairs", opened, {batch_, Dim(input.patches), Dim(2 * m_->hidden)});
    const ValueId next = part("patch_next", pairs, 0, m_->hidden);
    const ValueId three = op("patch_three", OpKind::Cat, {pairs, next}, {.axis = 2});
    x = op("patch_halved_gelu",
           OpKind::Gelu,
           {linear("patch_halved", three, {m_->hidden, input.patch_bias})});
  }
  if (input.class_token) {
    const ValueId one = reshape("class_row", weight("class", {hidden}), {Dim(1), Dim(1), hidden});
    const ValueId each =
        op("class_rows", OpKind::Expand, {one}, {.shape = {batch_, Dim(1), hidden}});
    x = op("x_with_class", OpKind::Cat, {each, x}, {.axis = 1});
  }
  return with_positions(x, b_.type(x).shape.size() == 3 ? b_.type(x).shape[1] : Dim(1));
}

/// The sum of what each rank has.
ValueId Writer::reduced(std::string_view name, ValueId part) {
  return m_->ranks == 1
             ? part
             : op(std::string(name) + "_reduced", OpKind::AllReduce, {part}, {.size = m_->ranks});
}

template <class F>
ValueId Writer::sublayer(const Layer& layer, std::string_view name, ValueId h, F&& f) {
  const std::string base(name);
  const NormOrder order = layer.order;
  const bool before =
      order == NormOrder::Pre || order == NormOrder::Both || order == NormOrder::FromNormed;
  const ValueId x = before ? norm(base + "_norm", h, m_->hidden) : h;
  ValueId y = reduced(base, f(x));
  if (order == NormOrder::Post || order == NormOrder::Both) {
    y = norm(base + "_norm_after", y, m_->hidden);
  }
  y = scaled(base + "_scaled", y, layer.residual_scale);
  const ValueId kept =
      scaled(base + "_kept", order == NormOrder::FromNormed ? x : h, layer.carried_scale);
  const ValueId sum = op(base + "_add", OpKind::Add, {kept, y});
  return order == NormOrder::AfterSum ? norm(base + "_norm", sum, m_->hidden) : sum;
}

ValueId Writer::parallel_layer(const Layer& layer, ValueId h) {
  const ValueId x = norm("attention_norm", h, m_->hidden);
  const ValueId mixed = mixer_and_beside(layer, x);
  const ValueId y = layer.one_norm ? x : norm("mlp_norm", h, m_->hidden);
  const ValueId both =
      reduced("branches", op("branches_add", OpKind::Add, {mixed, feed_forward(layer, y)}));
  return op("mlp_add", OpKind::Add, {h, scaled("branches_scaled", both, layer.residual_scale)});
}

ValueId Writer::layer(const Layer& layer, ValueId h) {
  if (layer.parallel) {
    return parallel_layer(layer, h);
  }
  if (!std::holds_alternative<std::monostate>(layer.mixer)) {
    h = sublayer(layer, "attention", h, [&](ValueId x) { return mixer_and_beside(layer, x); });
  }
  if (layer.cross) {
    h = sublayer(
        layer, "cross", h, [&](ValueId x) { return cross_attention(layer, *layer.cross, x); });
  }
  if (layer.dense || layer.experts) {
    h = sublayer(layer, "mlp", h, [&](ValueId x) { return feed_forward(layer, x); });
  }
  return h;
}

/// Groups of layers become repeats. Where there is but one group of one layer, its values have
/// plain names; else they begin with the group's name, and a letter for the place in its body.
ValueId Writer::stack(const Stack& stack, ValueId x) {
  const std::string outer = prefix_;
  const bool plain = stack.groups.size() == 1 && stack.groups[0].body.size() == 1;
  const std::optional<int64_t> topk = shared_choice(stack);
  if (topk) {
    ids_ = b_.constant(named("no_choice"), {DType::I32, {batch_, seq_, Dim(*topk)}});
  }
  shared_weights_ = stack.shared;
  int64_t first = 0;
  for (const LayerGroup& group : stack.groups) {
    const std::string base =
        outer + "layer" + (stack.groups.size() == 1 ? "" : fmt::format("{}", first));
    const std::string start = plain && outer.empty() ? "" : base + ".";
    std::vector<graph::Builder::Start> starts = {{start + "h", x}};
    if (topk) {
      starts.push_back({start + "chosen", ids_});
    }
    const std::vector<ValueId> carried = b_.begin_repeat(base, group.times, starts);
    x = carried[0];
    ids_ = topk ? carried[1] : ValueId();
    for (size_t i = 0; i < group.body.size(); ++i) {
      prefix_ = group.body.size() == 1 ? start : fmt::format("{}{}.", start, place(i));
      x = layer(group.body[i], x);
    }
    b_.end_repeat(topk ? std::vector<ValueId>{x, ids_} : std::vector<ValueId>{x});
    first += group.times * static_cast<int64_t>(group.body.size());
  }
  shared_weights_ = false;
  prefix_ = outer;
  return x;
}

/// a, b, .. z, a1, b1 ..
std::string Writer::place(size_t index) {
  const std::string letter(1, static_cast<char>('a' + index % 26));
  return index < 26 ? letter : letter + fmt::format("{}", index / 26);
}

ValueId Writer::projected(std::string_view name, ValueId x, const Projection& projection) {
  const std::string base(name);
  if (projection.norm_before) {
    x = norm(base + "_norm", x, width(x));
  }
  if (projection.merged > 1) {
    const int64_t rows = b_.type(x).shape[1].fixed;
    const int64_t kept = rows / projection.merged * projection.merged;
    if (kept < rows) {  // the token of the class is left out
      const graph::Attributes rest{.axis = 1, .begin = rows - kept, .size = kept};
      x = op(base + "_patches", OpKind::Slice, {x}, rest);
    }
    x = reshape(base + "_merged",
                x,
                {batch_, Dim(kept / projection.merged), Dim(width(x) * projection.merged)});
  }
  if (projection.pooled > 1) {  // timed as reading one row of each group
    const int64_t columns = width(x);
    const Dim groups(b_.type(x).shape[1].fixed / projection.pooled);
    x = part(base + "_pooled",
             reshape(base + "_groups", x, {batch_, groups, Dim(projection.pooled * columns)}),
             0,
             columns);
  }
  x = linear(name, x, {projection.width, projection.bias});
  if (projection.activation) {
    x = op(
        base + "_" + std::string(graph::name(*projection.activation)), *projection.activation, {x});
  }
  return projection.norm_after ? norm(base + "_norm", x, projection.width) : x;
}

ValueId Writer::head(ValueId x) {
  const Head& head = m_->head;
  if (head.wanted != Wanted::All) {
    const bool last = head.wanted == Wanted::Last;
    x = op(last ? "last" : "first",
           OpKind::Slice,
           {x},
           {.axis = 1, .begin = last ? -1 : 0, .size = 1});
  }
  if (m_->stack.final_norm) {
    x = norm("final_norm", x, m_->hidden);
  }
  for (size_t i = 0; i < head.before.size(); ++i) {
    x = projected(fmt::format("head_{}", i), x, head.before[i]);
  }
  if (!head.logits) {
    return x;
  }
  if (head.tied && width(x) != width(table_)) {
    x = linear("embedding_out", x, {width(table_), false});
  }
  std::vector<ValueId> operands = {
      x, head.tied ? table_ : weight("head", {Dim(m_->input.vocabulary), Dim(width(x))})};
  if (head.bias) {
    operands.push_back(weight("head.bias", {Dim(m_->input.vocabulary)}));
  }
  x = scaled("logits_scaled", op("logits", OpKind::Linear, std::move(operands)), head.scale);
  if (head.soft_cap > 0) {
    x = scaled("logits_small", x, 1 / head.soft_cap);
    x = scaled("logits_capped", op("logits_tanh", OpKind::Tanh, {x}), head.soft_cap);
  }
  return x;
}

/// The encoder before its decoder: in a prefill it runs, in a decode step it only takes memory.
void Writer::encode() {
  const Model& encoder = m_->encoder.front();
  const bool tokens = encoder.input.vocabulary > 0;
  source_ = tokens ? (decode_ ? context_ : seq_) : Dim(encoder.input.patches);
  if (decode_) {
    const auto count = static_cast<int64_t>(encoder_parameters(encoder));
    b_.weight("encoder_weights", {m_->dtype, {Dim(std::max<int64_t>(count, 1))}});
    return;
  }
  const Model* decoder = std::exchange(m_, &encoder);
  const Dim own = std::exchange(seq_, source_);
  prefix_ = "encoder_";
  rotary_tables();
  ValueId x = stack(encoder.stack, tokens ? embedded() : patches());
  if (encoder.stack.final_norm) {
    x = norm("final_norm", x, encoder.hidden);
  }
  source_states_ = x;
  prefix_.clear();
  m_ = decoder;
  seq_ = tokens ? Dim(1) : own;  // a text decoder begins with one token
  context_ = seq_;
}

Result<graph::Graph> Writer::run() && {
  batch_ = b_.dim("batch");
  const bool sized = decode_ || m_->input.vocabulary > 0;  // patches have a fixed number
  seq_ = decode_ ? Dim(1) : sized ? b_.dim("seq") : Dim(1);
  context_ = decode_ ? b_.dim("context") : seq_;
  if (!m_->encoder.empty()) {
    encode();
  }
  const ValueId x = m_->input.vocabulary > 0 ? embedded() : patches();
  if (m_->input.vocabulary == 0 && b_.type(x).shape.size() == 3) {
    seq_ = b_.type(x).shape[1];
    context_ = seq_;
  }
  rotary_tables();
  b_.output(head(stack(m_->stack, x)));
  return std::move(b_).build();
}

Result<graph::Graph> model_graph(const Model& model, Phase phase) {
  if (phase == Phase::Train) {
    return make_error(ErrorCode::Unsupported,
                      "[frontend.model] phase: got train, need prefill or decode (training "
                      "steps arrive with the transforms)");
  }
  if (phase == Phase::Decode && !model.decodes) {
    return make_error(ErrorCode::Unsupported,
                      "[frontend.model] phase: got decode, but {} ({}) is an encoder, which makes "
                      "no tokens; need prefill",
                      model.name,
                      model.family);
  }
  if (phase == Phase::Mixed && (!model.decodes || !model.encoder.empty())) {
    return make_error(ErrorCode::Unsupported,
                      "[frontend.model] phase: got mixed, but {} ({}) has an encoder, which no "
                      "engine packs; need prefill{}",
                      model.name,
                      model.family,
                      model.decodes ? " or decode" : "");
  }
  ORR_TRY_VOID(check(model));
  return Writer(model, phase).run();
}

}  // namespace orrery::frontend
