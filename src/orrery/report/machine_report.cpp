// Machines as text and JSON.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/machine_report.h"

#include <fmt/format.h>

#include "orrery/base/quantity_text.h"
#include "orrery/base/text.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/table.h"

namespace orrery::report {

std::string to_text(const std::vector<machine::Machine>& machines) {
  TextTable table({{"machine"},
                   {"also"},
                   {"title"},
                   {"cores", Align::Right},
                   {"memory", Align::Right},
                   {"bandwidth", Align::Right},
                   {"libraries"}});
  for (const machine::Machine& machine : machines) {
    table.add({machine.id,
               join(machine.aliases, " "),
               machine.title,
               fmt::format("{}", machine.chip.core.count),
               to_text(machine.chip.dram.capacity),
               to_text(machine.chip.dram.bandwidth),
               join(machine.libraries, " ")});
  }
  return table.to_text();
}

std::string to_text(const machine::Machine& machine) {
  TextTable table({{"number"}, {"value", Align::Right}, {"unit"}, {"source"}, {"date"}, {"from"}});
  for (const machine::Number& number : machine.numbers) {
    table.add({number.key,
               format_double_exact(number.value),
               number.unit,
               std::string(name(number.source)),
               number.date,
               number.note});
  }
  return fmt::format("{}: {} ({}; libraries {})\n\n{}",
                     machine.id,
                     machine.title,
                     machine.chip.architecture,
                     join(machine.libraries, ", "),
                     table.to_text());
}

namespace {

void write_head(JsonWriter& json, const machine::Machine& machine) {
  json.member("id", machine.id).member("title", machine.title);
  json.key("aliases").begin_array();
  for (const std::string& alias : machine.aliases) {
    json.value(alias);
  }
  json.end_array();
  json.member("architecture", machine.chip.architecture)
      .member("libraries", join(machine.libraries, ", "));
  json.member("cores", machine.chip.core.count);
  json.member("memory_bytes", machine.chip.dram.capacity.value());
  json.member("bandwidth_bytes_per_second", machine.chip.dram.bandwidth.value());
}

}  // namespace

std::string to_json(const std::vector<machine::Machine>& machines) {
  JsonWriter json;
  json.begin_object().member("schema", "orrery.machines/1").key("machines").begin_array();
  for (const machine::Machine& machine : machines) {
    json.begin_object();
    write_head(json, machine);
    json.end_object();
  }
  return json.end_array().end_object().text();
}

std::string to_json(const machine::Machine& machine) {
  JsonWriter json;
  json.begin_object().member("schema", "orrery.machine/1");
  write_head(json, machine);
  json.key("numbers").begin_array();
  for (const machine::Number& number : machine.numbers) {
    json.begin_object().member("key", number.key).member("value", number.value);
    json.member("unit", number.unit).member("source", name(number.source));
    json.member("date", number.date).member("note", number.note).end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::report
