// Arithmetic that rules share.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/counts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace orrery::library {

int64_t occupancy(const machine::Core& core, int64_t threads, int64_t registers, double shared) {
  const int64_t warps = ceil_div(threads, core.warp_size);
  const int64_t rounded =
      ceil_div(registers, core.register_granularity) * core.register_granularity;
  int64_t ctas = std::min(core.max_ctas, core.max_threads / (warps * core.warp_size));
  ctas = std::min(ctas, core.registers / (rounded * warps * core.warp_size));
  const double each = shared + core.shared_reserved.value();
  if (shared > 0) {
    ctas = std::min(ctas, static_cast<int64_t>(core.shared_capacity.value() / each));
  }
  return std::max<int64_t>(1, ctas);
}

kernel::Traffic streamed(double read, double write) {
  return {.unique_read = Bytes(read),
          .recent_read = Bytes(read),
          .unique_write = Bytes(write),
          .dram_read = Bytes(read),
          .dram_write = Bytes(write),
          .l2_read = Bytes(read),
          .l2_write = Bytes(write)};
}

void set_units(kernel::Profile& profile, std::vector<kernel::UnitKind> kinds) {
  double units = 0;
  for (const auto& kind : kinds) {
    units += kind.count;
  }
  profile.kinds = std::move(kinds);
  profile.units = whole(units);
  profile.ctas = profile.units;
}

double one(machine::NumberFile& file, std::string_view key) {
  return file.number(key, machine::Unit::One, machine::Range::NotNegative);
}

double cycles(machine::NumberFile& file, std::string_view key) {
  return file.number(key, machine::Unit::Cycles, machine::Range::NotNegative);
}

Duration duration(machine::NumberFile& file, std::string_view key) {
  return Duration::from(
      Seconds(file.number(key, machine::Unit::Seconds, machine::Range::NotNegative)));
}

double error_of(machine::NumberFile& file, std::string_view section) {
  return file.number(std::string(section) + ".error", machine::Unit::One);
}

}  // namespace orrery::library
