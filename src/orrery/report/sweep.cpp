// Sweeps: their grid, CSV and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "orrery/base/text.h"
#include "orrery/report/csv_field.h"
#include "orrery/report/json_writer.h"

namespace orrery::report {

namespace {

bool is_numeric(const Axis& axis) {
  return std::all_of(axis.values.begin(), axis.values.end(), [](const std::string& value) {
    return parse_double(value).has_value();
  });
}

/// Counts messages; remembers in what order they came.
class Counter {
 public:
  void add(const std::string& message) {
    const auto [at, is_new] = places_.emplace(message, counted_.size());
    if (is_new) {
      counted_.emplace_back(message, 0);
    }
    ++counted_[at->second].second;
  }

  const Counted& counted() const { return counted_; }

 private:
  std::map<std::string, size_t> places_;
  Counted counted_;
};

void write_point(JsonWriter& json, const Sweep& sweep, const SweepPoint& point) {
  if (!point.error.empty()) {
    json.member("error", point.error);
    return;
  }
  json.member("time_us", point.time).member("low_us", point.low).member("high_us", point.high);
  json.member("bound", name(point.bound));
  if (sweep.is_model) {
    json.member("tokens_per_second", point.tokens_per_second);
    json.member("memory_bytes", point.memory.value()).member("fits", point.fits);
  }
  json.key("warnings").begin_array();
  for (const std::string& warning : point.warnings) {
    json.value(warning);
  }
  json.end_array();
}

void write_head(JsonWriter& json, const Sweep& sweep) {
  json.member("schema", "orrery.sweep/1").member("subject", sweep.subject);
  json.member("kind", sweep.is_model ? "model" : "operator");
  json.key("options").begin_object();
  for (const auto& [name, value] : sweep.fixed) {
    json.member(name, value);
  }
  json.end_object().key("machines").begin_array();
  for (const Setting& setting : sweep.settings) {
    json.begin_object().member("id", setting.machine).member("title", setting.machine_title);
    json.member("library", setting.library_version);
    if (!setting.clock.empty()) {
      json.member("clock", setting.clock);
    }
    json.end_object();
  }
  json.end_array().key("axes").begin_array();
  for (const Axis& axis : sweep.axes) {
    json.begin_object().member("name", axis.name).key("values").begin_array();
    for (const std::string& value : axis.values) {
      json.value(value);
    }
    json.end_array().end_object();
  }
  json.end_array();
}

}  // namespace

size_t Sweep::points_per_machine() const {
  size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
  }
  return count;
}

const std::string& Sweep::value(size_t point, size_t axis) const {
  size_t below = 1;
  for (size_t i = axis + 1; i < axes.size(); ++i) {
    below *= axes[i].values.size();
  }
  return axes[axis].values[point / below % axes[axis].values.size()];
}

size_t curve_axis(const Sweep& sweep) {
  size_t best = sweep.axes.size();
  size_t most = 1;
  for (size_t i = 0; i < sweep.axes.size(); ++i) {
    if (is_numeric(sweep.axes[i]) && sweep.axes[i].values.size() > 1 &&
        sweep.axes[i].values.size() >= most) {
      best = i;
      most = sweep.axes[i].values.size();
    }
  }
  return best;
}

Counted errors_of(const Sweep& sweep) {
  Counter errors;
  for (const SweepPoint& point : sweep.points) {
    if (!point.error.empty()) {
      errors.add(point.error);
    }
  }
  return errors.counted();
}

Counted warnings_of(const Sweep& sweep) {
  Counter warnings;
  for (const SweepPoint& point : sweep.points) {
    for (const std::string& warning : point.warnings) {
      warnings.add(warning);
    }
  }
  return warnings.counted();
}

bool any_fits(const Sweep& sweep) {
  return std::any_of(sweep.points.begin(), sweep.points.end(), [](const SweepPoint& point) {
    return point.error.empty() && point.fits;
  });
}

std::string to_csv(const Sweep& sweep) {
  std::string text = "machine";
  for (const Axis& axis : sweep.axes) {
    text += ',' + csv_field(axis.name);
  }
  text += ",time_us,low_us,high_us,bound";
  text += sweep.is_model ? ",tokens_per_second,memory_bytes,fits,error\n" : ",error\n";
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    const SweepPoint& point = sweep.points[i];
    const size_t machine = i / sweep.points_per_machine();
    text += csv_field(sweep.settings[machine].machine);
    for (size_t axis = 0; axis < sweep.axes.size(); ++axis) {
      text += ',' + csv_field(sweep.value(i, axis));
    }
    if (!point.error.empty()) {
      text += sweep.is_model ? ",,,,,,,," : ",,,,,";
      text += csv_field(point.error) + '\n';
      continue;
    }
    auto out = std::back_inserter(text);
    fmt::format_to(out,
                   ",{},{},{},{}",
                   format_double_exact(point.time.microseconds()),
                   format_double_exact(point.low.microseconds()),
                   format_double_exact(point.high.microseconds()),
                   name(point.bound));
    if (sweep.is_model) {
      fmt::format_to(out,
                     ",{},{},{}",
                     format_double_exact(point.tokens_per_second),
                     format_double_exact(point.memory.value()),
                     point.fits ? 1 : 0);
    }
    text += ",\n";
  }
  return text;
}

std::string to_json(const Sweep& sweep) {
  JsonWriter json;
  json.begin_object();
  write_head(json, sweep);
  json.key("points").begin_array();
  for (size_t i = 0; i < sweep.points.size(); ++i) {
    const size_t machine = i / sweep.points_per_machine();
    json.begin_object().member("machine", sweep.settings[machine].machine);
    json.key("at").begin_object();
    for (size_t axis = 0; axis < sweep.axes.size(); ++axis) {
      json.member(sweep.axes[axis].name, sweep.value(i, axis));
    }
    json.end_object();
    write_point(json, sweep, sweep.points[i]);
    json.end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::report
