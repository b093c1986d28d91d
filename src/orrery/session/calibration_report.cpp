// Calibrations as text, Markdown and JSON.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/base/text.h"
#include "orrery/calibrate/benchmark.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/table.h"
#include "orrery/session/calibrate.h"

namespace orrery::session {

namespace {

using report::Align;

/// A finding beside the machine's number of its key; none where the report alone has it.
struct Row {
  const calibrate::Finding* finding;
  const machine::Number* number;

  double value() const { return calibrate::rounded(finding->value); }

  double ratio() const { return number->value != 0 ? value() / number->value : 0; }
};

std::vector<Row> rows(const Calibrated& calibrated, bool of_the_file) {
  std::vector<Row> result;
  for (const calibrate::Finding& finding : calibrated.calibration.measured.findings) {
    const Row row{&finding, calibrate::number_of(calibrated.like, finding.key)};
    if ((row.number != nullptr) == of_the_file) {
      result.push_back(row);
    }
  }
  return result;
}

std::string gpu_line(const calibrate::GpuFacts& gpu) {
  return fmt::format("{}: compute capability {}.{}, {} SMs, {:.0f} MHz, {:.1f} GiB",
                     gpu.name,
                     gpu.major,
                     gpu.minor,
                     gpu.sms,
                     static_cast<double>(gpu.clock_khz) / 1e3,
                     static_cast<double>(gpu.memory_bytes) / (1 << 30));
}

/// "report.l2_peak" -> "l2_peak".
std::string short_key(const std::string& key) {
  return key.starts_with("report.") ? key.substr(7) : key;
}

std::string number_text(double value) {
  return fmt::format("{}", value);
}

}  // namespace

std::string benchmarks_text() {
  report::TextTable table({{"benchmark"}, {"what it measures"}, {"needs"}});
  for (const calibrate::Benchmark& one : calibrate::benchmarks()) {
    table.add({std::string(one.name),
               std::string(one.summary),
               one.hopper ? "compute capability 9.0" : ""});
  }
  return table.to_text();
}

std::string benchmarks_json() {
  report::JsonWriter json;
  json.begin_object().member("schema", "orrery.benchmarks/1").key("benchmarks").begin_array();
  for (const calibrate::Benchmark& one : calibrate::benchmarks()) {
    json.begin_object().member("name", one.name).member("summary", one.summary);
    json.member("hopper", one.hopper).end_object();
  }
  return json.end_array().end_object().text();
}

std::string to_text(const Calibrated& calibrated) {
  const calibrate::Calibration& calibration = calibrated.calibration;
  std::string text = gpu_line(calibration.gpu) + fmt::format("; like {}\n\n", calibration.like);
  report::TextTable numbers({{"number"},
                             {"measured", Align::Right},
                             {"unit"},
                             {calibration.like, Align::Right},
                             {"ratio", Align::Right},
                             {"source"}});
  for (const Row& row : rows(calibrated, true)) {
    numbers.add({row.finding->key,
                 number_text(row.value()),
                 row.finding->unit,
                 number_text(row.number->value),
                 fmt::format("{:.2f}", row.ratio()),
                 std::string(name(row.number->source))});
  }
  report::TextTable beside({{"beside"}, {"measured", Align::Right}, {"unit"}, {"how"}});
  for (const Row& row : rows(calibrated, false)) {
    beside.add({short_key(row.finding->key),
                number_text(row.value()),
                row.finding->unit,
                row.finding->note});
  }
  text += numbers.to_text() + "\n" + beside.to_text();
  text +=
      fmt::format("\ntaken over from {}: {}\n",
                  calibration.like,
                  calibration.inherited.empty() ? "nothing" : join(calibration.inherited, ", "));
  for (const calibrate::Skipped& skipped : calibration.measured.skipped) {
    text += fmt::format("skipped {}: {}\n", skipped.name, skipped.reason);
  }
  return text;
}

std::string to_markdown(const Calibrated& calibrated) {
  const calibrate::Calibration& calibration = calibrated.calibration;
  std::string text =
      fmt::format("# {}, calibrated\n\n{}. Measured on {} by `orrery calibrate`.\n\n",
                  calibration.like_title,
                  gpu_line(calibration.gpu),
                  calibration.options.date);
  text += fmt::format(
      "## Numbers of the machine file\n\n| number | measured | unit | {} | ratio | "
      "its source | method |\n|---|---:|---|---:|---:|---|---|\n",
      calibration.like);
  for (const Row& row : rows(calibrated, true)) {
    text += fmt::format("| {} | {} | {} | {} | {:.2f} | {} | {} |\n",
                        row.finding->key,
                        row.value(),
                        row.finding->unit,
                        row.number->value,
                        row.ratio(),
                        name(row.number->source),
                        row.finding->note);
  }
  text += "\n## Beside them\n\n| what | measured | unit | method |\n|---|---:|---|---|\n";
  for (const Row& row : rows(calibrated, false)) {
    text += fmt::format("| {} | {} | {} | {} |\n",
                        short_key(row.finding->key),
                        row.value(),
                        row.finding->unit,
                        row.finding->note);
  }
  text += fmt::format(
      "\n## Taken over from {}\n\n{}\n",
      calibration.like,
      calibration.inherited.empty() ? "Nothing." : join(calibration.inherited, ", ") + ".");
  for (const calibrate::Skipped& skipped : calibration.measured.skipped) {
    text += fmt::format("\nSkipped {}: {}.\n", skipped.name, skipped.reason);
  }
  return text;
}

std::string to_json(const Calibrated& calibrated) {
  const calibrate::Calibration& calibration = calibrated.calibration;
  const calibrate::GpuFacts& gpu = calibration.gpu;
  report::JsonWriter json;
  json.begin_object().member("schema", "orrery.calibration/1").key("gpu").begin_object();
  json.member("name", gpu.name).member("major", int64_t{gpu.major});
  json.member("minor", int64_t{gpu.minor}).member("sms", gpu.sms);
  json.member("memory_bytes", gpu.memory_bytes).end_object();
  json.member("like", calibration.like).member("id", calibration.options.id);
  json.member("date", calibration.options.date).key("numbers").begin_array();
  for (const bool of_the_file : {true, false}) {
    for (const Row& row : rows(calibrated, of_the_file)) {
      json.begin_object().member("key", short_key(row.finding->key));
      json.member("value", row.value()).member("unit", row.finding->unit);
      json.member("method", row.finding->note).member("in_file", of_the_file);
      if (of_the_file) {
        json.member("like_value", row.number->value)
            .member("like_source", name(row.number->source));
      }
      json.end_object();
    }
  }
  json.end_array().key("inherited").begin_array();
  for (const std::string& key : calibration.inherited) json.value(key);
  json.end_array().key("skipped").begin_array();
  for (const calibrate::Skipped& skipped : calibration.measured.skipped) {
    json.begin_object().member("name", skipped.name).member("reason", skipped.reason).end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::session
