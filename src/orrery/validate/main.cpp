// Scores a machine and library files against measured tables: one CSV line per row, for
// tools/fit.py.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/file.h"
#include "orrery/base/text.h"
#include "orrery/cost/estimate.h"
#include "orrery/device/simulator.h"
#include "orrery/frontend/decoder_list.h"
#include "orrery/library/library.h"
#include "orrery/machine/machine.h"
#include "orrery/validate/validate.h"

namespace {

using namespace orrery;

constexpr std::string_view kUsage =
    "usage: orrery_validate_main [--given-kernel] [--by-device] MACHINE.toml LIBRARY.toml... "
    "TABLE.csv...\n"
    "prints per row: table,family,case,measured,predicted,low,high,bound (us)\n";

struct Inputs {
  bool given_kernel = false;
  bool by_device = false;
  std::string machine;
  std::vector<std::string> libraries;
  std::vector<std::string> tables;
};

Inputs inputs_of(int argc, char** argv) {
  Inputs inputs;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--given-kernel") {
      inputs.given_kernel = true;
    } else if (word == "--by-device") {
      inputs.by_device = true;
    } else if (word.ends_with(".csv")) {
      inputs.tables.push_back(word);
    } else if (inputs.machine.empty()) {
      inputs.machine = word;
    } else {
      inputs.libraries.push_back(word);
    }
  }
  return inputs;
}

/// The case's columns, joined: all that stand before the first measured time.
std::string case_of(const validate::Table& table, const std::vector<std::string>& row) {
  std::string text;
  for (size_t i = 0; i < row.size(); ++i) {
    const std::string_view name = table.header[i];
    if (name == "latency_us" || name.starts_with("us_")) {
      break;
    }
    text += (i == 0 ? "" : " ") + row[i];
  }
  return text;
}

void print(const std::string& path, const validate::Validation& validation) {
  const validate::Table& table = validation.table;
  const size_t bound = *table.column("bound");
  const std::string stem = std::filesystem::path(path).stem().string();
  for (const validate::Compared& each : validation.compared) {
    const auto& row = table.rows[each.row];
    fmt::print("{},{},{},{},{:.3f},{:.3f},{:.3f},{}\n",
               stem,
               each.family,
               case_of(table, row),
               each.measured.microseconds(),
               each.predicted.microseconds(),
               each.low.microseconds(),
               each.high.microseconds(),
               row[bound]);
  }
}

Result<library::Library> libraries_of(const std::vector<std::string>& paths) {
  std::vector<library::Library> parts;
  for (const std::string& path : paths) {
    ORR_TRY(const std::string text, read_file(path, machine::kMostNumberFile));
    ORR_TRY(library::Library part, library::Library::parse(text, path));
    parts.push_back(std::move(part));
  }
  return library::Library::join(std::move(parts));
}

Result<std::vector<frontend::Model>> decoders_of(const std::string& table) {
  const std::string list = (std::filesystem::path(table).parent_path() / "models.json").string();
  if (!std::filesystem::exists(list)) {
    return std::vector<frontend::Model>{};
  }
  ORR_TRY(const std::string text, read_file(list));
  return frontend::read_decoder_list(text, list);
}

/// A machine that is like another finds it beside itself.
Result<machine::Machine> machine_of(const std::string& path) {
  ORR_TRY(const std::string text, read_file(path, machine::kMostNumberFile));
  return machine::parse_machine(
      text, path, [&](std::string_view id) -> Result<machine::MachineText> {
        const auto folder = std::filesystem::path(path).parent_path();
        const std::string other = (folder / (std::string(id) + ".toml")).string();
        ORR_TRY(std::string toml, read_file(other, machine::kMostNumberFile));
        return machine::MachineText{other, std::move(toml)};
      });
}

Result<void> score(const Inputs& inputs) {
  ORR_TRY(machine::Machine machine, machine_of(inputs.machine));
  ORR_TRY(const library::Library library, libraries_of(inputs.libraries));
  std::unique_ptr<plan::Estimator> estimator;
  if (inputs.by_device) {
    estimator = std::make_unique<device::Simulator>(std::move(machine));
  } else {
    estimator = std::make_unique<cost::ClosedForm>(std::move(machine));
  }
  for (const std::string& path : inputs.tables) {
    const validate::Setup setup{.library = library,
                                .estimator = *estimator,
                                .decoders_beside = [&path] { return decoders_of(path); },
                                .given_kernel = inputs.given_kernel};
    ORR_TRY(const std::string csv, read_file(path, validate::kMostTable));
    ORR_TRY(const validate::Validation validation, validate::validate_table(csv, path, setup));
    print(path, validation);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const Inputs inputs = inputs_of(argc, argv);
  if (inputs.libraries.empty() || inputs.tables.empty()) {
    std::cerr << kUsage;
    return 2;
  }
  const Result<void> done = score(inputs);
  if (!done.ok()) {
    std::cerr << printable(done.error().to_string()) << "\n";
    return 2;
  }
  return 0;
}
