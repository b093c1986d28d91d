// Arguments of operators.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/argument_reader.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "orrery/base/text.h"

namespace orrery::session {

ArgumentReader::ArgumentReader(const Operator& op, std::span<const std::string> arguments)
    : op_(op) {
  for (const std::string& argument : arguments) {
    take(argument);
  }
  for (const Key& key : op.keys) {
    if (key.preset.empty() && !values_.contains(key.name)) {
      complain(fmt::format("{}: got none, need {}", key.name, key.meaning));
    }
  }
}

std::string ArgumentReader::text(std::string_view name) const {
  const auto given = values_.find(name);
  if (given != values_.end()) {
    return given->second;
  }
  for (const Key& key : op_.keys) {
    if (key.name == name) {
      const bool other = std::any_of(op_.keys.begin(), op_.keys.end(), [&key](const Key& each) {
        return each.name == key.preset;
      });
      return other ? text(key.preset) : std::string(key.preset);
    }
  }
  return "";
}

int64_t ArgumentReader::integer(std::string_view name, int64_t least, int64_t most) {
  const std::string written = text(name);
  return written.empty() ? least : whole(name, written, least, most);  // reported as missing
}

std::vector<int64_t> ArgumentReader::integers(std::string_view name, int64_t least, int64_t most) {
  std::vector<int64_t> values;
  const std::string written = text(name);
  for (const std::string_view word : split(written, ',')) {
    values.push_back(whole(name, word, least, most));
  }
  return values;
}

double ArgumentReader::number(std::string_view name, double least, double most) {
  const std::string written = text(name);
  const auto value = parse_double(written);
  if (!value || !(*value >= least && *value <= most)) {
    complain(fmt::format("{}: got '{}', need {} to {}", name, written, least, most));
    return least;
  }
  return *value;
}

int64_t ArgumentReader::whole(std::string_view name,
                              std::string_view written,
                              int64_t least,
                              int64_t most) {
  int64_t value = 0;
  const char* end = written.data() + written.size();
  const auto read = std::from_chars(written.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || value < least || value > most) {
    complain(fmt::format("{}: got '{}', need {} to {}", name, written, least, most));
    return least;
  }
  return value;
}

DType ArgumentReader::dtype() {
  const std::string written = text("dtype");
  const Result<DType> type = parse_dtype(written);
  if (!type.ok()) {
    complain(fmt::format("dtype: got '{}', need an element type (bf16, fp16 ...)", written));
    return DType::BF16;
  }
  return *type;
}

void ArgumentReader::elements(std::string_view what, std::initializer_list<int64_t> extents) {
  double product = 1;
  for (const int64_t extent : extents) {
    product *= static_cast<double>(extent);
  }
  constexpr double kMost = 281474976710656.0;
  if (product > kMost) {
    complain(fmt::format("{}: got {:.3g} elements, need at most 2^48", what, product));
  }
}

void ArgumentReader::require(bool holds, std::string message) {
  if (!holds) {
    complain(std::move(message));
  }
}

void ArgumentReader::excludes(std::string_view with,
                              std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (values_.contains(name)) {
      complain(fmt::format("{}: got it beside {}, need one of the two", name, with));
    }
  }
}

void ArgumentReader::complain(std::string message) {
  if (std::find(wrong_.begin(), wrong_.end(), message) == wrong_.end()) {
    wrong_.push_back(std::move(message));
  }
}

Result<void> ArgumentReader::finish() const {
  if (wrong_.empty()) {
    return {};
  }
  return make_error(
      ErrorCode::InvalidInput, "[session.operators] {}: {}", op_.name, join(wrong_, "; "));
}

void ArgumentReader::take(const std::string& argument) {
  const size_t equals = argument.find('=');
  const std::string key = argument.substr(0, equals);
  std::vector<std::string> names;
  for (const Key& each : op_.keys) {
    names.emplace_back(each.name);
  }
  if (equals == std::string::npos || key.empty()) {
    complain(fmt::format("got '{}', need key=value", argument));
  } else if (std::find(names.begin(), names.end(), key) == names.end()) {
    complain(fmt::format(
        "{}: not an argument, need {}{}", key, join(names, ", "), did_you_mean(key, names)));
  } else if (!values_.emplace(key, argument.substr(equals + 1)).second) {
    complain(fmt::format("{}: given twice", key));
  } else if (equals + 1 == argument.size()) {
    complain(fmt::format("{}: got nothing after '='", key));
  }
}

}  // namespace orrery::session
