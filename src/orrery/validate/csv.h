// Tables in CSV: a header and rows of text fields, kept as they were.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"

namespace orrery::validate {

/// Most bytes, rows, columns and fields of a table: some hundred times the largest one measured,
/// and little enough that it can be held several times.
constexpr size_t kMostTable = size_t{32} << 20;
constexpr size_t kMostRows = size_t{1} << 18;
constexpr size_t kMostColumns = size_t{1} << 10;
constexpr size_t kMostFields = size_t{1} << 22;

/// A table. Every row has as many fields as the header.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::string origin = {};         // where it was read from
  std::vector<size_t> lines = {};  // in which each row begins there; empty: it was not read

  /// Index of a column, or none.
  std::optional<size_t> column(std::string_view name) const;

  /// The line of a row; 0 if it was not read from any.
  size_t line(size_t row) const { return row < lines.size() ? lines[row] : 0; }

  /// The same columns and fields, wherever they stood.
  bool operator==(const Table& other) const { return header == other.header && rows == other.rows; }
};

/// Reads CSV (RFC 4180): fields may be quoted, quotes inside are doubled, lines end in "\n" or
/// "\r\n", a byte order mark and empty lines are passed over. Errors (ParseError) name `origin` and
/// the line: an unfinished quote, a row with more or fewer fields than the header, an empty or
/// doubled column name, no header, more than a table may have.
Result<Table> parse_csv(std::string_view text, std::string_view origin);

/// The table as CSV; fields are quoted where they have to be.
std::string to_csv(const Table& table);

}  // namespace orrery::validate
