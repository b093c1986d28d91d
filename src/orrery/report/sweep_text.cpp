// Sweeps as text: a table with the machines side by side, and a chart.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "orrery/base/quantity_text.h"
#include "orrery/base/text.h"
#include "orrery/report/chart.h"
#include "orrery/report/setting_text.h"
#include "orrery/report/speed_text.h"
#include "orrery/report/sweep.h"
#include "orrery/report/table.h"

namespace orrery::report {

namespace {

constexpr size_t kShown = 40;  // rows of the table

TextTable table_of(const Sweep& sweep) {
  std::vector<TextTable::Column> columns;
  for (const Axis& axis : sweep.axes) {
    columns.push_back({axis.name, Align::Right});
  }
  if (sweep.settings.size() == 1) {
    columns.insert(columns.end(), {{"time", Align::Right}, {"80 %"}, {"bound"}});
    if (sweep.is_model) {
      columns.insert(columns.end(),
                     {{"tokens/s", Align::Right}, {"memory", Align::Right}, {"fits"}});
    }
    return TextTable(std::move(columns));
  }
  for (size_t i = 0; i < sweep.settings.size(); ++i) {
    columns.push_back({sweep.settings[i].machine, Align::Right});
    if (sweep.is_model) {
      columns.push_back({"tokens/s", Align::Right});
    }
    columns.push_back({"bound"});
  }
  return TextTable(std::move(columns));
}

void add_alone(std::vector<std::string>& row, const Sweep& sweep, const SweepPoint& point) {
  if (!point.error.empty()) {
    row.insert(row.end(), {"error", "", ""});
    row.resize(row.size() + (sweep.is_model ? 3 : 0));
    return;
  }
  row.push_back(to_text(point.time));
  row.push_back(fmt::format("{} to {}", to_text(point.low), to_text(point.high)));
  row.emplace_back(name(point.bound));
  if (sweep.is_model) {
    row.push_back(speed(point.tokens_per_second));
    row.push_back(to_text(point.memory));
    row.emplace_back(point.fits ? "yes" : "no");
  }
}

void add_beside(std::vector<std::string>& row, const Sweep& sweep, const SweepPoint& point) {
  const bool predicted = point.error.empty();
  row.push_back(predicted ? to_text(point.time) + (point.fits ? "" : " !") : "error");
  if (sweep.is_model) {
    row.push_back(predicted ? speed(point.tokens_per_second) : "");
  }
  row.emplace_back(predicted ? name(point.bound) : "");
}

std::string rows_text(const Sweep& sweep) {
  const size_t rows = sweep.points_per_machine();
  const size_t every = (rows + kShown - 1) / kShown;
  TextTable table = table_of(sweep);
  for (size_t at = 0; at < rows; at += every) {
    std::vector<std::string> row;
    for (size_t axis = 0; axis < sweep.axes.size(); ++axis) {
      row.push_back(sweep.value(at, axis));
    }
    for (size_t machine = 0; machine < sweep.settings.size(); ++machine) {
      const SweepPoint& point = sweep.points[machine * rows + at];
      sweep.settings.size() == 1 ? add_alone(row, sweep, point) : add_beside(row, sweep, point);
    }
    table.add(std::move(row));
  }
  std::string text = table.to_text();
  if (every > 1) {
    text +=
        fmt::format("one of {} rows, of {}; --csv, --json and --html have them all\n", every, rows);
  }
  return text;
}

std::string time_text(double seconds) {
  return to_text(Duration::from(Seconds(seconds)));
}

/// A curve per machine and value of the other axes.
std::string chart_text(const Sweep& sweep) {
  const size_t along = curve_axis(sweep);
  if (along == sweep.axes.size() || sweep.axes[along].values.size() < 3) {
    return "";
  }
  std::vector<Curve> curves;
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    if (!sweep.points[i].error.empty()) {
      continue;
    }
    std::vector<std::string> words;
    if (sweep.settings.size() > 1) {
      words.push_back(sweep.settings[i / sweep.points_per_machine()].machine);
    }
    for (size_t axis = 0; axis < sweep.axes.size(); ++axis) {
      if (axis != along) {
        words.push_back(sweep.axes[axis].name + " " + sweep.value(i, axis));
      }
    }
    const std::string label = join(words, ", ");
    auto curve = std::find_if(
        curves.begin(), curves.end(), [&label](const Curve& each) { return each.name == label; });
    if (curve == curves.end()) {
      curves.push_back({label, {}});
      curve = curves.end() - 1;
    }
    const double x = *parse_double(sweep.value(i, along));
    if (x > 0) {
      curve->points.emplace_back(x, sweep.points[i].time.seconds().value());
    }
  }
  constexpr size_t kMostCurves = 12;
  if (curves.size() > kMostCurves) {
    return "";
  }
  const std::string drawn = chart(curves, {sweep.axes[along].name, "time", time_text});
  return drawn.empty() ? "" : '\n' + drawn;
}

std::string head_text(const Sweep& sweep) {
  std::vector<std::string> words;
  for (const auto& [name, value] : sweep.fixed) {
    words.push_back(fmt::format("{} {}", name, value));
  }
  std::string text = sweep.subject + (words.empty() ? "" : ": " + join(words, ", ")) + '\n';
  for (const Setting& setting : sweep.settings) {
    text += fmt::format("{}: {}, {}{}\n",
                        setting.machine,
                        setting.machine_title,
                        libraries_text(setting),
                        setting.clock.empty() ? "" : ", clock " + setting.clock);
  }
  return text;
}

/// Each warning once, with how many points have it where not all do.
std::string warnings_text(const Sweep& sweep) {
  constexpr size_t kMost = 20;
  const Counted warnings = warnings_of(sweep);
  std::string text;
  for (size_t i = 0; i < std::min(warnings.size(), kMost); ++i) {
    const auto& [message, count] = warnings[i];
    text += "warning: " + message;
    text += count == sweep.points.size()
                ? "\n"
                : fmt::format(" ({} of {} points)\n", count, sweep.points.size());
  }
  if (warnings.size() > kMost) {
    text += fmt::format("warning: and {} others; --json has them\n", warnings.size() - kMost);
  }
  return text;
}

}  // namespace

std::string to_text(const Sweep& sweep) {
  std::string text = head_text(sweep) + '\n' + rows_text(sweep);
  const bool marked = sweep.settings.size() > 1 &&
                      std::any_of(sweep.points.begin(), sweep.points.end(), [](const auto& point) {
                        return !point.fits;
                      });
  text += marked ? "! does not fit into the machine's memory\n" : "";
  for (const auto& [message, count] : errors_of(sweep)) {
    text += fmt::format("not predicted, {} point{}: {}\n", count, count == 1 ? "" : "s", message);
  }
  return text + warnings_text(sweep) + chart_text(sweep);
}

}  // namespace orrery::report
