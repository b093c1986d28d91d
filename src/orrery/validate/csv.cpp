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
  }

  bool at_end() const { return text_.empty(); }

  int line() const { return line_; }

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
      if (text_.front() != ',') {
        return make_error(
            ErrorCode::ParseError,
            "[validate.csv] {}: line {}: got text after a closing quote, need a comma",
            origin_,
            line_);
      }
      text_.remove_prefix(1);
    }
  }

 private:
  bool end_of_line() {
    for (const std::string_view end : {"\r\n", "\n"}) {
      if (text_.starts_with(end)) {
        text_.remove_prefix(end.size());
        ++line_;
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
    const int begin = line_;
    std::string field;
    text_.remove_prefix(1);
    while (true) {
      const size_t quote = text_.find('"');
      if (quote == std::string_view::npos) {
        return make_error(ErrorCode::ParseError,
                          "[validate.csv] {}: line {}: got a quote that never ends, need one",
                          origin_,
                          begin);
      }
      field += text_.substr(0, quote);
      const std::string_view part = text_.substr(0, quote);
      line_ += static_cast<int>(std::count(part.begin(), part.end(), '\n'));
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
  int line_ = 1;
};

Result<void> check_header(const Table& table, std::string_view origin) {
  std::set<std::string> seen;
  for (const std::string& name : table.header) {
    if (name.empty() || !seen.insert(name).second) {
      return make_error(ErrorCode::ParseError,
                        "[validate.csv] {}: header: got column '{}' {}, need names that differ",
                        origin,
                        name,
                        name.empty() ? "without a name" : "twice");
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

Result<Table> parse_csv(std::string_view text, std::string_view origin) {
  Reader reader(text, origin);
  Table table;
  while (!reader.at_end()) {
    const int line = reader.line();
    ORR_TRY(auto record, reader.record());
    if (record.empty()) {
      continue;
    }
    if (table.header.empty()) {
      table.header = std::move(record);
    } else if (record.size() != table.header.size()) {
      return make_error(ErrorCode::ParseError,
                        "[validate.csv] {}: line {}: got {} fields, need {} as in the header",
                        origin,
                        line,
                        record.size(),
                        table.header.size());
    } else {
      table.rows.push_back(std::move(record));
    }
  }
  if (table.header.empty()) {
    return make_error(ErrorCode::ParseError, "[validate.csv] {}: got no header, need one", origin);
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
