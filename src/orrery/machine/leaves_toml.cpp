// Reads number files by toml++: any form, with the place and the nature of every mistake.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/machine/leaves.h"

namespace orrery::machine {
namespace {

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

// One leaf of the file.
struct Node {
  std::string key;
  const toml::node* node;
};

void collect(const toml::table& table, const std::string& prefix, std::vector<Node>& nodes) {
  for (const auto& [name, node] : table) {
    const std::string key =
        prefix.empty() ? std::string(name.str()) : prefix + "." + std::string(name.str());
    const auto* inner = node.as_table();
    if (inner != nullptr && !inner->contains("value") && !inner->get_as<std::string>("unit")) {
      collect(*inner, key, nodes);
    } else {
      nodes.push_back({key, &node});
    }
  }
}

bool before(const Node& a, const Node& b) {
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

Leaf leaf_of(const Node& from) {
  Leaf leaf{.key = from.key, .line = from.node->source().begin.line, .content = {}};
  if (const auto* table = from.node->as_table()) {
    leaf.content = read_number(from.key, *table, leaf.mistake);
  } else if (const auto text = from.node->value<std::string>(); text && from.node->is_string()) {
    leaf.content = *text;
  } else if (auto list = from.node->is_array() ? read_list(*from.node->as_array()) : std::nullopt) {
    leaf.content = *std::move(list);
  } else {
    leaf.mistake = "need { value, unit, source, note, date }, a text or a list of texts";
  }
  return leaf;
}

/// The reader goes as deep as keys have parts.
constexpr size_t kMostParts = 1000;

/// The first line with more dots than that, counted from 1; 0: none.
size_t deep_line(std::string_view text) {
  size_t line = 1;
  size_t dots = 0;
  for (const char c : text) {
    dots += c == '.' ? 1 : 0;
    if (dots > kMostParts) {
      return line;
    }
    if (c == '\n') {
      ++line;
      dots = 0;
    }
  }
  return 0;
}

}  // namespace

Result<std::vector<Leaf>> read_toml(std::string_view text, std::string_view origin) {
  if (const size_t line = deep_line(text); line > 0) {
    return make_error(ErrorCode::ParseError,
                      "[machine.number_file] {}:{}: got a key of over {} parts, need fewer",
                      origin,
                      line,
                      kMostParts);
  }
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return make_error(ErrorCode::ParseError,
                      "[machine.number_file] {}:{}:{}: {}",
                      origin,
                      error.source().begin.line,
                      error.source().begin.column,
                      error.description());
  }
  std::vector<Node> nodes;
  collect(root, "", nodes);
  std::sort(nodes.begin(), nodes.end(), before);
  std::vector<Leaf> leaves;
  leaves.reserve(nodes.size());
  for (const Node& node : nodes) {
    leaves.push_back(leaf_of(node));
  }
  return leaves;
}

}  // namespace orrery::machine
