// Small tools for text: lines, trimming, exact numbers, and "did you mean".
// SPDX-License-Identifier: Apache-2.0
//
// Views returned here point into the argument. The tokenizer for our text forms is scanner.h,
// which this header includes.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/scanner.h"

namespace orrery {

// Lines without their "\n" or "\r\n"; a final newline does not begin another line.
std::vector<std::string_view> split_lines(std::string_view text);

// The parts between separators; "a,,b" has three, "" has one.
std::vector<std::string_view> split(std::string_view text, char separator);

// Without spaces, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

std::string join(std::span<const std::string> parts, std::string_view separator);

// Length of the UTF-8 sequence that begins `text`, which is not empty; 0 if it is none (RFC 3629).
std::size_t utf8_length(std::string_view text);

// Does `text` begin with a control character: one below a space, the one of 127, or one of U+0080
// to U+009F, whose last byte is its number?
bool is_control(std::string_view text);

// What a terminal shows as it stands: control characters other than line ends and tabs, and bytes
// that are no UTF-8, become "\x1b".
std::string printable(std::string_view text);

// ASCII only.
std::string to_lower(std::string_view text);

// Smallest number of insertions, deletions, replacements and swaps of neighbours that turn one
// into the other. Time and memory are O(|a| * |b|).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The candidates that a typist may have meant, nearest first, ties in the order given: at most
// `limit`, each within a third of the name's length (at least 1, and 2 from four letters on). Case
// is ignored.
std::vector<std::string> closest_names(std::string_view name,
                                       std::span<const std::string> candidates,
                                       std::size_t limit = 3);

// "; did you mean 'h200' or 'h100'?" to end a message with, or "" if nothing is near.
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

// The shortest decimal that reads back as the same double: "0.1", "1e+22", "inf", "nan".
std::string format_double_exact(double value);

// Reads the whole of `text` as a number (decimal, exponent, hex float, inf, nan, sign), or nothing.
std::optional<double> parse_double(std::string_view text);

}  // namespace orrery
