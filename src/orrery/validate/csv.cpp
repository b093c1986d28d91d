// CSV reader and writer.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/csv.h"

#include <algorithm>
#include <set>
#include <utility>

namespace orrery::validate {

namespace {

/// Takes records from the text one by one.
class Reader {
 public:
  Reader(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {
    if (text_.starts_with("\xEF\xBB\xBF")) {
      text_.remove_prefix(3);
    }
    line_begin_ = text_.data();
  }

  bool at_end() const { return text_.empty(); }

  size_t line() const { return line_; }

  /// The fields of the next record; none for an empty line.
  Result<std::vector<std::string>> record() {
    std::vector<std::string> fields;
    if (end_of_line()) {
      return fields;
    }
    while (true) {
      ORR_TRY(std::string field, text_.starts_with('"') ? quoted() : plain());
      fields.push_back(std::move(field));
      if (text_.empty() || end_of_line()) {
        return fields;
      }
      if (fields.size() == kMostColumns) {
        return wrong("row", "more than {} fields, need at most so many", kMostColumns);
      }
      if (text_.front() != ',') {
        return wrong("field", "text after a closing quote, need a comma");
      }
      text_.remove_prefix(1);
    }
  }

 private:
  /// What the text has where it is read, and what it should have.
  template <class... Args>
  Error wrong(std::string_view what, fmt::format_string<Args...> got, Args&&... args) const {
    return make_error(ErrorCode::ParseError,
                      "[validate.csv] {}: got {} ({}:{}:{})",
                      what,
                      fmt::format(got, std::forward<Args>(args)...),
                      origin_,
                      line_,
                      text_.data() - line_begin_ + 1);
  }

  bool end_of_line() {
    for (const std::string_view end : {"\r\n", "\n"}) {
      if (text_.starts_with(end)) {
        text_.remove_prefix(end.size());
        ++line_;
        line_begin_ = text_.data();
        return true;
      }
    }
    return false;
  }

  Result<std::string> plain() {
    size_t length = std::min(text_.find_first_of(",\n"), text_.size());
    if (length < text_.size() && text_[length] == '\n' && length > 0 && text_[length - 1] == '\r') {
      --length;  // belongs to the line's end
    }
    std::string field(text_.substr(0, length));
    text_.remove_prefix(length);
    return field;
  }

  Result<std::string> quoted() {
    const Error endless = wrong("field", "a quote that never ends, need its end");
    std::string field;
    text_.remove_prefix(1);
    while (true) {
      const size_t quote = text_.find('"');
      if (quote == std::string_view::npos) {
        return endless;
      }
      const std::string_view part = text_.substr(0, quote);
      field += part;
      if (const size_t last = part.rfind('\n'); last != std::string_view::npos) {
        line_ += static_cast<size_t>(std::count(part.begin(), part.end(), '\n'));
        line_begin_ = part.data() + last + 1;
      }
      text_.remove_prefix(quote + 1);
      if (!text_.starts_with('"')) {
        return field;
      }
      field += '"';
      text_.remove_prefix(1);
    }
  }

  std::string_view text_;
  std::string_view origin_;
  const char* line_begin_;
  size_t line_ = 1;
};

Result<void> check_header(const Table& table, std::string_view origin) {
  std::set<std::string> seen;
  for (const std::string& name : table.header) {
    if (name.empty() || !seen.insert(name).second) {
      return make_error(ErrorCode::ParseError,
                        "[validate.csv] header: got column '{}' {}, need names that differ ({})",
                        name,
                        name.empty() ? "without a name" : "twice",
                        origin);
    }
  }
  return {};
}

void append_field(std::string& text, std::string_view field) {
  // A leading byte 0xEF may be a byte order mark, which unquoted would not be read back.
  if (field.find_first_of(",\"\r\n\xEF") == std::string_view::npos) {
    text += field;
    return;
  }
  text += '"';
  for (const char c : field) {
    text += c;
    if (c == '"') {
      text += c;
    }
  }
  text += '"';
}

void append_row(std::string& text, const std::vector<std::string>& row) {
  for (size_t i = 0; i < row.size(); ++i) {
    text += i == 0 ? "" : ",";
    append_field(text, row[i]);
  }
  if (row.size() == 1 && row[0].empty()) {
    text += "\"\"";  // an empty line would be passed over
  }
  text += '\n';
}

}  // namespace

std::optional<size_t> Table::column(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? std::nullopt
                               : std::optional(static_cast<size_t>(found - header.begin()));
}

namespace {

/// Appends a record, the header first.
Result<void> append_record(Table& table, std::vector<std::string> record, size_t line) {
  if (table.header.empty()) {
    table.header = std::move(record);
    return {};
  }
  if (record.size() != table.header.size()) {
    return make_error(ErrorCode::ParseError,
                      "[validate.csv] row: got {} fields, need {} as in the header ({}:{})",
                      record.size(),
                      table.header.size(),
                      table.origin,
                      line);
  }
  const size_t most = std::min(kMostRows, kMostFields / table.header.size());
  if (table.rows.size() == most) {
    return make_error(ErrorCode::ParseError,
                      "[validate.csv] rows: got more than {} of {} fields, need at most so many "
                      "({}:{})",
                      most,
                      table.header.size(),
                      table.origin,
                      line);
  }
  table.rows.push_back(std::move(record));
  table.lines.push_back(line);
  return {};
}

}  // namespace

Result<Table> parse_csv(std::string_view text, std::string_view origin) {
  Reader reader(text, origin);
  Table table;
  table.origin = origin;
  while (!reader.at_end()) {
    const size_t line = reader.line();
    ORR_TRY(auto record, reader.record());
    if (!record.empty()) {
      ORR_TRY_VOID(append_record(table, std::move(record), line));
    }
  }
  if (table.header.empty()) {
    return make_error(
        ErrorCode::ParseError, "[validate.csv] header: got none, need one ({})", origin);
  }
  ORR_TRY_VOID(check_header(table, origin));
  return table;
}

std::string to_csv(const Table& table) {
  std::string text;
  append_row(text, table.header);
  for (const auto& row : table.rows) {
    append_row(text, row);
  }
  return text;
}

}  // namespace orrery::validate
