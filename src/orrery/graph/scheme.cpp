// Names and shapes of scales.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/scheme.h"

#include <algorithm>
#include <array>

#include "orrery/base/check.h"

namespace orrery::graph {

namespace {

struct Named {
  Scheme scheme;
  std::string_view name;
};

constexpr std::array kNames = {
    Named{Scheme::None, "none"},
    Named{Scheme::Tensor, "tensor"},
    Named{Scheme::Channel, "channel"},
    Named{Scheme::Block, "block"},
    Named{Scheme::Group, "group"},
    Named{Scheme::Mx, "mx"},
    Named{Scheme::Nv, "nv"},
};

int64_t parts(int64_t whole, int64_t part) {
  return (whole + part - 1) / part;
}

}  // namespace

std::string_view name(Scheme scheme) {
  const auto found = std::find_if(
      kNames.begin(), kNames.end(), [scheme](const Named& each) { return each.scheme == scheme; });
  ORR_CHECK(found != kNames.end()) << "a scheme without a name";
  return found->name;
}

std::optional<Scheme> find_scheme(std::string_view name) {
  const auto found = std::find_if(
      kNames.begin(), kNames.end(), [name](const Named& each) { return each.name == name; });
  return found == kNames.end() ? std::nullopt : std::optional(found->scheme);
}

ScaleShape scale_shape(const Precision& precision, int64_t n, int64_t k) {
  constexpr int64_t kBlock = 128;
  constexpr int64_t kMx = 32;
  constexpr int64_t kNv = 16;
  switch (precision.scheme) {
    case Scheme::None:
    case Scheme::Tensor:
      return {1, 1};
    case Scheme::Channel:
      return {n, 1};
    case Scheme::Block:
      return {parts(n, kBlock), parts(k, kBlock)};
    case Scheme::Group:
      return {n, parts(k, std::max<int64_t>(precision.group, 1))};
    case Scheme::Mx:
      return {n, parts(k, kMx)};
    case Scheme::Nv:
      return {n, parts(k, kNv)};
  }
  ORR_UNREACHABLE();
}

DType scale_type(const Precision& precision) {
  switch (precision.scheme) {
    case Scheme::None:
    case Scheme::Tensor:
    case Scheme::Channel:
    case Scheme::Block:
      return DType::F32;
    case Scheme::Group:
      return precision.activations;
    case Scheme::Mx:
      return DType::I8;  // an exponent of eight bits
    case Scheme::Nv:
      return DType::F8E4M3;
  }
  ORR_UNREACHABLE();
}

}  // namespace orrery::graph
