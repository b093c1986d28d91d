// Number files: leaves by key, and checking units and ranges.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/number_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "orrery/base/text.h"

namespace orrery::machine {
namespace {

struct Spelling {
  Unit unit;
  std::string_view text;
  double scale;
};

constexpr Spelling kSpellings[] = {
    {Unit::One, "1", 1},
    {Unit::Bytes, "B", 1},
    {Unit::Bytes, "KB", 1e3},
    {Unit::Bytes, "MB", 1e6},
    {Unit::Bytes, "GB", 1e9},
    {Unit::Bytes, "KiB", 1024.0},
    {Unit::Bytes, "MiB", 1048576.0},
    {Unit::Bytes, "GiB", 1073741824.0},
    {Unit::BytesPerSecond, "B/s", 1},
    {Unit::BytesPerSecond, "GB/s", 1e9},
    {Unit::BytesPerSecond, "TB/s", 1e12},
    {Unit::Hertz, "MHz", 1e6},
    {Unit::Hertz, "GHz", 1e9},
    {Unit::Cycles, "clk", 1},
    {Unit::BytesPerCycle, "B/clk", 1},
    {Unit::FlopsPerCycle, "FLOP/clk", 1},
    {Unit::Seconds, "ns", 1e-9},
    {Unit::Seconds, "us", 1e-6},
    {Unit::Seconds, "ms", 1e-3},
    {Unit::Seconds, "s", 1},
};

/// What a number of a unit can be at all, in base units: far beyond any hardware, near enough to
/// catch a slip of the pen before it becomes a time of no meaning.
struct Span {
  double least;
  double most;
};

Span sensible(Unit unit) {
  switch (unit) {
    case Unit::One:
      return {1e-6, 1e9};
    case Unit::Bytes:
      return {1, 1e18};
    case Unit::BytesPerSecond:
      return {1e6, 1e18};
    case Unit::Hertz:
      return {1e6, 1e12};
    case Unit::Cycles:
    case Unit::BytesPerCycle:
    case Unit::FlopsPerCycle:
      return {1e-3, 1e9};
    case Unit::Seconds:
      return {1e-12, 1e3};
  }
  ORR_UNREACHABLE();
}

std::string accepted(Unit unit) {
  std::string all;
  for (const auto& spelling : kSpellings) {
    if (spelling.unit == unit) {
      all += (all.empty() ? "" : ", ") + std::string(spelling.text);
    }
  }
  return all;
}

/// Of a file without most of its numbers the rest of them says no more; a machine file has some 90.
constexpr size_t kMostShown = 100;

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, "\n  "));
}

}  // namespace

std::string_view name(Source source) {
  switch (source) {
    case Source::Datasheet:
      return "datasheet";
    case Source::Measured:
      return "measured";
    case Source::Derived:
      return "derived";
    case Source::Fitted:
      return "fitted";
    case Source::Assumed:
      return "assumed";
  }
  ORR_UNREACHABLE();
}

std::optional<double> in_base_units(const Number& number) {
  for (const auto& spelling : kSpellings) {
    if (spelling.text == number.unit) {
      return number.value * spelling.scale;
    }
  }
  return std::nullopt;
}

std::optional<Source> parse_source(std::string_view text) {
  for (const Source source :
       {Source::Datasheet, Source::Measured, Source::Derived, Source::Fitted, Source::Assumed}) {
    if (name(source) == text) {
      return source;
    }
  }
  return std::nullopt;
}

Result<NumberFile> NumberFile::parse(std::string_view toml, std::string_view origin) {
  std::optional<std::vector<Leaf>> leaves = read_plain(toml);
  if (!leaves) {
    ORR_TRY(leaves, read_toml(toml, origin));
  }
  NumberFile file;
  file.origin_ = origin;
  for (Leaf& leaf : *leaves) {
    file.place(std::move(leaf));
  }
  return file;
}

void NumberFile::place(Leaf leaf) {
  Entry entry{.line = leaf.line, .used = !leaf.mistake.empty(), .content = {}};
  if (auto* number = std::get_if<Number>(&leaf.content)) {
    entry.content = numbers_.size();
    numbers_.push_back(std::move(*number));
  } else if (auto* text = std::get_if<std::string>(&leaf.content)) {
    entry.content = std::move(*text);
  } else if (auto* list = std::get_if<std::vector<std::string>>(&leaf.content)) {
    entry.content = std::move(*list);
  }
  const auto placed = entries_.insert_or_assign(std::move(leaf.key), std::move(entry)).first;
  if (!leaf.mistake.empty()) {
    complain(placed->first, leaf.mistake);
  }
}

template <class T>
const T* NumberFile::content(std::string_view key) const {
  const auto at = entries_.find(key);
  return at == entries_.end() ? nullptr : std::get_if<T>(&at->second.content);
}

template <class T>
const T* NumberFile::use(std::string_view key) {
  const auto at = entries_.find(key);
  if (at == entries_.end()) {
    return nullptr;
  }
  at->second.used = true;
  return std::get_if<T>(&at->second.content);
}

double NumberFile::number(std::string_view key, Unit unit, Range range) {
  if (!has(key)) {
    missing_.emplace_back(key);
    return 0;
  }
  return number_or(key, unit, 0, range);
}

