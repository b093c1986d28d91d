// Comparisons as text, CSV and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "orrery/base/quantity_text.h"
#include "orrery/base/text.h"
#include "orrery/report/by_kind.h"
#include "orrery/report/csv_field.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/speed_text.h"
#include "orrery/report/table.h"

namespace orrery::report {

namespace {

double tokens_per_second(const ModelPrediction& prediction) {
  return prediction.tokens / prediction.time.total.time.seconds().value();
}

/// Rows of a table whose columns are the machines.
class Columns {
 public:
  explicit Columns(const Comparison& comparison) : comparison_(comparison), table_(heads()) {}

  void add(const std::string& title,
           const std::function<std::string(const ModelPrediction&)>& field) {
    std::vector<std::string> row = {title};
    for (const Compared& machine : comparison_.machines) {
      row.push_back(machine.prediction.ok() ? field(*machine.prediction) : "");
    }
    table_.add(std::move(row));
  }

  std::string to_text() const { return table_.to_text(); }

 private:
  std::vector<TextTable::Column> heads() const {
    std::vector<TextTable::Column> heads(1);
    for (const Compared& machine : comparison_.machines) {
      heads.push_back({machine.machine, Align::Right});
    }
    return heads;
  }

  const Comparison& comparison_;
  TextTable table_;
};

const ModelPrediction& first(const Comparison& comparison) {
  return *std::find_if(comparison.machines.begin(),
                       comparison.machines.end(),
                       [](const Compared& machine) { return machine.prediction.ok(); })
              ->prediction;
}

/// Kinds of operators of any machine, in order of appearance.
std::vector<std::string_view> kinds_of(const Comparison& comparison) {
  std::vector<std::string_view> kinds;
  for (const Compared& machine : comparison.machines) {
    if (!machine.prediction.ok()) {
      continue;
    }
    for (const KindTime& kind : by_kind(machine.prediction->plan,
                                        machine.prediction->time,
                                        machine.prediction->setting.limits)) {
      if (std::find(kinds.begin(), kinds.end(), kind.kind) == kinds.end()) {
        kinds.push_back(kind.kind);
      }
    }
  }
  return kinds;
}

std::string kind_text(const ModelPrediction& prediction, std::string_view kind) {
  for (const KindTime& each :
       by_kind(prediction.plan, prediction.time, prediction.setting.limits)) {
    if (each.kind == kind) {
      return fmt::format(
          "{} {:3.0f} %", to_text(each.time), 100 * (each.time / prediction.time.device));
    }
  }
  return "";
}

/// Each warning once, with the machines that have it where not all do.
std::string warnings_text(const Comparison& comparison) {
  std::vector<std::pair<std::string, std::vector<std::string>>> warnings;
  size_t predicted = 0;
  for (const Compared& machine : comparison.machines) {
    if (!machine.prediction.ok()) {
      continue;
    }
    ++predicted;
    for (const std::string& warning : machine.prediction->time.total.warnings) {
      auto known = std::find_if(warnings.begin(), warnings.end(), [&warning](const auto& each) {
        return each.first == warning;
      });
      if (known == warnings.end()) {
        known = warnings.insert(known, {warning, {}});
      }
      known->second.push_back(machine.machine);
    }
  }
  std::string text;
  for (const auto& [warning, machines] : warnings) {
    text += "warning: " + warning;
    text += machines.size() == predicted ? "\n" : " (" + join(machines, ", ") + ")\n";
  }
  return text;
}

std::string title(const ModelPrediction& prediction) {
  std::vector<std::string> words;
  for (const auto& [name, value] : prediction.sizes) {
    words.push_back(fmt::format("{} {}", name, value));
  }
  return fmt::format("{}: {}, {}; runtime {}, clock {}\n",
                     prediction.model,
                     prediction.phase,
                     join(words, ", "),
                     name(prediction.plan.runtime),
                     prediction.setting.clock);
}

}  // namespace

std::string to_text(const Comparison& comparison) {
  const ModelPrediction& reference = first(comparison);
  Columns columns(comparison);
  columns.add("time", [](const auto& each) { return to_text(each.time.total.time); });
  columns.add("80 % from", [](const auto& each) { return to_text(each.time.total.low); });
  columns.add("to", [](const auto& each) { return to_text(each.time.total.high); });
  columns.add("tokens/s", [](const auto& each) { return speed(tokens_per_second(each)); });
  columns.add("speed", [&reference](const auto& each) {
    return fmt::format("{:.2f} x", reference.time.total.time / each.time.total.time);
  });
  columns.add("bound", [](const auto& each) { return std::string(name(each.time.total.bound)); });
  columns.add("memory", [](const auto& each) { return to_text(each.plan.memory.total()); });
  columns.add("of", [](const auto& each) { return to_text(each.fit.capacity); });
  columns.add("fits", [](const auto& each) { return each.fit.fits ? "yes" : "no"; });
  for (const std::string_view kind : kinds_of(comparison)) {
    columns.add(std::string(kind), [kind](const auto& each) { return kind_text(each, kind); });
  }
  std::string text = title(reference) + '\n' + columns.to_text();
  for (const Compared& machine : comparison.machines) {
    if (!machine.prediction.ok()) {
      text += fmt::format(
          "{}: not predicted: {}\n", machine.machine, machine.prediction.error().to_string());
    }
  }
  return text + warnings_text(comparison);
}

bool any_fits(const Comparison& comparison) {
  return std::any_of(
      comparison.machines.begin(), comparison.machines.end(), [](const Compared& machine) {
        return machine.prediction.ok() && machine.prediction->fit.fits;
      });
}

std::string to_csv(const Comparison& comparison) {
  std::string text =
      "machine,time_us,low_us,high_us,bound,tokens_per_second,memory_bytes,capacity_bytes,fits,"
      "error\n";
  for (const Compared& machine : comparison.machines) {
    if (!machine.prediction.ok()) {
      text += fmt::format(
          "{},,,,,,,,,{}\n", machine.machine, csv_field(machine.prediction.error().message));
      continue;
    }
    const ModelPrediction& prediction = *machine.prediction;
    text += fmt::format("{},{},{},{},{},{},{},{},{},\n",
                        machine.machine,
                        format_double_exact(prediction.time.total.time.microseconds()),
                        format_double_exact(prediction.time.total.low.microseconds()),
                        format_double_exact(prediction.time.total.high.microseconds()),
                        name(prediction.time.total.bound),
                        format_double_exact(tokens_per_second(prediction)),
                        format_double_exact(prediction.plan.memory.total().value()),
                        format_double_exact(prediction.fit.capacity.value()),
                        prediction.fit.fits ? 1 : 0);
  }
  return text;
}

std::string to_json(const Comparison& comparison, Detail detail) {
  JsonWriter json;
  json.begin_object().member("schema", "orrery.comparison/1").key("predictions").begin_array();
  for (const Compared& machine : comparison.machines) {
    if (machine.prediction.ok()) {
      write(json, *machine.prediction, detail);
    } else {
      json.begin_object().key("machine").begin_object().member("id", machine.machine).end_object();
      json.member("error", machine.prediction.error().message).end_object();
    }
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::report
