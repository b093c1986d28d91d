// Fields of a row.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/fields.h"

#include <charconv>

#include "orrery/base/text.h"

namespace orrery::validate {

std::string_view Fields::text(std::string_view column) const {
  const auto index = table_.column(column);
  return index ? trim(row_[*index]) : std::string_view{};
}

Error Fields::placed(Error error) const {
  if (table_.line(index_) != 0) {
    error.message += fmt::format(" ({}:{})", table_.origin, table_.line(index_));
  }
  return error;
}

namespace {

Result<int64_t> whole_number(std::string_view column,
                             std::string_view written,
                             int64_t least,
                             int64_t most) {
  int64_t value = 0;
  const auto read = std::from_chars(written.data(), written.data() + written.size(), value);
  const bool whole = read.ec == std::errc{} && read.ptr == written.data() + written.size();
  if (!whole || value < least || value > most) {
    return make_error(ErrorCode::InvalidInput,
                      "[validate.fields] {}: got '{}', need {} to {}",
                      column,
                      written,
                      least,
                      most);
  }
  return value;
}

}  // namespace

Result<int64_t> Fields::integer(std::string_view column, int64_t least, int64_t most) const {
  return whole_number(column, text(column), least, most);
}

Result<int64_t> Fields::integer_or(std::string_view column, int64_t none, int64_t most) const {
  return text(column).empty() ? Result<int64_t>(none) : integer(column, 0, most);
}

Result<std::vector<int64_t>> Fields::integers(std::string_view column,
                                              int64_t least,
                                              int64_t most) const {
  std::vector<int64_t> values;
  for (const std::string_view word : split(text(column), ' ')) {
    if (!trim(word).empty()) {
      ORR_TRY(const int64_t value, whole_number(column, trim(word), least, most));
      values.push_back(value);
    }
  }
  return values;
}

Result<int64_t> Fields::size(std::string_view column) const {
  return integer(column, 1, int64_t{1} << 32);
}

}  // namespace orrery::validate
