// Number files: reading TOML into keyed numbers, and checking units and ranges.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/number_file.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

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

std::optional<Source> parse_source(std::string_view text) {
  for (const Source source :
       {Source::Datasheet, Source::Measured, Source::Derived, Source::Fitted, Source::Assumed}) {
    if (name(source) == text) {
      return source;
    }
  }
  return std::nullopt;
}

std::string position_of(const toml::node& node) {
  return fmt::format("line {}", node.source().begin.line);
}

std::string date_of(const toml::node& node) {
  const auto date = node.value<toml::date>();
  return date ? fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day) : "";
}

// Reads one number table; what is wrong with it goes to `wrong`, empty if nothing is.
Number read_number(const std::string& key, const toml::table& table, std::string& wrong) {
  Number number;
  number.key = key;
  const auto fail = [&](std::string_view what) {
    wrong += (wrong.empty() ? "" : "; ") + std::string(what);
  };
  const auto value = table["value"].value<double>();
  if (!value || table["value"].is_boolean()) {
    fail("value is no number");
  } else if (!std::isfinite(*value)) {
    fail(fmt::format("got value {}, need a finite number", *value));
  }
  number.value = value.value_or(0.0);
  number.unit = table["unit"].value_or(std::string());
  number.note = table["note"].value_or(std::string());
  const auto source = parse_source(table["source"].value_or(std::string_view()));
  if (number.unit.empty()) {
    fail("unit is missing");
  }
  if (!source) {
    fail(fmt::format("got source '{}', need datasheet, measured, derived, fitted or assumed",
                     table["source"].value_or(std::string_view())));
  }
  number.source = source.value_or(Source::Assumed);
  number.date = table["date"] ? date_of(*table["date"].node()) : "";
  if (number.date.empty()) {
    fail("date is missing, need date = YYYY-MM-DD");
  }
  for (const auto& [name, node] : table) {
    if (name != "value" && name != "unit" && name != "source" && name != "note" && name != "date") {
      fail(fmt::format("unknown field '{}'", name.str()));
    }
  }
  return number;
}

// One leaf of the file, in file order.
struct Leaf {
  std::string key;
  const toml::node* node;
};

void collect(const toml::table& table, const std::string& prefix, std::vector<Leaf>& leaves) {
  for (const auto& [name, node] : table) {
    const std::string key =
        prefix.empty() ? std::string(name.str()) : prefix + "." + std::string(name.str());
    const auto* inner = node.as_table();
    if (inner != nullptr && !inner->contains("value") && !inner->get_as<std::string>("unit")) {
      collect(*inner, key, leaves);
    } else {
      leaves.push_back({key, &node});
    }
  }
}

bool before(const Leaf& a, const Leaf& b) {
  const auto& x = a.node->source().begin;
  const auto& y = b.node->source().begin;
  return std::pair(x.line, x.column) < std::pair(y.line, y.column);
}

std::optional<std::vector<std::string>> read_list(const toml::array& array) {
  std::vector<std::string> list;
  for (const auto& node : array) {
    const auto text = node.value<std::string>();
    if (!text) {
      return std::nullopt;
    }
    list.push_back(*text);
  }
  return list;
}

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

Result<NumberFile> NumberFile::parse(std::string_view toml, std::string_view origin) {
  NumberFile file;
  file.origin_ = origin;
  toml::table root;
  try {
    root = toml::parse(toml);
  } catch (const toml::parse_error& error) {
    return make_error(ErrorCode::ParseError,
                      "[machine.number_file] {}:{}:{}: {}",
                      origin,
                      error.source().begin.line,
                      error.source().begin.column,
                      error.description());
  }
  std::vector<Leaf> leaves;
  collect(root, "", leaves);
  std::sort(leaves.begin(), leaves.end(), before);
  for (const auto& [key, node] : leaves) {
    file.positions_[key] = position_of(*node);
    if (const auto* table = node->as_table()) {
      std::string wrong;
      file.number_at_[key] = file.numbers_.size();
      file.numbers_.push_back(read_number(key, *table, wrong));
      if (!wrong.empty()) {
        file.used_.insert(key);
        file.complain(key, wrong);
      }
    } else if (const auto text = node->value<std::string>(); text && node->is_string()) {
      file.texts_[key] = *text;
    } else if (auto list = node->is_array() ? read_list(*node->as_array()) : std::nullopt) {
      file.lists_[key] = std::move(*list);
    } else {
      file.used_.insert(key);
      file.complain(key, "need { value, unit, source, note, date }, a text or a list of texts");
    }
  }
  return file;
}

