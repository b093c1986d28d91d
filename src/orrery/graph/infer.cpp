// Result types, one function per group of operators with the same rule.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/infer.h"

#include <algorithm>

#include "orrery/base/text.h"
#include "orrery/graph/infer_internal.h"

namespace orrery::graph {

std::string to_text(const Shape& shape, std::span<const std::string> dims) {
  std::vector<std::string> extents;
  for (const Dim dim : shape) {
    if (!dim.named()) {
      extents.push_back(fmt::format("{}", dim.fixed));
    } else if (dim.symbol.index() < dims.size()) {
      extents.push_back(dims[dim.symbol.index()]);
    } else {
      extents.push_back("?");
    }
  }
  return "[" + join(extents, ", ") + "]";
}

std::string to_text(const TensorType& type, std::span<const std::string> dims) {
  return fmt::format("{} {}", name(type.dtype), to_text(type.shape, dims));
}

namespace {

/// One inference: the operands and the words for its errors.
class Inference {
 public:
  Inference(OpKind kind,
            std::span<const TensorType> inputs,
            const Attributes& attributes,
            std::span<const std::string> dims)
      : kind_(kind), inputs_(inputs), attributes_(attributes), dims_(dims) {}

  Result<TensorType> run() const {
    ORR_TRY_VOID(check_count());
    switch (kind_) {
      case OpKind::Linear:
        return linear();
      case OpKind::Matmul:
        return matmul();
      case OpKind::Attention:
        return attention();
      case OpKind::HeadLinear:
      case OpKind::LatentAttention:
      case OpKind::IndexKeys:
      case OpKind::Moe:
      case OpKind::GatedDelta:
      case OpKind::Lightning:
      case OpKind::Mamba1:
      case OpKind::Mamba2:
      case OpKind::CausalConv:
        return mixed();
      case OpKind::Embedding:
        return embedding();
      case OpKind::RmsNorm:
      case OpKind::LayerNorm:
        return norm();
      case OpKind::Rotary:
        return rotary();
      case OpKind::Add:
      case OpKind::Mul:
        return broadcast();
      case OpKind::AllReduce:
      case OpKind::Softmax:
      case OpKind::Neg:
      case OpKind::Scale:
      case OpKind::Clamp:
      case OpKind::Silu:
      case OpKind::Gelu:
      case OpKind::GeluTanh:
      case OpKind::QuickGelu:
      case OpKind::Relu:
      case OpKind::Relu2:
      case OpKind::Sigmoid:
      case OpKind::Softplus:
      case OpKind::Tanh:
      case OpKind::Copy:
        return inputs_[0];
      case OpKind::Cat:
        return cat();
      case OpKind::CacheWrite:
        return cache_write();
      case OpKind::Slice:
        return slice();
      case OpKind::Reshape:
        return reshape();
      case OpKind::Permute:
        return permute();
      case OpKind::Expand:
        return expand();
    }
    ORR_UNREACHABLE();
  }

 private:
  Result<void> check_count() const {
    const OpInfo& op = info(kind_);
    if (inputs_.size() < op.fewest_inputs || inputs_.size() > op.most_inputs) {
      return make_error(ErrorCode::InvalidInput,
                        "[graph.infer] {}: got {} inputs, need {} to {}",
                        op.name,
                        inputs_.size(),
                        op.fewest_inputs,
                        op.most_inputs);
    }
    return {};
  }

  const Shape& shape(size_t input) const { return inputs_[input].shape; }

  Error wrong(std::string_view need) const {
    std::vector<std::string> got;
    for (const TensorType& input : inputs_) {
      got.push_back(to_text(input, dims_));
    }
    return make_error(ErrorCode::InvalidInput,
                      "[graph.infer] {}: got {}, need {}",
                      name(kind_),
                      join(got, " and "),
                      need);
  }

  TensorType with_last(const Shape& from, Dim last, DType dtype) const {
    Shape result(from.begin(), from.end() - 1);
    result.push_back(last);
    return {dtype, std::move(result)};
  }

