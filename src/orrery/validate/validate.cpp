// Validation of one table.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/validate/validate.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "orrery/base/text.h"

namespace orrery::validate {

namespace {

const TableKind* kind_of(const Table& table) {
  for (const TableKind& kind : table_kinds()) {
    const bool fits =
        std::all_of(kind.columns.begin(), kind.columns.end(), [&](std::string_view name) {
          return table.column(name).has_value();
        });
    if (fits) {
      return &kind;
    }
  }
  return nullptr;
}

/// What is wrong with a table of no known kind: the kind that lacks fewest columns, and those.
Error unknown_kind(const Table& table) {
  std::vector<std::string> names;
  std::vector<std::string> lacking;
  std::string_view nearest;
  for (const TableKind& kind : table_kinds()) {
    names.emplace_back(kind.name);
    std::vector<std::string> lacks;
    for (const std::string_view column : kind.columns) {
      if (!table.column(column)) {
        lacks.emplace_back(column);
      }
    }
    const bool nearer =
        lacks.size() < kind.columns.size() && (nearest.empty() || lacks.size() < lacking.size());
    if (nearer) {
      nearest = kind.name;
      lacking = std::move(lacks);
    }
  }
  const std::string hint = nearest.empty() ? ""
                                           : fmt::format("; {} lacks the column{} {}",
                                                         nearest,
                                                         lacking.size() == 1 ? "" : "s",
                                                         join(lacking, ", "));
  return make_error(ErrorCode::Unsupported,
                    "[validate.table] columns: got a table of no known kind, need one of {}{}",
                    join(names, ", "),
                    hint);
}

Result<plan::Estimate> predict(const TableKind* kind, const Fields& fields, const Setup& setup) {
  if (kind == nullptr) {
    return unknown_kind(fields.table());
  }
  return kind->predict(fields, setup);
}

/// The measured time; none if the cell is empty. Error: it is no time a computer can have.
Result<std::optional<Duration>> measured(const Fields& fields, std::string_view column) {
  constexpr double kLeastUs = 1e-3;  // a nanosecond: no launch is shorter
  constexpr double kMostUs = 1e12;   // a week and a half
  const std::string_view text = fields.text(column);
  if (trim(text).empty()) {
    return std::optional<Duration>{};
  }
  const auto value = parse_double(text);
  if (!value || !(*value >= kLeastUs && *value <= kMostUs)) {
    return make_error(ErrorCode::InvalidInput,
                      "[validate.measured] {}: got '{}', need {} to {} or nothing",
                      column,
                      text,
                      kLeastUs,
                      kMostUs);
  }
  return std::optional(Duration::from(Seconds(*value * 1e-6)));
}

std::string microseconds(Duration time) {
  return fmt::format("{:.3f}", time.microseconds());
}

/// Counts the rows of each message.
class RowErrors {
 public:
  void add(const std::string& message, size_t line) {
    const auto [at, added] = index_.emplace(message, errors_.size());
    if (added) {
      errors_.push_back({.message = message, .line = line});
    }
    ++errors_[at->second].rows;
  }

  std::vector<RowError> take() { return std::move(errors_); }

 private:
  std::vector<RowError> errors_;
  std::unordered_map<std::string, size_t> index_;  // of errors_
};

/// The row's further times, written to their columns.
void add_extras(const TableKind& kind,
                const Fields& fields,
                size_t at,
                const Setup& setup,
                Validation& result) {
  for (const ExtraTime& extra : kind.extras) {
    const Result<plan::Estimate> estimate = extra.predict(fields, setup);
    result.table.rows[at].push_back(estimate.ok() ? microseconds(estimate->time) : "");
    const Result<std::optional<Duration>> time = measured(fields, extra.measured);
    if (estimate.ok() && time.ok() && *time) {
      result.compared.push_back(
          {extra.family(fields), **time, estimate->time, estimate->low, estimate->high, at});
    }
  }
}

/// The row's counters, written to columns of their own.
void add_counters(const TableKind& kind,
                  const Fields& fields,
                  const Setup& setup,
                  Validation& result,
                  RowErrors& errors) {
  const size_t at = fields.index();
  if (kind.counters == nullptr) {
    return;
  }
  const auto predicted = kind.counters(fields, setup);
  if (!predicted.ok()) {
    return;  // the row has said why
  }
  auto& row = result.table.rows[at];
  for (const std::string_view name : counter_columns()) {
    const device::Counter* found = nullptr;
    for (const device::Counter& counter : *predicted) {
      found = counter.name == name ? &counter : found;
    }
    row.push_back(found != nullptr ? fmt::format("{:.6g}", found->value) : "");
    const auto measured = measured_counter(fields, name);
    if (!measured.ok()) {
      errors.add(measured.error().message, fields.table().line(at));
    } else if (found != nullptr && *measured) {
      result.counted.push_back(
          {kind.family(fields), std::string(name), **measured, found->value, at});
    }
  }
}

/// "a100/allreduce.csv": allreduce.
std::string stem_of(std::string_view origin) {
  const size_t folder = origin.find_last_of("/\\");
  std::string_view name = folder == std::string_view::npos ? origin : origin.substr(folder + 1);
  return std::string(name.substr(0, name.find('.')));
}

}  // namespace

Result<Validation> validate_table(std::string_view csv,
                                  std::string_view origin,
                                  const Setup& given) {
  ORR_TRY(const Table input, parse_csv(csv, origin));
  Setup setup = given;
  setup.file = stem_of(origin);
  Validation result;
  const TableKind* kind = kind_of(input);
  result.kind = kind == nullptr ? "" : kind->name;
  if (kind != nullptr && kind->has_decoders && setup.decoders_beside) {
    ORR_TRY(setup.decoders, setup.decoders_beside());
  }
  result.table = input;
  for (const std::string_view added : {"predicted_us", "low_us", "high_us", "bound", "error"}) {
    result.table.header.emplace_back(added);
  }
  for (const ExtraTime& extra : kind == nullptr ? std::vector<ExtraTime>{} : kind->extras) {
    result.table.header.emplace_back(extra.column);
  }
  RowErrors errors;
  if (kind != nullptr && kind->counters != nullptr) {
    for (const std::string_view counter : counter_columns()) {
      result.table.header.push_back("predicted " + std::string(counter));
    }
  }
  for (size_t i = 0; i < input.rows.size(); ++i) {
    const Fields fields(input, i);
    auto& row = result.table.rows[i];
    const Result<plan::Estimate> estimate = predict(kind, fields, setup);
    if (!estimate.ok()) {
      row.insert(row.end(), {"", "", "", "", estimate.error().message});
      row.resize(result.table.header.size());
      errors.add(estimate.error().message, input.line(i));
      continue;
    }
    ++result.predicted;
    const Result<std::optional<Duration>> time = measured(fields, "latency_us");
    row.insert(row.end(),
               {microseconds(estimate->time),
                microseconds(estimate->low),
                microseconds(estimate->high),
                std::string(name(estimate->bound)),
                time.ok() ? "" : time.error().message});
    if (!time.ok()) {
      errors.add(time.error().message, input.line(i));
    } else if (*time) {
      result.compared.push_back({kind->family(fields),
                                 **time,
                                 estimate->time,
                                 estimate->low,
                                 estimate->high,
                                 i,
                                 kind->choice != nullptr ? kind->choice(fields) : ""});
    }
    add_extras(*kind, fields, i, setup, result);
    add_counters(*kind, fields, setup, result, errors);
  }
  result.errors = errors.take();
  return result;
}

}  // namespace orrery::validate
