// Aligns columns.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/table.h"

#include <algorithm>
#include <utility>

#include "orrery/base/check.h"

namespace orrery::report {

void TextTable::add(std::vector<std::string> row) {
  ORR_CHECK(row.size() == columns_.size()) << row.size() << " fields, " << columns_.size();
  rows_.push_back(std::move(row));
}

std::string TextTable::to_text() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(columns_[i].title.size());
    for (const auto& row : rows_) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  const auto line = [&](const auto& field_of) {
    std::string written;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& field = field_of(i);
      const std::string blanks(widths[i] - field.size(), ' ');
      written += i == 0 ? "" : "  ";
      written += columns_[i].align == Align::Right ? blanks + field : field + blanks;
    }
    written.erase(written.find_last_not_of(' ') + 1);
    text += written + '\n';
  };
  line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) {
    line([&](size_t i) -> const std::string& { return row[i]; });
  }
  return text;
}

}  // namespace orrery::report
