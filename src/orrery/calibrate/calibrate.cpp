// Runs benchmarks, makes machine files: see calibrate.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "orrery/base/check.h"
#include "orrery/base/text.h"
#include "orrery/calibrate/measure.h"

namespace orrery::calibrate {
namespace {

/// "core.tensor.bf16" -> "core.tensor" and "bf16".
std::pair<std::string, std::string> split_key(const std::string& key) {
  const size_t dot = key.rfind('.');
  return {key.substr(0, dot), key.substr(dot + 1)};
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string list(const std::vector<std::string>& texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) all.push_back(quoted(text));
  return "[" + join(all, ", ") + "]";
}

std::string_view vendor(machine::Vendor vendor) {
  switch (vendor) {
    case machine::Vendor::Nvidia:
      return "nvidia";
    case machine::Vendor::Amd:
      return "amd";
    case machine::Vendor::Other:
      return "other";
  }
  ORR_UNREACHABLE();
}

const Finding* finding_of(const Findings& findings, std::string_view key) {
  const auto found = std::find_if(
      findings.begin(), findings.end(), [&](const Finding& one) { return one.key == key; });
  return found == findings.end() ? nullptr : &*found;
}

std::vector<machine::Number> merged(const machine::Machine& like,
                                    const Findings& findings,
                                    const std::string& date) {
  std::vector<machine::Number> numbers = like.numbers;
  for (machine::Number& number : numbers) {
    if (const Finding* fresh = finding_of(findings, number.key)) {
      number = {.key = fresh->key,
                .value = rounded(fresh->value),
                .unit = fresh->unit,
                .source = machine::Source::Measured,
                .note = "orrery calibrate: " + fresh->note,
                .date = date};
    } else {
      number.note = fmt::format("taken over from {}: {}", like.id, number.note);
    }
  }
  return numbers;
}

std::vector<const Benchmark*> chosen(const std::vector<std::string>& only) {
  std::vector<const Benchmark*> result;
  for (const Benchmark& one : benchmarks()) {
    if (only.empty() || std::find(only.begin(), only.end(), one.name) != only.end()) {
      result.push_back(&one);
    }
  }
  return result;
}

}  // namespace

double rounded(double value) {
  double result = 0;
  const std::string text = fmt::format("{:.4g}", value);
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

const machine::Number* number_of(const machine::Machine& machine, std::string_view key) {
  for (const machine::Number& number : machine.numbers) {
    if (number.key == key) return &number;
  }
  return nullptr;
}

Result<void> check_names(const std::vector<std::string>& only) {
  std::vector<std::string> known, unknown;
  for (const Benchmark& one : benchmarks()) known.emplace_back(one.name);
  for (const std::string& name : only) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      unknown.push_back("'" + name + "'");
    }
  }
  if (unknown.empty()) return {};
  return make_error(ErrorCode::InvalidInput,
                    "[calibrate] --only: got {}, need some of {}",
                    join(unknown, ", "),
                    join(known, ", "));
}

Result<Measured> measure(Gpu& gpu,
                         const machine::Chip& like,
                         const std::vector<std::string>& only,
                         const Progress& progress) {
  ORR_TRY_VOID(check_names(only));
  const std::vector<const Benchmark*> all = chosen(only);
  Measured measured;
  for (size_t i = 0; i < all.size(); ++i) {
    const Benchmark& one = *all[i];
    if (progress) progress(one.name, i, all.size());
    if (one.hopper && gpu.facts().major != 9) {
      measured.skipped.push_back(
          {std::string(one.name),
           fmt::format(
               "got compute capability {}.{}, need 9.0", gpu.facts().major, gpu.facts().minor)});
      continue;
    }
    ORR_TRY_VOID(fill(gpu, DType::BF16));  // some benchmarks write
    Result<Findings> found = one.run(gpu, like);
    if (!found.ok()) return found.error().with_note(fmt::format("in benchmark {}", one.name));
    measured.findings.insert(measured.findings.end(), found->begin(), found->end());
  }
  return measured;
}

Result<Calibration> calibrate(Gpu& gpu,
                              const machine::Machine& like,
                              const Options& options,
                              const Progress& progress) {
  Calibration result{.gpu = gpu.facts(),
                     .like = like.id,
                     .like_title = like.title,
                     .options = options,
                     .measured = {},
                     .inherited = {},
                     .machine_file = {}};
  ORR_TRY(result.measured, measure(gpu, like.chip, options.only, progress));
  for (const machine::Number& number : like.numbers) {
    if (finding_of(result.measured.findings, number.key) == nullptr) {
      result.inherited.push_back(number.key);
    }
  }
  result.machine_file = machine_file(like, result.measured.findings, options);
  const auto made = machine::parse_machine(result.machine_file, "what was measured");
  if (!made.ok()) return made.error().with_note("the file would not be a machine");
  return result;
}

std::string machine_file(const machine::Machine& like,
                         const Findings& findings,
                         const Options& options) {
  std::string text = fmt::format(
      "# {}: measured by orrery calibrate; what it does not measure is taken over from {}.\n"
      "# SPDX-License-Identifier: Apache-2.0\n",
      like.title,
      like.id);
  text += fmt::format(
      "id = {}\naliases = []\ntitle = {}\nvendor = {}\narchitecture = {}\n"
      "libraries = {}\n",
      quoted(options.id),
      quoted(like.title + ", calibrated"),
      quoted(vendor(like.chip.vendor)),
      quoted(like.chip.architecture),
      list(like.libraries));
  const std::vector<machine::Number> numbers = merged(like, findings, options.date);
  std::vector<std::string> sections;
  for (const machine::Number& number : numbers) {
    const std::string section = split_key(number.key).first;
    if (std::find(sections.begin(), sections.end(), section) == sections.end()) {
      sections.push_back(section);
    }
  }
  for (const std::string& section : sections) {
    text += fmt::format("\n[{}]\n", section);
    for (const machine::Number& number : numbers) {
      const auto [in, key] = split_key(number.key);
      if (in != section) continue;
      text += fmt::format("{} = {{ value = {}, unit = {}, source = {}, date = {}, note = {} }}\n",
                          key,
                          number.value,
                          quoted(number.unit),
                          quoted(name(number.source)),
                          number.date,
                          quoted(number.note));
    }
  }
  return text;
}

const machine::Machine* fitting(const std::vector<machine::Machine>& machines,
                                const std::string& gpu_name) {
  std::string words = gpu_name;
  std::replace(words.begin(), words.end(), ' ', '-');
  const std::vector<std::string_view> parts = split(words, '-');
  for (size_t length = parts.size(); length > 0; --length) {
    for (size_t first = 0; first + length <= parts.size(); ++first) {
      std::string name;
      for (size_t i = first; i < first + length; ++i) name += std::string(parts[i]) + "-";
      name.pop_back();
      for (const machine::Machine& machine : machines) {
        if (machine::answers_to(machine, name)) return &machine;
      }
    }
  }
  return nullptr;
}

}  // namespace orrery::calibrate