  /// A bias [n], a scale of rank 2, or both; types are equal unless the weight is quantised.
  Result<TensorType> linear() const {
    const Shape& weight = shape(1);
    const bool quantised = attributes_.scheme != Scheme::None;
    bool fits = !shape(0).empty() && weight.size() == 2 && shape(0).back() == weight[1] &&
                (quantised || inputs_[0].dtype == inputs_[1].dtype);
    for (size_t i = 2; i < inputs_.size() && fits; ++i) {
      const bool bias = i == 2 && shape(i) == Shape{weight[0]};
      const bool scale = quantised && i + 1 == inputs_.size() && shape(i).size() == 2;
      fits = bias || scale;
    }
    if (!fits) {
      return wrong("x [.., k], w [n, k] and perhaps a bias [n], of one type");
    }
    return with_last(shape(0), weight[0], inputs_[0].dtype);
  }

  Result<TensorType> matmul() const {
    const Shape& a = shape(0);
    const Shape& b = shape(1);
    const size_t rank = a.size();
    if (rank < 2 || b.size() != rank || a[rank - 1] != b[rank - 2] ||
        !std::equal(a.begin(), a.end() - 2, b.begin()) || inputs_[0].dtype != inputs_[1].dtype) {
      return wrong("a [.., m, k] and b [.., k, n] of one type");
    }
    return with_last(a, b[rank - 1], inputs_[0].dtype);
  }

  Result<TensorType> attention() const {
    const Shape& q = shape(0);
    const Shape& k = shape(1);
    const Shape& v = shape(2);
    const bool ranks = q.size() == 4 && k.size() == 4 && v.size() == 4;
    if (!ranks || !std::equal(k.begin(), k.end() - 1, v.begin()) || q[0] != k[0] || q[3] != k[3] ||
        q[1].named() || k[1].named() || k[1].fixed <= 0 || q[1].fixed % k[1].fixed != 0 ||
        attributes_.window < 0 || attributes_.chunk < 0 ||
        (inputs_.size() > 3 && shape(3) != Shape{q[1]})) {
      return wrong("q [b, h, s, d], k and v [b, g, t, d] with h a multiple of g");
    }
    return with_last(q, v[3], inputs_[0].dtype);
  }

  Result<TensorType> mixed() const {
    auto result = infer_mixed(kind_, inputs_, attributes_);
    return result ? Result<TensorType>(*std::move(result)) : wrong(need_of_mixed(kind_));
  }

  Result<TensorType> embedding() const {
    const bool ids = inputs_[0].dtype == DType::I64 || inputs_[0].dtype == DType::I32;
    if (!ids || shape(1).size() != 2) {
      return wrong("ids i64 [..] and a table [v, c]");
    }
    TensorType result{inputs_[1].dtype, shape(0)};
    result.shape.push_back(shape(1)[1]);
    return result;
  }

  Result<TensorType> norm() const {
    for (size_t i = 1; i < inputs_.size(); ++i) {
      if (shape(0).empty() || shape(i) != Shape{shape(0).back()}) {
        return wrong("x [.., c] and parameters [c]");
      }
    }
    return inputs_[0];
  }

  Result<TensorType> rotary() const {
    const Shape& x = shape(0);
    const Shape& cos = shape(1);
    if (x.size() != 4 || x[3].named() || cos.size() != 2 || cos[0] != x[2] || cos[1].named() ||
        cos[1].fixed % 2 != 0 || cos[1].fixed > x[3].fixed || shape(2) != cos) {
      return wrong("x [b, h, s, d], cos and sin [s, r] with an even r of at most d");
    }
    return inputs_[0];
  }

  Result<TensorType> broadcast() const {
    const bool first_longer = shape(0).size() >= shape(1).size();
    TensorType result = inputs_[first_longer ? 0 : 1];
    const Shape& other = shape(first_longer ? 1 : 0);
    const size_t skip = result.shape.size() - other.size();
    for (size_t i = 0; i < other.size(); ++i) {
      Dim& extent = result.shape[skip + i];
      if (extent != other[i] && extent != Dim(1) && other[i] != Dim(1)) {
        return wrong("shapes that are equal or 1, aligned at the right");
      }
      extent = extent == Dim(1) ? other[i] : extent;
    }
    return result;
  }

  bool axis_fits() const {
    return attributes_.axis >= 0 && attributes_.axis < static_cast<int64_t>(shape(0).size());
  }

  size_t axis() const { return static_cast<size_t>(attributes_.axis); }

