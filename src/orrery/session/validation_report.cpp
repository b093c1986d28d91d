// Validations as text and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/validation_report.h"

#include <fmt/format.h>

#include "orrery/report/json_writer.h"
#include "orrery/report/table.h"

namespace orrery::session {

namespace {

using report::Align;

std::string percent(double fraction) {
  return fmt::format("{:.1f}", 100 * fraction);
}

std::string scores_table(const std::vector<validate::Score>& scores) {
  report::TextTable table({{"family"},
                           {"n", Align::Right},
                           {"MAPE %", Align::Right},
                           {"median %", Align::Right},
                           {"p90 %", Align::Right},
                           {"bias %", Align::Right},
                           {"in 80 % interval", Align::Right},
                           {"width %", Align::Right}});
  for (const validate::Score& score : scores) {
    table.add({score.family,
               fmt::format("{}", score.rows),
               percent(score.mean),
               percent(score.median),
               percent(score.p90),
               fmt::format("{:+.1f}", 100 * score.bias),
               percent(score.hit_rate),
               percent(score.width)});
  }
  return table.to_text();
}

/// The first messages of rows that were not predicted; JSON and the written rows have them all.
std::string errors(const validate::Validation& validation) {
  constexpr size_t kShown = 8;
  std::string text;
  int64_t more = 0;
  for (size_t i = 0; i < validation.errors.size(); ++i) {
    const validate::RowError& error = validation.errors[i];
    if (i >= kShown) {
      more += error.rows;
    } else {
      text += error.rows == 1
                  ? fmt::format("not predicted, line {}: {}\n", error.line, error.message)
                  : fmt::format("not predicted, {} rows from line {}: {}\n",
                                error.rows,
                                error.line,
                                error.message);
    }
  }
  return more == 0 ? text : text + fmt::format("not predicted, {} more rows\n", more);
}

}  // namespace

std::string to_text(const std::vector<ValidatedFile>& files) {
  std::string text;
  for (const ValidatedFile& file : files) {
    const validate::Validation& validation = file.validation;
    text += text.empty() ? "" : "\n";
    text += fmt::format("{} ({}): {} of {} rows predicted, {} scored\n",
                        file.path,
                        validation.kind.empty() ? "unknown kind" : validation.kind,
                        validation.predicted,
                        validation.table.rows.size(),
                        validation.compared.size());
    if (!file.scores.empty()) {
      text += scores_table(file.scores);
    }
    text += errors(validation);
  }
  return text;
}

std::string to_json(const std::vector<ValidatedFile>& files) {
  report::JsonWriter json;
  json.begin_object().member("schema", "orrery.validation/1").key("files").begin_array();
  for (const ValidatedFile& file : files) {
    const validate::Validation& validation = file.validation;
    json.begin_object().member("file", file.path).member("kind", validation.kind);
    json.member("rows", static_cast<int64_t>(validation.table.rows.size()));
    json.member("predicted", validation.predicted);
    json.member("scored", static_cast<int64_t>(validation.compared.size()));
    json.key("scores").begin_array();
    for (const validate::Score& score : file.scores) {
      json.begin_object().member("family", score.family).member("n", score.rows);
      json.member("mape", score.mean).member("median_ape", score.median);
      json.member("p90_ape", score.p90).member("bias", score.bias);
      json.member("interval_hit_rate", score.hit_rate).member("median_width", score.width);
      json.end_object();
    }
    json.end_array().key("errors").begin_array();
    for (const validate::RowError& error : validation.errors) {
      json.begin_object().member("message", error.message).member("rows", error.rows);
      json.member("line", static_cast<int64_t>(error.line)).end_object();
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::session
