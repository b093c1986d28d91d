// Calibration: runs benchmarks and writes the machine file that they make of a shipped one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/calibrate/benchmark.h"
#include "orrery/calibrate/gpu.h"
#include "orrery/machine/machine.h"

namespace orrery::calibrate {

/// A benchmark that did not run, and why.
struct Skipped {
  std::string name;
  std::string reason;

  bool operator==(const Skipped&) const = default;
};

struct Measured {
  Findings findings;
  std::vector<Skipped> skipped;
};

/// Called before each benchmark with its name, how many are done and how many there are.
using Progress = std::function<void(std::string_view name, size_t done, size_t all)>;

/// Error InvalidInput: names that no benchmark has.
Result<void> check_names(const std::vector<std::string>& only);

/// Runs the benchmarks named `only` (none: all) in the table's order. Errors: an unknown name, the
/// GPU's refusal.
Result<Measured> measure(Gpu& gpu,
                         const machine::Chip& like,
                         const std::vector<std::string>& only,
                         const Progress& progress);

struct Options {
  std::string id;                      // of the machine file
  std::string date;                    // of the findings, YYYY-MM-DD
  std::vector<std::string> only = {};  // benchmarks; none: all
};

/// What calibrating gave.
struct Calibration {
  GpuFacts gpu;
  std::string like;  // id of the machine that the rest is taken over from
  std::string like_title;
  Options options;
  Measured measured;
  std::vector<std::string> inherited;  // keys of that machine which no benchmark measured
  std::string machine_file;
};

/// Measures and makes the machine file. A finding replaces the number of `like` of its key; one
/// that `like` has no number for stands in the report alone. Errors: as of measure; findings of
/// which no machine file can be made (faster than the data sheet, say).
Result<Calibration> calibrate(Gpu& gpu,
                              const machine::Machine& like,
                              const Options& options,
                              const Progress& progress);

/// The machine's number of this key; none: nullptr.
const machine::Number* number_of(const machine::Machine& machine, std::string_view key);

/// The text of a machine file with the findings in place of `like`'s numbers and all else taken
/// over from it, which each note says.
std::string machine_file(const machine::Machine& like,
                         const Findings& findings,
                         const Options& options);

/// The finding as a number of machine files, with so many digits as it has meaning.
double rounded(double value);

/// The machine that a GPU's name fits: "NVIDIA H200" is answered by h200-sxm (alias h200).
const machine::Machine* fitting(const std::vector<machine::Machine>& machines,
                                const std::string& gpu_name);

}  // namespace orrery::calibrate
