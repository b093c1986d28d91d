// A machine's page in Markdown.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "orrery/base/quantity_text.h"
#include "orrery/base/text.h"
#include "orrery/report/limits.h"
#include "orrery/report/machine_report.h"

namespace orrery::report {

namespace {

/// Text inside a cell of a table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '<' || c == '*' || c == '_' || c == '`') {
      escaped += '\\';
    }
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string summary(const machine::Machine& machine) {
  const machine::Chip& chip = machine.chip;
  const Limits limits = limits_of(chip);
  std::string text = "| what | |\n|---|---|\n";
  const auto row = [&text](std::string_view what, const std::string& value) {
    text += fmt::format("| {} | {} |\n", what, value);
  };
  row("name", fmt::format("`{}`", machine.id));
  if (!machine.aliases.empty()) {
    row("also", fmt::format("`{}`", join(machine.aliases, "`, `")));
  }
  row("architecture", chip.architecture);
  row("cores", fmt::format("{} at up to {}", chip.core.count, to_text(chip.clock.max)));
  row("memory", fmt::format("{} at {}", to_text(chip.dram.capacity), to_text(chip.dram.bandwidth)));
  row("L2 cache", to_text(chip.l2.capacity));
  row("fp32 vector peak", to_text(limits.vector));
  for (const auto& [type, rate] : limits.tensor) {
    row(fmt::format("{} matrix peak", name(type)), to_text(rate));
  }
  row("link", fmt::format("{} one way, {} GPUs a node", to_text(limits.link), chip.link.gpus));
  row("libraries", machine.libraries.empty() ? "none" : join(machine.libraries, ", "));
  return text;
}

std::string part_of(const std::string& key) {
  return key.substr(0, key.find('.'));
}

std::string numbers(const machine::Machine& machine) {
  std::string text;
  std::string part;
  for (const machine::Number& number : machine.numbers) {
    if (part_of(number.key) != part) {
      part = part_of(number.key);
      text += fmt::format(
          "\n### {}\n\n| number | value | unit | source | date | from "
          "|\n|---|--:|---|---|---|---|\n",
          part);
    }
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n",
                        number.key,
                        format_double_exact(number.value),
                        cell(number.unit),
                        name(number.source),
                        number.date,
                        cell(number.note));
  }
  return text;
}

}  // namespace

std::string to_page(const machine::Machine& machine) {
  return fmt::format(
      "# {}\n\nWritten by `orrery machines page {}`; not by hand.\n\n{}\n## Numbers\n{}",
      machine.title,
      machine.id,
      summary(machine),
      numbers(machine));
}

}  // namespace orrery::report
