// Lines, trimming, exact numbers, and "did you mean".
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace orrery {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

bool starts_with_hex(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

}  // namespace

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != parts.data()) {
      joined += separator;
    }
    joined += part;
  }
  return joined;
}

namespace {

/// Of the sequence that a byte begins; 0: none begins so.
std::size_t length_after(unsigned first) {
  return first < 0x80   ? 1
         : first < 0xC2 ? 0
         : first < 0xE0 ? 2
         : first < 0xF0 ? 3
         : first < 0xF5 ? 4
                        : 0;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = length_after(first);
  if (length > text.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return 0;
    }
  }
  const bool too_short = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return too_short || beyond ? 0 : length;
}

bool is_control(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  return first < 0x20 || first == 0x7F ||
         (first == 0xC2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xA0);
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const bool plain = length > 0 && (!is_control(text) || text[0] == '\n' || text[0] == '\t');
    const std::string_view letter = text.substr(0, length == 0 ? 1 : length);
    if (plain) {
      shown += letter;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter.back()));
    }
    text.remove_prefix(letter.size());
  }
  return shown;
}

std::string to_lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return lower;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances from the first i letters of a to every prefix of b.
  std::vector<std::size_t> before_previous(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    current[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_previous, previous);
    std::swap(previous, current);
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_previous[j - 2] + 1);
      }
    }
  }
  return current[b.size()];
}

std::vector<std::string> closest_names(std::string_view name,
                                       std::span<const std::string> candidates,
                                       std::size_t limit) {
  constexpr std::size_t kLongestName = 100;  // nobody mistypes a novel; bounds the time
  if (name.size() > kLongestName) {
    return {};
  }
  const std::string wanted = to_lower(name);
  const std::size_t reach = std::max<std::size_t>(wanted.size() < 4 ? 1 : 2, wanted.size() / 3);
  std::vector<std::pair<std::size_t, const std::string*>> near;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > wanted.size() + reach) {
      continue;
    }
    const std::size_t distance = edit_distance(wanted, to_lower(candidate));
    if (distance <= reach) {
      near.emplace_back(distance, &candidate);
    }
  }
  std::sort(near.begin(), near.end());  // ties by address: the order given
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(limit, near.size()); ++i) {
    names.push_back(*near[i].second);
  }
  return names;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::vector<std::string> names = closest_names(name, candidates);
  if (names.empty()) {
    return {};
  }
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) {
      text += i + 1 == names.size() ? " or " : ", ";
    }
    text += '\'' + names[i] + '\'';
  }
  return text + '?';
}

std::string format_double_exact(double value) {
  std::array<char, 32> buffer{};
  const auto [end, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  ORR_CHECK(status == std::errc{}) << "the shortest form of a double has at most 24 letters";
  return {buffer.data(), end};
}

std::optional<double> parse_double(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  auto format = std::chars_format::general;
  if (starts_with_hex(text)) {
    text.remove_prefix(2);
    format = std::chars_format::hex;
  }
  if (text.empty() || text.front() == '-') {
    return std::nullopt;
  }
  double value = 0.0;
  const char* const last = text.data() + text.size();
  const auto [end, status] = std::from_chars(text.data(), last, value, format);
  if (end != last || status != std::errc{}) {
    return std::nullopt;
  }
  return negative ? -value : value;
}

}  // namespace orrery
