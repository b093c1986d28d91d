// JSON through nlohmann-json, converted to our tree.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "orrery/base/text.h"

namespace orrery::frontend {

namespace {

constexpr int kMostLevels = 64;

/// Builds our tree from the parser's events; refuses what nests too deep before it is built, and a
/// key that an object has already: of two values neither is the one that was meant.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return place({}); }

  bool boolean(bool value) override {
    Json node;
    node.kind = Json::Kind::Bool;
    node.boolean = value;
    return place(std::move(node));
  }

  bool number_integer(number_integer_t value) override {
    Json node;
    node.kind = Json::Kind::Integer;
    node.integer = value;
    node.decimal = static_cast<double>(value);
    return place(std::move(node));
  }

  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max())) {
      return number_integer(static_cast<int64_t>(value));
    }
    return number_float(static_cast<double>(value), {});
  }

  bool number_float(number_float_t value, const string_t& /*text*/) override {
    Json node;
    node.kind = Json::Kind::Decimal;
    node.decimal = value;
    return place(std::move(node));
  }

  bool string(string_t& value) override {
    Json node;
    node.kind = Json::Kind::String;
    node.string = std::move(value);
    return place(std::move(node));
  }

  bool binary(binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*size*/) override { return open(Json::Kind::Object); }

  bool key(string_t& value) override {
    keys_.back() = std::move(value);
    if (!seen_.back().insert(keys_.back()).second) {
      repeated_ = keys_.back();
      return false;
    }
    return true;
  }

  bool end_object() override { return close(); }

  bool start_array(std::size_t /*size*/) override { return open(Json::Kind::Array); }

  bool end_array() override { return close(); }

  bool parse_error(std::size_t position,
                   const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    position_ = position;
    return false;
  }

  Json take() { return std::move(root_); }

  /// Bytes read up to the error; none if the nesting was refused.
  std::optional<std::size_t> position() const { return position_; }

  const std::optional<std::string>& repeated() const { return repeated_; }

 private:
  bool open(Json::Kind kind) {
    if (open_.size() >= kMostLevels) {
      return false;
    }
    Json node;
    node.kind = kind;
    open_.push_back(std::move(node));
    keys_.emplace_back();
    seen_.emplace_back();
    return true;
  }

  bool close() {
    Json node = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    seen_.pop_back();
    return place(std::move(node));
  }

  bool place(Json node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (open_.back().kind == Json::Kind::Array) {
      open_.back().items.push_back(std::move(node));
    } else {
      open_.back().members.push_back({keys_.back(), std::move(node)});
    }
    return true;
  }

  Json root_;
  std::vector<Json> open_;         // containers begun and not ended
  std::vector<std::string> keys_;  // the last key of each
  std::vector<std::set<std::string>> seen_;
  std::optional<std::size_t> position_;
  std::optional<std::string> repeated_;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  const auto found = std::find_if(
      members.rbegin(), members.rend(), [key](const auto& member) { return member.key == key; });
  return found == members.rend() ? nullptr : &found->value;
}

std::string Json::to_text() const {
  switch (kind) {
    case Kind::Null:
      return "null";
    case Kind::Bool:
      return boolean ? "true" : "false";
    case Kind::Integer:
      return fmt::format("{}", integer);
    case Kind::Decimal:
      return format_double_exact(decimal);
    case Kind::String:
      return fmt::format("\"{}\"", string.substr(0, 40));
    case Kind::Array:
      return fmt::format("a list of {}", items.size());
    case Kind::Object:
      return fmt::format("an object of {}", members.size());
  }
  ORR_UNREACHABLE();
}

Result<Json> parse_json(std::string_view text, std::string_view origin) {
  TreeBuilder builder;
  if (nlohmann::json::sax_parse(text, &builder)) {
    return builder.take();
  }
  if (builder.repeated()) {
    return make_error(ErrorCode::ParseError,
                      "[frontend.json] {}: got the key '{}' twice in one object, need it once",
                      origin,
                      builder.repeated()->substr(0, 80));
  }
  if (!builder.position()) {
    return make_error(ErrorCode::ParseError,
                      "[frontend.json] {}: got more than {} nested levels, need at most so many",
                      origin,
                      kMostLevels);
  }
  const std::size_t at = std::min(*builder.position(), text.size());
  const std::string_view before = text.substr(0, at == 0 ? 0 : at - 1);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
  return make_error(ErrorCode::ParseError,
                    "[frontend.json] {}: got what is not JSON at line {}, column {}, need JSON",
                    origin,
                    line,
                    column);
}

}  // namespace orrery::frontend
