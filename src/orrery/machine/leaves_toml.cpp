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
    fail("got no number as value, need one");
  } else if (!std::isfinite(*value)) {
    fail(fmt::format("got value {}, need a finite number", *value));
  }
  number.value = value.value_or(0.0);
  number.unit = table["unit"].value_or(std::string());
  number.note = table["note"].value_or(std::string());
  const auto source = parse_source(table["source"].value_or(std::string_view()));
  if (number.unit.empty()) {
    fail("got no unit, need one");
  }
  if (!source) {
    fail(fmt::format("got source '{}', need datasheet, measured, derived, fitted or assumed",
                     table["source"].value_or(std::string_view())));
  }
  number.source = source.value_or(Source::Assumed);
  number.date = table["date"] ? date_of(*table["date"].node()) : "";
  if (number.date.empty()) {
    fail("got no date, need date = YYYY-MM-DD");
  }
  for (const auto& [name, node] : table) {
    if (name != "value" && name != "unit" && name != "source" && name != "note" && name != "date") {
      fail(fmt::format("got a field '{}', need value, unit, source, note, date", name.str()));
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
    leaf.mistake =
        "got another kind of value, need { value, unit, source, note, date }, a text or a list of "
        "texts";
  }
  return leaf;
}

/// The last letter of the string that begins at `first`; the end of the line or of the text where
/// it does not end, which the reader refuses.
size_t end_of_string(std::string_view text, size_t first) {
  const char quote = text[first];
  const std::string ends(3, quote);
  const bool long_form = text.substr(first, ends.size()) == ends;
  size_t at = first + (long_form ? ends.size() : 1);
  for (; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (long_form && text.substr(at, ends.size()) == ends) {
      at += ends.size() - 1;
      for (int more = 0; more < 2 && at + 1 < text.size() && text[at + 1] == quote; ++more) {
        ++at;  // the string's own last quotes
      }
      return at;
    } else if (!long_form && (text[at] == quote || text[at] == '\n')) {
      return text[at] == quote ? at : at - 1;
    }
  }
  return text.size();
}

bool goes_on(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '-' || c == ' ' || c == '\t' || c == '.';
}

/// The reader goes as deep as keys have parts and brackets stand in one another.
constexpr size_t kMostBrackets = 8;

/// The first line that is deeper than a number file may be, counted from 1; 0: none.
size_t deep_line(std::string_view text) {
  size_t line = 1;
  size_t dots = 0;
  size_t open = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' || c == '\'') {
      const size_t first = at;
      at = end_of_string(text, at);
      const std::string_view string = text.substr(first, at - first);
      line += static_cast<size_t>(std::count(string.begin(), string.end(), '\n'));
      continue;
    }
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
      continue;
    }
    line += c == '\n' ? 1 : 0;
    dots = goes_on(c) ? dots + (c == '.' ? 1 : 0) : 0;
    open += c == '[' || c == '{' ? 1 : 0;
    open -= (c == ']' || c == '}') && open > 0 ? 1 : 0;
    if (dots >= kMostParts || open > kMostBrackets) {
      return line;
    }
  }
  return 0;
}

}  // namespace

Result<std::vector<Leaf>> read_toml(std::string_view text, std::string_view origin) {
  if (const size_t line = deep_line(text); line > 0) {
    return make_error(ErrorCode::ParseError,
                      "[machine.number_file] depth: got a key of more than {} parts or more than "
                      "{} brackets in one another, need fewer ({}:{})",
                      kMostParts,
                      kMostBrackets,
                      origin,
                      line);
  }
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return make_error(ErrorCode::ParseError,
                      "[machine.number_file] syntax: got what is not TOML ({}), need TOML "
                      "({}:{}:{})",
                      error.description(),
                      origin,
                      error.source().begin.line,
                      error.source().begin.column);
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