double NumberFile::number_or(std::string_view key, Unit unit, double otherwise, Range range) {
  const size_t* const index = use<size_t>(key);
  if (index == nullptr) {
    if (has(key)) {
      complain(key, "got no number, need { value, unit, source, note, date }");
    } else {
      left_out_.emplace_back(key);
    }
    return otherwise;
  }
  const Number& number = numbers_[*index];
  const auto* spelling =
      std::find_if(std::begin(kSpellings), std::end(kSpellings), [&](const Spelling& s) {
        return s.unit == unit && s.text == number.unit;
      });
  if (spelling == std::end(kSpellings)) {
    complain(key, fmt::format("got unit '{}', need one of: {}", number.unit, accepted(unit)));
    return 0;
  }
  const double value = number.value * spelling->scale;
  const Span span = sensible(unit);
  const bool zero = value == 0 && range == Range::NotNegative;
  const bool whole = range != Range::Count || value == std::floor(value);
  if (!zero && !(whole && value >= span.least && value <= span.most)) {
    complain(key,
             fmt::format("got {:g}, need {}{:g} to {:g} {}",
                         number.value,
                         range == Range::Count         ? "a whole number, "
                         : range == Range::NotNegative ? "0 or "
                                                       : "",
                         (range == Range::Count ? 1 : span.least) / spelling->scale,
                         span.most / spelling->scale,
                         number.unit));
    return 0;
  }
  return value;
}

void NumberFile::demand(std::string_view key, std::string_view what) {
  if (has(key)) {
    complain(key, what);
  } else {
    missing_.emplace_back(key);
  }
}

std::string NumberFile::text(std::string_view key) {
  const std::string* const text = use<std::string>(key);
  if (text == nullptr) {
    demand(key, "got another kind of value, need a text");
    return {};
  }
  return *text;
}

std::string NumberFile::text_or(std::string_view key, std::string_view otherwise) {
  return content<std::string>(key) == nullptr ? std::string(otherwise) : *use<std::string>(key);
}

std::vector<std::string> NumberFile::list(std::string_view key) {
  const auto* const list = use<std::vector<std::string>>(key);
  if (list == nullptr) {
    demand(key, "got another kind of value, need a list of texts");
    return {};
  }
  return *list;
}

std::vector<std::string> NumberFile::list_or_empty(std::string_view key) {
  using Texts = std::vector<std::string>;
  return content<Texts>(key) == nullptr ? Texts{} : *use<Texts>(key);
}

const Number* NumberFile::find(std::string_view key) const {
  const size_t* const index = content<size_t>(key);
  return index == nullptr ? nullptr : &numbers_[*index];
}

void NumberFile::add(Number number) {
  entries_.insert_or_assign(number.key,
                            Entry{.line = 0, .used = false, .content = numbers_.size()});
  numbers_.push_back(std::move(number));
}

bool NumberFile::has(std::string_view key) const {
  return entries_.find(key) != entries_.end();
}

bool NumberFile::has_under(std::string_view prefix) const {
  const std::string start = std::string(prefix) + ".";
  const auto at = entries_.lower_bound(start);
  return at != entries_.end() && at->first.starts_with(start);
}

std::vector<std::string> NumberFile::keys_under(std::string_view prefix) const {
  const std::string start = std::string(prefix) + ".";
  std::vector<std::string> parts;
  for (auto at = entries_.lower_bound(start); at != entries_.end() && at->first.starts_with(start);
       ++at) {
    const std::string& key = at->first;
    parts.push_back(key.substr(start.size(), key.find('.', start.size()) - start.size()));
  }
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

std::string NumberFile::where(std::string_view key) const {
  const auto at = entries_.find(key);
  if (at == entries_.end()) {
    return origin_;
  }
  return at->second.line == 0 ? "derived, " + origin_
                              : fmt::format("{}:{}", origin_, at->second.line);
}

void NumberFile::complain(std::string_view key, std::string_view what) {
  wrong_.emplace(key);
  mistakes_.push_back(fmt::format("{}: {} ({})", key, what, where(key)));
}

bool NumberFile::sound(std::string_view key) const {
  return has(key) && wrong_.find(key) == wrong_.end();
}

std::vector<std::string> NumberFile::unknown_keys(std::vector<std::string>& missing) const {
  std::vector<std::string> known = missing;
  known.insert(known.end(), left_out_.begin(), left_out_.end());
  std::vector<std::string> unknown;
  for (const auto& [key, entry] : entries_) {
    if (entry.used) {
      continue;
    }
    // What is not shown needs no thought.
    const std::vector<std::string> meant =
        unknown.size() < kMostShown ? closest_names(key, known, 1) : std::vector<std::string>{};
    unknown.push_back(fmt::format("{}: got an unknown key, need {}{} ({})",
                                  key,
                                  meant.empty() ? "none of this name" : "another",
                                  meant.empty() ? "" : did_you_mean(key, meant),
                                  where(key)));
    if (!meant.empty()) {
      std::erase(missing, meant.front());
    }
  }
  return unknown;
}

Result<void> NumberFile::finish(std::string_view module) const {
  std::vector<std::string> missing = missing_;
  std::vector<std::string> mistakes = unknown_keys(missing);
  mistakes.insert(mistakes.end(), mistakes_.begin(), mistakes_.end());
  for (const std::string& key : missing) {
    const bool alone = missing.size() == 1 && mistakes.empty();  // else a list names the file
    mistakes.push_back(
        fmt::format("{}: got none, need one{}", key, alone ? " (" + origin_ + ")" : ""));
  }
  const size_t count = mistakes.size();
  if (count == 0) {
    return {};
  }
  if (count > kMostShown) {
    mistakes.resize(kMostShown);
    mistakes.push_back(fmt::format("and {} more", count - kMostShown));
  }
  const std::string advice = advice_.empty() ? "" : "\n" + advice_;
  return count == 1 ? make_error(ErrorCode::InvalidInput, "[{}] {}{}", module, mistakes[0], advice)
                    : make_error(ErrorCode::InvalidInput,
                                 "[{}] {}: got {} mistakes, need none:\n  {}{}",
                                 module,
                                 origin_,
                                 count,
                                 joined(mistakes),
                                 advice);
}

}  // namespace orrery::machine
