// Reader of requests.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/requests.h"

#include <cctype>
#include <charconv>
#include <optional>

#include "orrery/base/text.h"
#include "orrery/session/files.h"
#include "orrery/validate/csv.h"
#include "orrery/validate/fields.h"

namespace orrery::session {

namespace {

constexpr int64_t kMostSequences = int64_t{1} << 16;
constexpr int64_t kMostTokens = int64_t{1} << 26;

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc() && end == text.data() + text.size();
  return read ? std::optional(value) : std::nullopt;
}

Result<void> add(std::vector<passes::Request>& all, int64_t count, passes::Request request) {
  const bool fits = request.tokens >= 1 && request.tokens <= kMostTokens && request.cached >= 0 &&
                    request.cached <= kMostTokens && count >= 1 &&
                    count <= kMostSequences - static_cast<int64_t>(all.size());
  if (!fits) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.requests] got {} sequences of {} new tokens behind {}, need 1 to "
                      "{} sequences in all, 1 to {} new tokens, at most as many behind",
                      count,
                      request.tokens,
                      request.cached,
                      kMostSequences,
                      kMostTokens);
  }
  all.insert(all.end(), static_cast<size_t>(count), request);
  return {};
}

Result<void> add_row(std::vector<passes::Request>& all, const validate::Fields& row) {
  ORR_TRY(const int64_t tokens, row.integer("chunk", 1, kMostTokens));
  ORR_TRY(const int64_t cached, row.integer("context", 0, kMostTokens));
  return add(all, 1, {.tokens = tokens, .cached = cached});
}

Result<std::vector<passes::Request>> checked(std::vector<passes::Request> all) {
  int64_t tokens = 0;
  int64_t keys = 0;
  for (const passes::Request& request : all) {
    tokens += request.tokens;
    keys += request.tokens + request.cached;
  }
  if (all.empty() || tokens > kMostTokens || keys > (int64_t{1} << 36)) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.requests] got {} sequences of {} new tokens in all, need at least "
                      "one and up to {} tokens",
                      all.size(),
                      tokens,
                      kMostTokens);
  }
  return all;
}

}  // namespace

Result<std::vector<passes::Request>> parse_requests(std::string_view text) {
  std::vector<passes::Request> all;
  for (const std::string_view part : split(text, ',')) {
    std::string_view rest = trim(part);
    const size_t times = rest.find('x');
    const auto count = times == std::string_view::npos ? 1 : whole(rest.substr(0, times));
    rest = times == std::string_view::npos ? rest : rest.substr(times + 1);
    const size_t at = rest.find('@');
    const auto tokens = whole(rest.substr(0, at));
    const auto cached = at == std::string_view::npos ? 0 : whole(rest.substr(at + 1));
    if (!count || !tokens || !cached) {
      return make_error(ErrorCode::InvalidInput,
                        "[session.requests] requests: got '{}', need COUNTxTOKENS@CACHED such as "
                        "1x2048@8192,192x1@512, or the path of a CSV file",
                        part);
    }
    ORR_TRY_VOID(add(all, *count, {.tokens = *tokens, .cached = *cached}));
  }
  return checked(std::move(all));
}

Result<std::vector<passes::Request>> read_requests(const std::string& text) {
  const bool short_form =
      !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0 && !is_file(text);
  if (short_form) {
    return parse_requests(text);
  }
  ORR_TRY(const std::string csv, read_file(text, validate::kMostTable));
  ORR_TRY(const validate::Table table, validate::parse_csv(csv, text));
  if (!table.column("chunk") || !table.column("context")) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.requests] columns: got {}, need chunk and context ({}:1)",
                      join(table.header, ", "),
                      text);
  }
  std::vector<passes::Request> all;
  for (size_t i = 0; i < table.rows.size(); ++i) {
    const validate::Fields row(table, i);
    if (const Result<void> added = add_row(all, row); !added.ok()) {
      return row.placed(added.error());
    }
  }
  return checked(std::move(all));
}

}  // namespace orrery::session
