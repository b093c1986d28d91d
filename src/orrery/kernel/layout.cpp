// Layouts: counting, addressing and comparing the digits of a fragment.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/layout.h"

#include <algorithm>
#include <limits>

#include "orrery/base/check.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// Products and sums that stop at the largest value: a layout read from a file may hold any digits.
int64_t saturating_mul(int64_t x, int64_t y) {
  int64_t product = 0;
  return __builtin_mul_overflow(x, y, &product) ? kMost : product;
}

int64_t saturating_add(int64_t x, int64_t y) {
  int64_t sum = 0;
  return __builtin_add_overflow(x, y, &sum) ? kMost : sum;
}

// Does this digit move the element along `axis`? One of extent 1 never moves.
bool moves_along(const Digit& digit, AxisId axis) {
  return digit.extent != 1 && digit.axis == axis;
}

// Walks the digits of one place in their simplest form: digits of extent 1 left out, neighbours
// that count on (2:n*1 4:n*2 is 8:n*1, 4:_ 8:_ is 32:_) joined, axes that are not kept dropped.
class Simplified {
 public:
  Simplified(const FragmentLayout& layout, Place place, const std::vector<AxisId>* kept)
      : layout_(layout), place_(place), kept_(kept) {}

  std::optional<Digit> next() {
    std::optional<Digit> joined = take();
    while (joined) {
      const size_t before = at_;
      const std::optional<Digit> following = take();
      if (!following) break;
      if (following->axis != joined->axis ||
          following->stride != saturating_mul(joined->stride, joined->extent)) {
        at_ = before;
        break;
      }
      joined->extent = saturating_mul(joined->extent, following->extent);
    }
    return joined;
  }

 private:
  std::optional<Digit> take() {
    while (at_ < layout_.digits.size()) {
      Digit digit = layout_.digits[at_++];
      if (digit.place != place_ || digit.extent == 1) continue;
      if (digit.axis && kept_ != nullptr &&
          std::ranges::find(*kept_, *digit.axis) == kept_->end()) {
        if (place_ == Place::Register) continue;
        digit.axis.reset();
      }
      if (!digit.axis) digit.stride = 0;
      return digit;
    }
    return std::nullopt;
  }

  const FragmentLayout& layout_;
  Place place_;
  const std::vector<AxisId>* kept_;
  size_t at_ = 0;
};

bool same_place(Simplified x, Simplified y) {
  while (true) {
    const std::optional<Digit> a = x.next();
    const std::optional<Digit> b = y.next();
    if (a != b) return false;
    if (!a) return true;
  }
}

bool same_holders(const FragmentLayout& x,
                  const FragmentLayout& y,
                  const std::vector<AxisId>* kept) {
  for (const Place place : {Place::Register, Place::Lane, Place::Warp}) {
    if (!same_place(Simplified(x, place, nullptr), Simplified(y, place, kept))) return false;
  }
  return true;
}

// Do the digits along one axis count 0 .. extent - 1, each once?
bool counts(const FragmentLayout& layout, const AxisSpan& span) {
  const auto moving = std::ranges::count_if(
      layout.digits, [&](const Digit& digit) { return moves_along(digit, span.axis); });
  int64_t reached = 1;
  for (int64_t used = 0; used < moving; ++used) {
    const auto next = std::ranges::find_if(layout.digits, [&](const Digit& digit) {
      return moves_along(digit, span.axis) && digit.stride == reached;
    });
    if (next == layout.digits.end()) return false;
    reached = saturating_mul(reached, next->extent);
  }
  return reached == span.extent;
}

}  // namespace

int64_t FragmentLayout::count(Place place) const {
  int64_t product = 1;
  for (const Digit& digit : digits) {
    if (digit.place == place) product = saturating_mul(product, digit.extent);
  }
  return product;
}

int64_t FragmentLayout::offset(AxisId axis, Holder h) const {
  int64_t sum = 0;
  for (const Digit& digit : digits) {
    ORR_CHECK(digit.extent > 0) << "a digit of extent " << digit.extent;
    int64_t& rest = digit.place == Place::Register ? h.reg
                    : digit.place == Place::Lane   ? h.lane
                                                   : h.warp;
    if (digit.axis == axis) {
      sum = saturating_add(sum, saturating_mul(rest % digit.extent, digit.stride));
    }
    rest /= digit.extent;
  }
  return sum;
}

int64_t FragmentLayout::span(AxisId axis) const {
  int64_t last = 0;
  for (const Digit& digit : digits) {
    if (digit.axis == axis) {
      last = saturating_add(last, saturating_mul(digit.extent - 1, digit.stride));
    }
  }
  return saturating_add(last, 1);
}

FragmentLayout without_axis(const FragmentLayout& layout, AxisId axis) {
  FragmentLayout rest;
  for (Digit digit : layout.digits) {
    if (digit.axis == axis) {
      if (digit.place == Place::Register) continue;
      digit.axis.reset();
      digit.stride = 0;
    }
    rest.digits.push_back(digit);
  }
  return rest;
}

bool same_holders(const FragmentLayout& x, const FragmentLayout& y) {
  return same_holders(x, y, nullptr);
}

bool is_projection(const FragmentLayout& narrow,
                   const FragmentLayout& wide,
                   const std::vector<AxisId>& axes) {
  return same_holders(narrow, wide, &axes);
}

bool covers(const FragmentLayout& layout, const std::vector<AxisSpan>& axes) {
  for (const Digit& digit : layout.digits) {
    if (digit.extent < 1) return false;
    if (digit.axis && std::ranges::find(axes, *digit.axis, &AxisSpan::axis) == axes.end()) {
      return false;
    }
  }
  return std::ranges::all_of(axes, [&](const AxisSpan& span) { return counts(layout, span); });
}

}  // namespace orrery::kernel
