// The fields of one row by column name, read with errors that say which.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/validate/csv.h"

namespace orrery::validate {

class Fields {
 public:
  Fields(const Table& table, size_t row) : table_(table), row_(table.rows[row]), index_(row) {}

  const Table& table() const { return table_; }

  size_t index() const { return index_; }

  /// `error` with the place of the row: "... (requests.csv:3)".
  Error placed(Error error) const;

  /// The field's text; empty where the column does not exist.
  std::string_view text(std::string_view column) const;
  /// A whole number in [least, most].
  Result<int64_t> integer(std::string_view column, int64_t least, int64_t most) const;
  /// The same, `none` where the column does not exist or the field is empty.
  Result<int64_t> integer_or(std::string_view column, int64_t none, int64_t most) const;
  /// Whole numbers in [least, most], separated by spaces.
  Result<std::vector<int64_t>> integers(std::string_view column, int64_t least, int64_t most) const;
  /// A size: 1 to 2^32.
  Result<int64_t> size(std::string_view column) const;

 private:
  const Table& table_;
  const std::vector<std::string>& row_;
  size_t index_ = 0;
};

}  // namespace orrery::validate
