// Id<Tag>: an index into one vector that cannot be used for another.
// SPDX-License-Identifier: Apache-2.0
//
//   struct OpTag;
//   using OpId = Id<OpTag>;
//   const Op& op = ops[id.index()];
//
// IR nodes name each other by Id, never by pointer, so that a graph is a plain value: it copies,
// compares, hashes and prints. A default-constructed Id is "none".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "orrery/base/check.h"

namespace orrery {

template <class Tag>
class Id {
 public:
  constexpr Id() = default;

  constexpr explicit Id(std::uint32_t value) : value_(value) {}

  // The id of element `index` of a vector.
  static constexpr Id from_index(std::size_t index) {
    ORR_CHECK(index < kNone) << "index " << index << " needs more than 32 bits";
    return Id(static_cast<std::uint32_t>(index));
  }

  constexpr bool valid() const { return value_ != kNone; }

  constexpr std::uint32_t value() const { return value_; }

  // For v[id.index()]; it is a bug to ask "none" for its index.
  constexpr std::size_t index() const {
    ORR_CHECK(valid()) << "this id is none";
    return value_;
  }

  constexpr auto operator<=>(const Id&) const = default;

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t value_ = kNone;
};

}  // namespace orrery

template <class Tag>
struct std::hash<orrery::Id<Tag>> {
  std::size_t operator()(orrery::Id<Tag> id) const noexcept {
    return std::hash<std::uint32_t>{}(id.value());
  }
};
