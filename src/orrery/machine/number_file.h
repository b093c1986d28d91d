// Number files: TOML whose every number carries its unit, source and date; machines and libraries
// are such files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/machine/leaves.h"
#include "orrery/machine/machine.h"

namespace orrery::machine {

// A number file holds three kinds of leaves, each under a dotted key:
//
//     id = "h200-sxm"                                                        a text
//     aliases = ["h200"]                                                     a list of texts
//     l2.capacity = { value = 60, unit = "MB", source = "measured",
//                     note = "cudaDeviceProp.l2CacheSize", date = 2026-08-21 }   a number
//
// Whoever reads it asks for keys by name and unit. Mistakes are collected, not thrown at the first:
// `finish` reports every one of them, and every key that nobody asked for, so a misspelt key cannot
// be overlooked: it comes first, with the key that was asked for in vain and looks like it.

/// What a number may be measured in; the accepted spellings of each stand in number_file.cpp.
enum class Unit {
  One,
  Bytes,
  BytesPerSecond,
  Hertz,
  Cycles,
  BytesPerCycle,
  FlopsPerCycle,
  Seconds
};

/// Which values make sense.
enum class Range { Positive, NotNegative, Count };  // > 0; >= 0; a whole number > 0

/// The value of `number` in base units (bytes, seconds, hertz, FLOP, clocks); none if its unit is
/// unknown.
std::optional<double> in_base_units(const Number& number);

class NumberFile {
 public:
  /// Errors: not TOML (with line and column), or leaves that are not of the three kinds (all of
  /// them).
  static Result<NumberFile> parse(std::string_view toml, std::string_view origin);

  /// The value of `key` in base units (bytes, seconds, hertz, FLOP, clocks); 0 after a mistake,
  /// which is remembered.
  double number(std::string_view key, Unit unit, Range range = Range::Positive);
  /// The same, but `otherwise` if the key is absent.
  double number_or(std::string_view key,
                   Unit unit,
                   double otherwise,
                   Range range = Range::Positive);
  std::string text(std::string_view key);
  std::string text_or(std::string_view key, std::string_view otherwise);
  std::vector<std::string> list(std::string_view key);
  std::vector<std::string> list_or_empty(std::string_view key);

  bool has(std::string_view key) const;
  /// The number as written; null if there is none of this key.
  const Number* find(std::string_view key) const;
  /// Adds a number that the file does not have, as if it were written at its end.
  void add(Number number);
  /// Whether any key begins with `prefix` + ".".
  bool has_under(std::string_view prefix) const;
  /// The last part of every key that begins with `prefix` + ".", sorted.
  std::vector<std::string> keys_under(std::string_view prefix) const;
  /// Remembers a mistake found by the reader: `key` and what is wrong with it.
  void complain(std::string_view key, std::string_view what);
  /// Whether the file has `key` and no mistake in it was found so far: what follows from it counts.
  bool sound(std::string_view key) const;

  /// How many keys were asked for that have to be there and are not.
  size_t missing() const { return missing_.size(); }

  /// Adds a sentence to the error, if there is one: what would help.
  void advise(std::string advice) { advice_ = std::move(advice); }

  /// Success, or one error that lists every mistake and every key never asked for (the first 100).
  Result<void> finish(std::string_view module) const;

  /// Every number as written, in file order.
  const std::vector<Number>& numbers() const& { return numbers_; }

  std::vector<Number> numbers() && { return std::move(numbers_); }

  const std::string& origin() const { return origin_; }

 private:
  struct Entry {
    size_t line = 0;  // 0: not in the text
    bool used = false;
    /// The index of a number; a text; a list.
    std::variant<std::monostate, size_t, std::string, std::vector<std::string>> content;
  };

  void place(Leaf leaf);
  /// The content of `key` if it is of that kind; `use` also remembers that it was asked for.
  template <class T>
  const T* content(std::string_view key) const;
  template <class T>
  const T* use(std::string_view key);
  /// Complains of `key`: `what` if it is there, that it is missing if not.
  void demand(std::string_view key, std::string_view what);
  /// Where `key` stands: "h200-sxm.toml:12", or the file.
  std::string where(std::string_view key) const;
  /// Keys that nobody asked for; takes those for which one of them stands out of `missing`.
  std::vector<std::string> unknown_keys(std::vector<std::string>& missing) const;

  std::string origin_;
  std::vector<Number> numbers_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<std::string> mistakes_;
  std::set<std::string, std::less<>> wrong_;  // keys with mistakes
  std::vector<std::string> missing_;          // keys asked for in vain that have to be there
  std::vector<std::string> left_out_;         // those that need not
  std::string advice_;
};

}  // namespace orrery::machine
