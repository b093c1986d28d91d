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

/// A table. Every row has as many fields as the header.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;

  /// Index of a column, or none.
  std::optional<size_t> column(std::string_view name) const;

  bool operator==(const Table&) const = default;
};

/// Reads CSV (RFC 4180): fields may be quoted, quotes inside are doubled, lines end in "\n" or
/// "\r\n", a byte order mark and empty lines are passed over. Errors (ParseError) name `origin` and
/// the line: an unfinished quote, a row with more or fewer fields than the header, an empty or
/// doubled column name, no header.
Result<Table> parse_csv(std::string_view text, std::string_view origin);

/// The table as CSV; fields are quoted where they have to be.
std::string to_csv(const Table& table);

}  // namespace orrery::validate
