// Triton kernels: reading of the lists, and profiles made of them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/triton_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <locale>
#include <sstream>
#include <utility>
#include <vector>

#include "orrery/library/counts.h"
#include "orrery/library/warp_counts.h"

namespace orrery::library {
namespace {

// "4 92 16384 723 76": exactly five numbers, all but the last positive.
bool parse_code(const std::string& text, TritonCode& code) {
  std::istringstream stream(text);
  stream.imbue(std::locale::classic());
  std::string rest;
  return stream >> code.warps >> code.registers >> code.shared >> code.once >> code.trip &&
         !(stream >> rest) && code.warps > 0 && code.warps <= 32 && code.registers > 0 &&
         code.shared >= 0 && code.once > 0 && code.trip >= 0;
}

kernel::ProfilePhase program_phase(std::string_view name,
                                   double instructions,
                                   double warps,
                                   const TritonTable& table) {
  kernel::ProfilePhase phase;
  phase.name = name;
  phase.work.issue = Instructions(warps * instructions * table.slots());
  phase.chain.fixed = Cycles(table.alone() * instructions);
  return phase;
}

}  // namespace

TritonTable::TritonTable(machine::NumberFile& file,
                         const std::string& section,
                         std::initializer_list<std::string_view> needed) {
  const std::string key = section + ".kernels";
  for (const std::string& text : file.list(key)) {
    const size_t space = text.find(' ');
    const size_t bar = text.find('|');
    Row row;
    bool good = space != std::string::npos && (bar == std::string::npos || bar > space);
    good = good &&
           parse_code(text.substr(space, bar == std::string::npos ? bar : bar - space), row.wgmma);
    row.other = row.wgmma;
    if (good && bar != std::string::npos) {
      good = parse_code(text.substr(bar + 1), row.other);
    }
    if (!good) {
      file.complain(key,
                    fmt::format("got '{}', need a name, warps, registers, bytes of shared memory, "
                                "instructions once and per trip; and, after a bar, the same five",
                                text));
      continue;
    }
    rows_[text.substr(0, space)] = row;
  }
  for (const std::string_view name : needed) {
    if (rows_.find(name) == rows_.end()) {
      file.complain(key, fmt::format("got none, need the counts of '{}'", name));
    }
  }
  alone_ = one(file, section + ".alone");
  slots_ = one(file, section + ".slots");
  overlap_ = one(file, section + ".overlap");
  tensor_share_ = one(file, section + ".tensor_share");
  error_ = error_of(file, section);
}

const TritonCode& TritonTable::of(std::string_view name, const machine::Chip& chip) const {
  static const TritonCode kNone;
  const auto at = rows_.find(name);
  if (at == rows_.end()) {
    return kNone;
  }
  return chip.architecture.starts_with("sm_90") ? at->second.wgmma : at->second.other;
}

kernel::Profile triton_profile(const TritonLaunch& launch,
                               const TritonTable& table,
                               const machine::Chip& chip) {
  const TritonCode& code = table.of(launch.code, chip);
  const auto warps = static_cast<double>(code.warps);
  kernel::Profile profile =
      resident_kernel(launch.kernel,
                      "recurrence",
                      chip,
                      {code.warps * chip.core.warp_size, code.registers, code.shared});
  kernel::ProfilePhase once = program_phase("program", launch.size * code.once, warps, table);
  once.chain.memory = launch.first_waits;
  kernel::ProfilePhase trip = program_phase("trip", launch.size * code.trip, warps, table);
  trip.trips = launch.trips;
  trip.work.tensor = Flops(launch.flops);
  trip.work.tensor_type = launch.fp32 ? DType::TF32 : DType::BF16;
  trip.work.tensor_share = table.tensor_share();
  trip.work.l2_read = Bytes(launch.l2_read);
  trip.work.l2_write = Bytes(launch.l2_write);
  trip.chain.memory = launch.waits;
  set_units(profile, {{std::max(1.0, std::ceil(launch.programs)), {once, trip}}});
  const Moved& moved = launch.moved;
  profile.traffic = streamed(moved.read + moved.scratch, moved.write);
  profile.traffic.recent_read = Bytes(moved.read);
  profile.traffic.scratch_read = Bytes(moved.scratch);
  profile.traffic.l2_read = Bytes(launch.programs * launch.trips * launch.l2_read);
  profile.traffic.l2_write = Bytes(launch.programs * launch.trips * launch.l2_write);
  profile.behaviour.residents = launch.apart;  // cost/residents.h
  profile.behaviour.overlap = launch.apart ? 0 : table.overlap();
  profile.behaviour.relative_error = table.error();
  return profile;
}

}  // namespace orrery::library
