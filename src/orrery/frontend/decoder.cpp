// The operator graph of a llama-like decoder.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/decoder.h"

#include <utility>
#include <vector>

#include "orrery/base/text.h"
#include "orrery/graph/builder.h"

namespace orrery::frontend {

using graph::Builder;
using graph::Dim;
using graph::OpKind;
using graph::ValueId;

std::string_view name(Phase phase) {
  switch (phase) {
    case Phase::Prefill:
      return "prefill";
    case Phase::Decode:
      return "decode";
    case Phase::Train:
      return "train";
  }
  ORR_UNREACHABLE();
}

Result<Phase> parse_phase(std::string_view text) {
  for (const Phase phase : {Phase::Prefill, Phase::Decode, Phase::Train}) {
    if (text == name(phase)) {
      return phase;
    }
  }
  return make_error(ErrorCode::InvalidInput,
                    "[frontend.decoder] phase: got '{}', need prefill, decode or train",
                    text);
}

namespace {

/// Sizes beyond this are a typing error: the largest published decoder has 1e5 of anything but
/// the vocabulary, and products of four of them must stay inside int64.
constexpr int64_t kLargestSize = int64_t{1} << 24;

Result<void> check(const Decoder& decoder) {
  std::vector<std::string> wrong;
  const auto positive = [&wrong](std::string_view what, int64_t value) {
    if (value < 1 || value > kLargestSize) {
      wrong.push_back(fmt::format("{}: got {}, need 1 to {}", what, value, kLargestSize));
    }
  };
  positive("layers", decoder.layers);
  positive("hidden size", decoder.hidden);
  positive("intermediate size", decoder.intermediate);
  positive("heads", decoder.heads);
  positive("kv heads", decoder.kv_heads);
  positive("head dim", decoder.head_dim);
  positive("vocabulary", decoder.vocabulary);
  if (wrong.empty() && decoder.heads % decoder.kv_heads != 0) {
    wrong.push_back(fmt::format(
        "heads: got {} with {} kv heads, need a multiple", decoder.heads, decoder.kv_heads));
  }
  if (wrong.empty() && decoder.head_dim % 2 != 0) {
    wrong.push_back(fmt::format("head dim: got {}, need an even number for the rotary embedding",
                                decoder.head_dim));
  }
  if (!wrong.empty()) {
    return make_error(
        ErrorCode::InvalidInput, "[frontend.decoder] {}: {}", decoder.name, join(wrong, "; "));
  }
  return {};
}

/// Writes one step of the decoder into a builder.
class Writer {
 public:
  Writer(const Decoder& decoder, Phase phase)
      : d_(decoder), decode_(phase == Phase::Decode), b_(decoder.name) {}

  Result<graph::Graph> run() && {
    batch_ = b_.dim("batch");
    seq_ = decode_ ? Dim(1) : b_.dim("seq");
    context_ = decode_ ? b_.dim("context") : seq_;
    const ValueId ids = b_.input("ids", {DType::I64, {batch_, seq_}});
    const ValueId table = weight("embedding", {Dim(d_.vocabulary), Dim(d_.hidden)});
    cos_ = b_.constant("cos", {d_.dtype, {seq_, Dim(d_.head_dim)}});
    sin_ = b_.constant("sin", {d_.dtype, {seq_, Dim(d_.head_dim)}});
    const ValueId x = b_.op("x", OpKind::Embedding, {ids, table});
    const ValueId h = b_.begin_repeat("layer", d_.layers, {{"h", x}})[0];
    const ValueId after = attention(h);
    const ValueId next = feed_forward(after);
    b_.end_repeat({next});
    const ValueId last = b_.op("last", OpKind::Slice, {next}, {.axis = 1, .begin = -1, .size = 1});
    const ValueId normed = norm("final_norm", last, d_.hidden);
    const ValueId head =
        d_.tied_embedding ? table : weight("head", {Dim(d_.vocabulary), Dim(d_.hidden)});
    b_.output(b_.op("logits", OpKind::Linear, {normed, head}));
    return std::move(b_).build();
  }

 private:
  ValueId weight(const std::string& name, graph::Shape shape) {
    return b_.weight(name, {d_.dtype, std::move(shape)});
  }

  ValueId norm(const std::string& name, ValueId x, int64_t size) {
    const ValueId scale = weight(name + ".weight", {Dim(size)});
    return b_.op(name, OpKind::RmsNorm, {x, scale}, {.epsilon = d_.epsilon});
  }