double NumberFile::number(std::string_view key, Unit unit, Range range) {
  if (!has(key)) {
    complain(key, "is missing");
    return 0;
  }
  return number_or(key, unit, 0, range);
}

double NumberFile::number_or(std::string_view key, Unit unit, double otherwise, Range range) {
  const auto at = number_at_.find(key);
  if (at == number_at_.end()) {
    if (has(key)) {
      used_.insert(std::string(key));
      complain(key, "need a number { value, unit, source, note, date }");
    }
    return otherwise;
  }
  used_.insert(std::string(key));
  const Number& number = numbers_[at->second];
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

std::string NumberFile::text(std::string_view key) {
  if (texts_.find(key) == texts_.end()) {
    complain(key, has(key) ? "need a text" : "is missing");
    used_.insert(std::string(key));
    return {};
  }
  return text_or(key, "");
}

std::string NumberFile::text_or(std::string_view key, std::string_view otherwise) {
  const auto at = texts_.find(key);
  if (at == texts_.end()) {
    return std::string(otherwise);
  }
  used_.insert(std::string(key));
  return at->second;
}

std::vector<std::string> NumberFile::list(std::string_view key) {
  if (lists_.find(key) == lists_.end()) {
    complain(key, has(key) ? "need a list of texts" : "is missing");
    used_.insert(std::string(key));
  }
  return list_or_empty(key);
}

std::vector<std::string> NumberFile::list_or_empty(std::string_view key) {
  const auto at = lists_.find(key);
  if (at == lists_.end()) {
    return {};
  }
  used_.insert(std::string(key));
  return at->second;
}

const Number* NumberFile::find(std::string_view key) const {
  const auto at = number_at_.find(key);
  return at == number_at_.end() ? nullptr : &numbers_[at->second];
}

void NumberFile::add(Number number) {
  positions_[number.key] = "derived";
  number_at_[number.key] = numbers_.size();
  numbers_.push_back(std::move(number));
}

bool NumberFile::has(std::string_view key) const {
  return positions_.find(key) != positions_.end();
}

std::vector<std::string> NumberFile::keys_under(std::string_view prefix) const {
  const std::string start = std::string(prefix) + ".";
  std::set<std::string> parts;
  for (const auto& [key, position] : positions_) {
    if (key.starts_with(start)) {
      parts.insert(key.substr(start.size(), key.find('.', start.size()) - start.size()));
    }
  }
  return {parts.begin(), parts.end()};
}

void NumberFile::complain(std::string_view key, std::string_view what) {
  const auto at = positions_.find(key);
  mistakes_.push_back(at == positions_.end() ? fmt::format("{}: {}", key, what)
                                             : fmt::format("{} ({}): {}", key, at->second, what));
}

Result<void> NumberFile::finish(std::string_view module) const {
  std::vector<std::string> mistakes = mistakes_;
  for (const auto& [key, position] : positions_) {
    if (used_.find(key) == used_.end()) {
      mistakes.push_back(fmt::format("{} ({}): unknown key", key, position));
    }
  }
  if (mistakes.empty()) {
    return {};
  }
  return make_error(ErrorCode::InvalidInput,
                    "[{}] {}: {} mistake{}:\n  {}",
                    module,
                    origin_,
                    mistakes.size(),
                    mistakes.size() == 1 ? "" : "s",
                    joined(mistakes));
}

}  // namespace orrery::machine
