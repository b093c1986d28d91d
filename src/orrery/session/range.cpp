// Expands lists and ranges.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/range.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <set>

#include "orrery/base/text.h"

namespace orrery::session {

namespace {

constexpr std::string_view kDots = "..";
constexpr int64_t kScale = 1000000;  // numbers are counted in millionths: decimals stay exact
constexpr int64_t kMostWhole = std::numeric_limits<int64_t>::max() / kScale / 2;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "12.5" in millionths; nothing for what is no such number. No sign, no exponent.
std::optional<int64_t> millionths(std::string_view text) {
  const size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  const std::string_view decimals = dot == std::string_view::npos ? "" : text.substr(dot + 1);
  const bool written = !whole.empty() && std::all_of(whole.begin(), whole.end(), is_digit) &&
                       std::all_of(decimals.begin(), decimals.end(), is_digit) &&
                       decimals.size() <= 6 && whole.size() <= 18 &&
                       (dot == std::string_view::npos || !decimals.empty());
  if (!written) {
    return std::nullopt;
  }
  int64_t value = 0;
  for (const char c : whole) {
    value = 10 * value + (c - '0');
  }
  if (value > kMostWhole) {
    return std::nullopt;
  }
  value *= kScale;
  int64_t unit = kScale;
  for (const char c : decimals) {
    unit /= 10;
    value += unit * (c - '0');
  }
  return value;
}

std::string written(int64_t value) {
  std::string text = fmt::format("{}", value / kScale);
  if (value % kScale != 0) {
    text += fmt::format(".{:06}", value % kScale);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

struct Range {
  int64_t first = 0;
  int64_t last = 0;
  int64_t step = kScale;  // added, or multiplied with
  bool multiplies = false;

  bool whole() const { return first % kScale == 0 && last % kScale == 0; }

  int64_t after(int64_t value) const {
    if (!multiplies) {
      return value + step;
    }
    const double next = static_cast<double>(value) * (static_cast<double>(step) / kScale);
    if (next > static_cast<double>(last)) {
      return last + 1;
    }
    const double unit = whole() ? kScale : 1;
    // At least one unit on, so that a factor near 1 arrives.
    return std::max(value + static_cast<int64_t>(unit),
                    static_cast<int64_t>(unit * std::round(next / unit)));
  }
};

Error wrong(std::string_view option, std::string_view part, std::string_view need) {
  return make_error(
      ErrorCode::InvalidInput, "[session.range] {}: got '{}', need {}", option, part, need);
}

Result<Range> parse_range(std::string_view option, std::string_view part) {
  const size_t dots = part.find(kDots);
  std::string_view end = part.substr(dots + kDots.size());
  Range range;
  const size_t mark = end.find_first_of("x+");
  if (mark != std::string_view::npos && mark > 0) {
    const auto step = millionths(end.substr(mark + 1));
    range.multiplies = end[mark] == 'x';
    const int64_t least = range.multiplies ? kScale : 0;
    if (!step || *step <= least) {
      return wrong(option,
                   part,
                   range.multiplies ? "a factor above 1, as in 1..256x2"
                                    : "a step above 0, as in 0..4096+1024");
    }
    range.step = *step;
    end = end.substr(0, mark);
  }
  const auto first = millionths(part.substr(0, dots));
  const auto last = millionths(end);
  if (!first || !last) {
    return wrong(option, part, "FIRST..LAST in numbers, then perhaps xFACTOR or +STEP");
  }
  if (*last < *first) {
    return wrong(option, part, "a last value that is not below the first");
  }
  if (range.multiplies && *first == 0) {
    return wrong(option, part, "a first value above 0 to multiply");
  }
  range.first = *first;
  range.last = *last;
  return range;
}

}  // namespace

bool has_values(std::string_view text) {
  return text.find(',') != std::string_view::npos || text.find(kDots) != std::string_view::npos;
}

Result<std::vector<std::string>> expand_values(std::string_view option,
                                               std::string_view text,
                                               size_t most) {
  std::vector<std::string> values;
  std::set<std::string, std::less<>> seen;
  const auto add = [&](std::string value) -> Result<void> {
    if (values.size() == most) {
      return make_error(ErrorCode::InvalidInput,
                        "[session.range] {}: got more than {} values, need a larger step",
                        option,
                        most);
    }
    if (!seen.insert(value).second) {
      return wrong(option, text, fmt::format("each value once ('{}' comes twice)", value));
    }
    values.push_back(std::move(value));
    return {};
  };
  for (const std::string_view part : split(text, ',')) {
    if (trim(part).empty()) {
      return wrong(option, text, "a value between the commas");
    }
    if (part.find(kDots) == std::string_view::npos) {
      ORR_TRY_VOID(add(std::string(trim(part))));
      continue;
    }
    ORR_TRY(const Range range, parse_range(option, trim(part)));
    for (int64_t value = range.first; value <= range.last; value = range.after(value)) {
      ORR_TRY_VOID(add(written(value)));
    }
  }
  return values;
}

}  // namespace orrery::session
