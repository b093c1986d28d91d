// Tables of text in aligned columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace orrery::report {

enum class Align { Left, Right };

/// Rows of text under a header:
///
///     operator   calls     time
///     gemm         129  6.08 ms
class TextTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::Left;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// As many fields as there are columns.
  void add(std::vector<std::string> row);

  /// Lines end in "\n" and have no blanks before it. Columns are two blanks apart.
  std::string to_text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace orrery::report
