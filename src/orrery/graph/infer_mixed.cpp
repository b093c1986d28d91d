// Shapes of recurrences, convolutions, latent attention and experts.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/base/check.h"
#include "orrery/graph/infer_internal.h"

namespace orrery::graph {

namespace {

using Inputs = std::span<const TensorType>;

bool ranks(Inputs inputs, std::initializer_list<size_t> wanted) {
  size_t i = 0;
  return std::all_of(
      wanted.begin(), wanted.end(), [&](size_t rank) { return inputs[i++].shape.size() == rank; });
}

std::optional<TensorType> head_linear(Inputs in) {
  if (!ranks(in, {4, 3})) {
    return std::nullopt;
  }
  const Shape& x = in[0].shape;
  const Shape& w = in[1].shape;
  const bool fits = w[0] == x[1] && w[2] == x[3] && in[0].dtype == in[1].dtype;
  return fits ? std::optional(TensorType{in[0].dtype, {x[0], x[1], x[2], w[1]}}) : std::nullopt;
}

std::optional<TensorType> latent_attention(Inputs in, int64_t size) {
  if (!ranks(in, {4, 3})) {
    return std::nullopt;
  }
  const Shape& q = in[0].shape;
  const Shape& cache = in[1].shape;
  const bool ids = in.size() < 3 ||
                   (in[2].shape.size() == 3 && in[2].shape[0] == q[0] && in[2].shape[1] == q[2]);
  if (q[0] != cache[0] || q[3] != cache[2] || q[3].named() || size < 1 || size > q[3].fixed ||
      !ids) {
    return std::nullopt;
  }
  return TensorType{in[0].dtype, {q[0], q[1], q[2], Dim(size)}};
}

std::optional<TensorType> index_keys(Inputs in, int64_t size) {
  if (!ranks(in, {4, 3, 3}) || size < 1) {
    return std::nullopt;
  }
  const Shape& q = in[0].shape;
  const Shape& keys = in[1].shape;
  if (keys[0] != q[0] || keys[2] != q[3] || in[2].shape != Shape{q[0], q[1], q[2]}) {
    return std::nullopt;
  }
  return TensorType{DType::I32, {q[0], q[1], Dim(size)}};
}

/// x [.., c], logits [.., e], up [h, i or 2 i, c], down [h, c, i]; biases [h, ..], scales of
/// rank 3. e is a multiple of h, and sources divides the multiple.
std::optional<TensorType> moe(Inputs in, const Attributes& attributes) {
  const Shape& x = in[0].shape;
  const Shape& logits = in[1].shape;
  if (x.empty() || logits.size() != x.size() || in[2].shape.size() != 3 ||
      in[3].shape.size() != 3) {
    return std::nullopt;
  }
  const Shape& up = in[2].shape;
  const Shape& down = in[3].shape;
  const Dim experts = logits.back();
  const Dim held = up[0];
  if (experts.named() || held.named() || held.fixed < 1 || experts.fixed % held.fixed != 0 ||
      attributes.sources < 1 || (experts.fixed / held.fixed) % attributes.sources != 0) {
    return std::nullopt;
  }
  const bool sizes = down[0] == held && up[2] == x.back() && down[1] == x.back() &&
                     !up[1].named() && !down[2].named() &&
                     (up[1] == down[2] || up[1].fixed == 2 * down[2].fixed);
  const bool topk = attributes.size >= 1 && attributes.size <= experts.fixed;
  const bool rest = std::all_of(in.begin() + 4, in.end(), [&](const TensorType& type) {
    return type.shape.size() >= 2 && type.shape[0] == held;
  });
  return sizes && topk && rest ? std::optional(in[0]) : std::nullopt;
}

std::optional<TensorType> gated_delta(Inputs in) {
  if (!ranks(in, {4, 4, 4, 3, 3, 1, 1, 4})) {
    return std::nullopt;
  }
  const Shape& q = in[0].shape;
  const Shape& v = in[2].shape;
  const Shape per_head = {v[0], v[1], v[2]};
  const bool fits = in[1].shape == q && v[0] == q[0] && v[1] == q[1] && !q[2].named() &&
                    !v[2].named() && v[2].fixed % std::max<int64_t>(q[2].fixed, 1) == 0 &&
                    in[3].shape == per_head && in[4].shape == per_head &&
                    in[5].shape == Shape{v[2]} && in[6].shape == Shape{v[2]} &&
                    in[7].shape == Shape{v[0], v[2], q[3], v[3]};
  return fits ? std::optional(in[2]) : std::nullopt;
}

std::optional<TensorType> lightning(Inputs in) {
  if (!ranks(in, {4, 4, 4, 4})) {
    return std::nullopt;
  }
  const Shape& q = in[0].shape;
  const bool fits =
      in[1].shape == q && in[2].shape == q && in[3].shape == Shape{q[0], q[2], q[3], q[3]};
  return fits ? std::optional(in[0]) : std::nullopt;
}

std::optional<TensorType> mamba1(Inputs in) {
  if (!ranks(in, {3, 3, 2, 3, 3, 1, 3})) {
    return std::nullopt;
  }
  const Shape& x = in[0].shape;
  const Dim state = in[2].shape[1];
  const Shape mixed = {x[0], x[1], state};
  const bool fits = in[1].shape == x && in[2].shape[0] == x[2] && in[3].shape == mixed &&
                    in[4].shape == mixed && in[5].shape == Shape{x[2]} &&
                    in[6].shape == Shape{x[0], x[2], state};
  return fits ? std::optional(in[0]) : std::nullopt;
}

std::optional<TensorType> mamba2(Inputs in) {
  if (!ranks(in, {4, 3, 4, 4, 1, 1, 1, 4})) {
    return std::nullopt;
  }
  const Shape& x = in[0].shape;
  const Shape& b = in[2].shape;
  const bool fits = in[1].shape == Shape{x[0], x[1], x[2]} && in[3].shape == b && b[0] == x[0] &&
                    b[1] == x[1] && in[4].shape == Shape{x[2]} && in[5].shape == Shape{x[2]} &&
                    in[6].shape == Shape{x[2]} && in[7].shape == Shape{x[0], x[2], x[3], b[3]};
  return fits ? std::optional(in[0]) : std::nullopt;
}

std::optional<TensorType> causal_conv(Inputs in) {
  if (!ranks(in, {3, 2, 3})) {
    return std::nullopt;
  }
  const Shape& x = in[0].shape;
  const Shape& w = in[1].shape;
  const bool bias = in.size() < 4 || in[3].shape == Shape{x[2]};
  const bool fits = w[0] == x[2] && in[2].shape == Shape{x[0], x[2], w[1]} && bias;
  return fits ? std::optional(in[0]) : std::nullopt;
}

}  // namespace

std::optional<TensorType> infer_mixed(OpKind kind,
                                      std::span<const TensorType> inputs,
                                      const Attributes& attributes) {
  if (kind == OpKind::HeadLinear) {
    return head_linear(inputs);
  }
  if (kind == OpKind::LatentAttention) {
    return latent_attention(inputs, attributes.size);
  }
  if (kind == OpKind::IndexKeys) {
    return index_keys(inputs, attributes.size);
  }
  if (kind == OpKind::Moe) {
    return moe(inputs, attributes);
  }
  if (kind == OpKind::GatedDelta) {
    return gated_delta(inputs);
  }
  if (kind == OpKind::Lightning) {
    return lightning(inputs);
  }
  if (kind == OpKind::Mamba1) {
    return mamba1(inputs);
  }
  if (kind == OpKind::Mamba2) {
    return mamba2(inputs);
  }
  ORR_CHECK(kind == OpKind::CausalConv) << "not a mixing operator";
  return causal_conv(inputs);
}

std::string_view need_of_mixed(OpKind kind) {
  if (kind == OpKind::HeadLinear) {
    return "x [b, h, s, k] and w [h, n, k] of one type";
  }
  if (kind == OpKind::LatentAttention) {
    return "q [b, h, s, d], a cache [b, t, d], perhaps ids [b, s, k], and a size up to d";
  }
  if (kind == OpKind::IndexKeys) {
    return "q [b, s, h, d], keys [b, t, d], weights [b, s, h] and a size of at least 1";
  }
  if (kind == OpKind::Moe) {
    return "x [.., c], logits [.., e], up [h, i or 2 i, c], down [h, c, i], e a multiple of h, and "
           "a size up to e";
  }
  if (kind == OpKind::CausalConv) {
    return "x [b, s, c], w [c, w], a state [b, c, w] and perhaps a bias [c]";
  }
  return "the shapes of op_list.h, which agree in batch, tokens, heads and state";
}

}  // namespace orrery::graph