  ValueId linear(const std::string& name, ValueId x, int64_t inputs, int64_t outputs, bool bias) {
    std::vector<ValueId> operands = {x, weight(name + ".weight", {Dim(outputs), Dim(inputs)})};
    if (bias) {
      operands.push_back(weight(name + ".bias", {Dim(outputs)}));
    }
    return b_.op(name, OpKind::Linear, std::move(operands));
  }

  /// `count` heads from `first` on, of the transposed projections [batch, heads, seq, head_dim].
  ValueId heads(const std::string& name, ValueId all, int64_t first, int64_t count) {
    return b_.op(name, OpKind::Slice, {all}, {.axis = 1, .begin = first, .size = count});
  }

  ValueId rotated(const std::string& name, ValueId x) {
    if (d_.qk_norm) {
      x = norm(name + "_norm", x, d_.head_dim);
    }
    return b_.op(name + "_rotary", OpKind::Rotary, {x, cos_, sin_});
  }

  /// The whole cache after writing `entries` as its newest; in a prefill just the entries.
  ValueId cached(const std::string& name, ValueId entries) {
    if (!decode_) {
      return entries;
    }
    const ValueId cache = b_.cache(
        name + "_cache", {d_.dtype, {batch_, Dim(d_.kv_heads), context_, Dim(d_.head_dim)}});
    return b_.op(name + "_write", OpKind::CacheWrite, {cache, entries}, {.axis = 2});
  }

  ValueId attention(ValueId h) {
    const int64_t all = d_.heads + 2 * d_.kv_heads;
    const ValueId normed = norm("attention_norm", h, d_.hidden);
    const ValueId qkv = linear("qkv", normed, d_.hidden, all * d_.head_dim, d_.qkv_bias);
    const ValueId split = b_.op(
        "qkv_heads", OpKind::Reshape, {qkv}, {.shape = {batch_, seq_, Dim(all), Dim(d_.head_dim)}});
    const ValueId by_head = b_.op("qkv_by_head", OpKind::Permute, {split}, {.order = {0, 2, 1, 3}});
    const ValueId q = rotated("q", heads("q", by_head, 0, d_.heads));
    const ValueId k = rotated("k", heads("k", by_head, d_.heads, d_.kv_heads));
    const ValueId v = heads("v", by_head, d_.heads + d_.kv_heads, d_.kv_heads);
    const ValueId keys = cached("k", k);
    const ValueId values = cached("v", v);
    const ValueId mixed = b_.op("attention",
                                OpKind::Attention,
                                {q, keys, values},
                                {.causal = !decode_, .window = d_.window});
    const ValueId by_token =
        b_.op("attention_by_token", OpKind::Permute, {mixed}, {.order = {0, 2, 1, 3}});
    const int64_t width = d_.heads * d_.head_dim;
    const ValueId joined = b_.op(
        "attention_joined", OpKind::Reshape, {by_token}, {.shape = {batch_, seq_, Dim(width)}});
    const ValueId out = linear("attention_output", joined, width, d_.hidden, d_.output_bias);
    return b_.op("attention_add", OpKind::Add, {h, out});
  }

  ValueId feed_forward(ValueId h) {
    const int64_t width = d_.intermediate;
    const ValueId normed = norm("mlp_norm", h, d_.hidden);
    const ValueId both = linear("gate_up", normed, d_.hidden, 2 * width, d_.mlp_bias);
    const ValueId gate =
        b_.op("gate", OpKind::Slice, {both}, {.axis = 2, .begin = 0, .size = width});
    const ValueId up =
        b_.op("up", OpKind::Slice, {both}, {.axis = 2, .begin = width, .size = width});
    const ValueId opened = b_.op("silu", OpKind::Silu, {gate});
    const ValueId gated = b_.op("gated", OpKind::Mul, {opened, up});
    const ValueId down = linear("down", gated, width, d_.hidden, d_.mlp_bias);
    return b_.op("mlp_add", OpKind::Add, {h, down});
  }

  const Decoder& d_;
  bool decode_;
  Builder b_;
  Dim batch_;
  Dim seq_;
  Dim context_;
  ValueId cos_;
  ValueId sin_;
};

}  // namespace

Result<graph::Graph> decoder_graph(const Decoder& decoder, Phase phase) {
  if (phase == Phase::Train) {
    return make_error(ErrorCode::Unsupported,
                      "[frontend.decoder] phase: got train, need prefill or decode (training "
                      "steps arrive with the transforms)");
  }
  ORR_TRY_VOID(check(decoder));
  return Writer(decoder, phase).run();
}

}  // namespace orrery::frontend
