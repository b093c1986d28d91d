// Layout digits as C++ index arithmetic: see index.h.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <vector>

#include "orrery/emit/index.h"

namespace orrery::emit {
namespace {

using kernel::AxisId;
using kernel::Digit;
using kernel::FragmentLayout;
using kernel::Place;

/// A digit with the weight of its place: value = coordinate / weight % extent.
struct Placed {
  Digit digit;
  int64_t weight = 1;
  bool top = false;  // the last of its place: no remainder to take
};

std::vector<Placed> placed(const FragmentLayout& layout, Place place) {
  std::vector<Placed> digits;
  int64_t weight = 1;
  for (const Digit& digit : layout.digits) {
    if (digit.place != place) continue;
    digits.push_back({digit, weight, false});
    weight *= digit.extent;
  }
  if (!digits.empty()) digits.back().top = true;
  return digits;
}

std::string digit_text(const Placed& p, std::string_view variable) {
  std::string text(variable);
  if (p.weight > 1) text += fmt::format(" / {}", p.weight);
  if (!p.top) text += fmt::format(" % {}", p.digit.extent);
  return text;
}

std::string joined(const std::vector<std::string>& terms) {
  if (terms.empty()) return "0";
  std::string text = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) text += " + " + terms[i];
  return terms.size() > 1 ? "(" + text + ")" : text;
}

/// The register of `to` for offsets along `axes` that registers reach, as a number.
int64_t register_at(const FragmentLayout& from, const FragmentLayout& to, int64_t reg) {
  int64_t result = 0;
  for (const Placed& p : placed(to, Place::Register)) {
    if (!p.digit.axis) continue;
    const int64_t along = offset_of(from, *p.digit.axis, Place::Register, reg);
    result += along / p.digit.stride % p.digit.extent * p.weight;
  }
  return result;
}

/// Do both layouts agree for every register, every lane and every warp?
bool agree(const FragmentLayout& from, const FragmentLayout& to, const std::vector<AxisId>& axes) {
  for (const AxisId axis : axes) {
    for (int64_t r = 0; r < from.count(Place::Register); ++r) {
      if (offset_of(from, axis, Place::Register, r) !=
          offset_of(to, axis, Place::Register, register_at(from, to, r))) {
        return false;
      }
    }
    for (const Place place : {Place::Lane, Place::Warp}) {
      for (int64_t v = 0; v < from.count(place); ++v) {
        if (offset_of(from, axis, place, v) != offset_of(to, axis, place, v)) return false;
      }
    }
  }
  return true;
}

}  // namespace

int64_t offset_of(const FragmentLayout& layout, AxisId axis, Place place, int64_t value) {
  int64_t offset = 0;
  for (const Placed& p : placed(layout, place)) {
    if (p.digit.axis == axis) offset += value / p.weight % p.digit.extent * p.digit.stride;
  }
  return offset;
}

std::string offset_text(const FragmentLayout& layout,
                        AxisId axis,
                        Place place,
                        std::string_view variable) {
  std::vector<std::string> terms;
  for (const Placed& p : placed(layout, place)) {
    if (p.digit.axis != axis) continue;
    std::string text = digit_text(p, variable);
    if (p.digit.stride != 1) text += fmt::format(" * {}", p.digit.stride);
    terms.push_back(std::move(text));
  }
  return joined(terms);
}

std::optional<std::string> register_text(const FragmentLayout& from,
                                         const FragmentLayout& to,
                                         const std::vector<AxisId>& axes,
                                         std::string_view variable) {
  if (from == to) return std::string(variable);
  if (!agree(from, to, axes)) return std::nullopt;
  std::vector<std::string> terms;
  for (const Placed& p : placed(to, Place::Register)) {
    if (!p.digit.axis || p.digit.extent == 1) continue;
    std::string text = offset_text(from, *p.digit.axis, Place::Register, variable);
    if (p.digit.stride > 1) text += fmt::format(" / {}", p.digit.stride);
    text = fmt::format("({}) % {}", text, p.digit.extent);
    if (p.weight > 1) text += fmt::format(" * {}", p.weight);
    terms.push_back(std::move(text));
  }
  return joined(terms);
}

int64_t run_along(const FragmentLayout& layout, AxisId axis, int64_t limit) {
  int64_t run = 1;
  for (const Digit& digit : layout.digits) {
    if (digit.place != Place::Register) continue;
    if (digit.axis != axis || digit.stride != run) break;
    run *= digit.extent;
  }
  // Neighbouring vectors must not overlap, so the run is cut to a power of two that divides it.
  int64_t power = 1;
  while (power * 2 <= limit && run % (power * 2) == 0) power *= 2;
  return power;
}

std::string first_replica_text(const FragmentLayout& layout,
                               Place place,
                               std::string_view variable) {
  std::string text;
  for (const Placed& p : placed(layout, place)) {
    if (p.digit.axis || p.digit.extent == 1) continue;
    if (!text.empty()) text += " && ";
    text += fmt::format("{} == 0", digit_text(p, variable));
  }
  return text;
}

}  // namespace orrery::emit
