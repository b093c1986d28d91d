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

/// Quality of a choice: the least measured time over that of what was chosen.
std::string ranking_table(const std::vector<validate::Ranking>& rankings) {
  report::TextTable table({{"family"},
                           {"choices", Align::Right},
                           {"rank correlation", Align::Right},
                           {"first", Align::Right},
                           {"worst", Align::Right},
                           {"best of 5", Align::Right},
                           {"worst", Align::Right}});
  for (const validate::RankingSum& sum : validate::sum_up(rankings)) {
    table.add({sum.family,
               fmt::format("{}", sum.choices),
               fmt::format("{:.3f}", sum.correlation),
               fmt::format("{:.3f}", sum.first),
               fmt::format("{:.3f}", sum.worst_first),
               fmt::format("{:.3f}", sum.of_five),
               fmt::format("{:.3f}", sum.worst_of_five)});
  }
  return "\nranking: least measured time over that of the row predicted fastest, of five rows\n" +
         table.to_text();
}

std::string counters_table(const std::vector<validate::CountedRow>& rows) {
  report::TextTable table({{"counter"},
                           {"family"},
                           {"n", Align::Right},
                           {"equal", Align::Right},
                           {"mean error %", Align::Right},
                           {"median %", Align::Right},
                           {"bias %", Align::Right}});
  for (const validate::CounterScore& score : validate::counter_scores(rows)) {
    table.add({score.counter,
               score.family,
               fmt::format("{}", score.rows),
               fmt::format("{}", score.equal),
               percent(score.mean),
               percent(score.median),
               fmt::format("{:+.1f}", 100 * score.bias)});
  }
  return table.to_text();
}

void add_counters(report::JsonWriter& json, const std::vector<validate::CountedRow>& rows) {
  json.key("counters").begin_array();
  for (const validate::CounterScore& score : validate::counter_scores(rows)) {
    json.begin_object().member("counter", score.counter).member("family", score.family);
    json.member("n", score.rows).member("equal", score.equal).member("mape", score.mean);
    json.member("median_ape", score.median).member("bias", score.bias).end_object();
  }
  json.end_array();
}

void add_rankings(report::JsonWriter& json, const std::vector<validate::Ranking>& rankings) {
  json.key("rankings").begin_array();
  for (const validate::Ranking& each : rankings) {
    json.begin_object().member("family", each.family).member("choice", each.choice);
    json.member("n", each.rows).member("rank_correlation", each.correlation);
    json.member("first", each.first).member("best_of_five", each.of_five).end_object();
  }
  json.end_array();
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
    if (!file.rankings.empty()) {
      text += ranking_table(file.rankings);
    }
    if (!validation.counted.empty()) {
      text += counters_table(validation.counted);
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
    json.end_array();
    if (!file.rankings.empty()) {
      add_rankings(json, file.rankings);
    }
    if (!validation.counted.empty()) {
      add_counters(json, validation.counted);
    }
    json.key("errors").begin_array();
    for (const validate::RowError& error : validation.errors) {
      json.begin_object().member("message", error.message).member("rows", error.rows);
      json.member("line", static_cast<int64_t>(error.line)).end_object();
    }
    json.end_array().end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::session