  Result<TensorType> cat() const {
    TensorType result = inputs_[0];
    if (!axis_fits()) {
      return wrong(fmt::format("an axis {}", attributes_.axis));
    }
    for (size_t i = 1; i < inputs_.size(); ++i) {
      Shape other = shape(i);
      if (other.size() != result.shape.size() || other[axis()].named() ||
          result.shape[axis()].named()) {
        return wrong("equal ranks and numbers along the axis");
      }
      const int64_t added = other[axis()].fixed;
      other[axis()] = result.shape[axis()];
      if (other != result.shape || inputs_[i].dtype != result.dtype) {
        return wrong("equal types and shapes but along the axis");
      }
      if (__builtin_add_overflow(result.shape[axis()].fixed, added, &result.shape[axis()].fixed)) {
        return wrong("a sum of extents below 2^63");
      }
    }
    return result;
  }

  Result<TensorType> cache_write() const {
    Shape part = shape(1);
    if (!axis_fits() || part.size() != shape(0).size()) {
      return wrong("a cache and new entries of one rank");
    }
    part[axis()] = shape(0)[axis()];
    if (part != shape(0)) {
      return wrong("equal shapes but along the axis");
    }
    return inputs_[0];
  }

  Result<TensorType> slice() const {
    if (!axis_fits() || attributes_.size < 1) {
      return wrong(fmt::format(
          "an axis {} and a size of at least 1 (got {})", attributes_.axis, attributes_.size));
    }
    const Dim whole = shape(0)[axis()];
    const int64_t begin = attributes_.begin;
    const int64_t start = begin >= 0 || whole.named() ? begin : whole.fixed + begin;
    const bool inside = whole.named() ? begin >= 0 || begin <= -attributes_.size
                                      : start >= 0 && start <= whole.fixed - attributes_.size;
    if (!inside) {
      return wrong(fmt::format("extents that hold {} entries from {}", attributes_.size, begin));
    }
    TensorType result = inputs_[0];
    result.shape[axis()] = Dim(attributes_.size);
    return result;
  }

  /// A shape as the product of its numbers and the sorted list of its names.
  static std::pair<int64_t, std::vector<DimId>> factors(const Shape& shape) {
    int64_t product = 1;
    std::vector<DimId> names;
    for (const Dim dim : shape) {
      if (dim.named()) {
        names.push_back(dim.symbol);
      } else if (__builtin_mul_overflow(product, dim.fixed, &product)) {
        product = 0;  // never equal to a valid shape's product
      }
    }
    std::sort(names.begin(), names.end());
    return {product, names};
  }

  Result<TensorType> reshape() const {
    const auto want = factors(attributes_.shape);
    if (want != factors(shape(0)) || want.first <= 0) {
      return wrong(fmt::format("as many elements as {}", to_text(attributes_.shape, dims_)));
    }
    return TensorType{inputs_[0].dtype, attributes_.shape};
  }

  Result<TensorType> permute() const {
    std::vector<int64_t> sorted = attributes_.order;
    std::sort(sorted.begin(), sorted.end());
    TensorType result{inputs_[0].dtype, {}};
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (sorted.size() != shape(0).size() || sorted[i] != static_cast<int64_t>(i)) {
        break;
      }
      result.shape.push_back(shape(0)[static_cast<size_t>(attributes_.order[i])]);
    }
    if (result.shape.size() != shape(0).size()) {
      return wrong(fmt::format("an order of {} axes, each once", shape(0).size()));
    }
    return result;
  }

  Result<TensorType> expand() const {
    const Shape& to = attributes_.shape;
    bool fits = to.size() == shape(0).size();
    for (size_t i = 0; i < to.size() && fits; ++i) {
      fits = to[i] == shape(0)[i] || shape(0)[i] == Dim(1);
    }
    if (!fits) {
      return wrong(fmt::format("extents that are 1 or those of {}", to_text(to, dims_)));
    }
    return TensorType{inputs_[0].dtype, to};
  }

  OpKind kind_;
  std::span<const TensorType> inputs_;
  const Attributes& attributes_;
  std::span<const std::string> dims_;
};

}  // namespace

Result<TensorType> infer(OpKind kind,
                         std::span<const TensorType> inputs,
                         const Attributes& attributes,
                         std::span<const std::string> dims) {
  return Inference(kind, inputs, attributes, dims).run();
}

}  // namespace orrery::graph
