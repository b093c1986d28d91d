// Rules axis, raster and cluster: what is swept, walked, and launched together.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

void check_parts(const Program& program, const Axis& axis, Report& report) {
  if (!axis.parts) return;
  const auto who = [&] { return fmt::format("axis {}", axis.name); };
  if (axis.kind != AxisKind::Loop) {
    report.add("axis", who(), "got parts on an axis that is not walked, need a loop axis");
  }
  if (program[*axis.parts].kind != AxisKind::Grid) {
    report.add("axis", who(), "got parts {}, need a grid axis", program[*axis.parts].name);
  } else if (program[*axis.parts].tile != 1) {
    report.add("axis",
               who(),
               "got parts {} of tile {}, need tile 1",
               program[*axis.parts].name,
               program[*axis.parts].tile);
  }
}

void check_axis(const Program& program, const Axis& axis, Report& report) {
  const auto who = [&] { return fmt::format("axis {}", axis.name); };
  const bool fixed = axis.extent.symbol.empty();
  if (axis.kind == AxisKind::Whole && fixed && axis.extent.fixed > axis.tile) {
    report.add("axis",
               who(),
               "got extent {} of a whole axis, need at most its tile {}",
               axis.extent.fixed,
               axis.tile);
  }
  if (fixed && axis.extent.fixed % axis.multiple != 0) {
    report.add("axis",
               who(),
               "got extent {}, need the multiple of {} that it promises",
               axis.extent.fixed,
               axis.multiple);
  }
  check_parts(program, axis, report);
}

void check_raster(const Program& program, Report& report) {
  const Raster& raster = program.raster;
  for (size_t i = 0; i < program.axes.size(); ++i) {
    const auto listed = std::count(raster.order.begin(), raster.order.end(), AxisId::from_index(i));
    const int64_t needed = program.axes[i].kind == AxisKind::Grid ? 1 : 0;
    if (listed != needed) {
      report.add("raster",
                 fmt::format("axis {}", program.axes[i].name),
                 "got it {} times, need {} (every grid axis once, no other)",
                 listed,
                 needed);
    }
  }
  if (raster.group > 1 && raster.order.size() < 2) {
    report.add("raster", "group", "got {}, need 1 or a second axis to sweep", raster.group);
  }
}

void check_cluster(const Program& program, Report& report) {
  if (!program.cluster) return;
  const auto& [axis, size] = *program.cluster;
  const int64_t largest = target_limits(program.target).largest_cluster;
  if (program[axis].kind != AxisKind::Grid) {
    report.add("cluster", fmt::format("axis {}", program[axis].name), "got no grid axis, need one");
  }
  if (size > largest || (size & (size - 1)) != 0) {
    report.add("cluster",
               "size",
               "got {}, need a power of two of at most {} on {}",
               size,
               largest,
               name(program.target));
  }
}

}  // namespace

void verify_axes(const Program& program, Report& report) {
  for (const Axis& axis : program.axes) check_axis(program, axis, report);
  for (size_t i = 0; i < program.phases.size(); ++i) {
    const std::optional<AxisId> loop = program.phases[i].loop;
    if (loop && program[*loop].kind != AxisKind::Loop) {
      report.add("axis",
                 fmt::format("phase {}", i),
                 "got a loop over {}, need a loop axis",
                 program[*loop].name);
    }
  }
  check_raster(program, report);
  check_cluster(program, report);
}

}  // namespace orrery::kernel::detail
