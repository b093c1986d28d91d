// Counters: sums over SMs, bytes over the size of a sector.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/device/counters.h"

#include <algorithm>

namespace orrery::device {
namespace {

// Percent of the run that a pipe was busy, mean over all SMs of the chip.
double percent(const Run& run, Pipe pipe, double sms) {
  double busy = 0;
  for (const SmBusy& sm : run.sms) {
    busy += sm.pipes[static_cast<size_t>(pipe)];
  }
  return run.clocks > 0 ? 100 * busy / sms / run.clocks : 0;
}

double warps_percent(const Run& run, const kernel::Profile& profile, const machine::Core& core) {
  const double groups_per_cta =
      run.groups > 0
          ? static_cast<double>(run.groups) /
                static_cast<double>(std::max<int64_t>(1, std::min(profile.ctas, profile.units)))
          : 1;
  const double warps = static_cast<double>(profile.threads) / static_cast<double>(core.warp_size) /
                       std::max(1.0, groups_per_cta);
  const double most = static_cast<double>(core.max_threads) / static_cast<double>(core.warp_size);
  const double slots = most * static_cast<double>(core.count) * run.clocks;
  return slots > 0 ? 100 * run.lived * warps / slots : 0;
}

}  // namespace

std::vector<Counter> counters(const Simulation& simulation,
                              const kernel::Profile& profile,
                              const machine::Chip& chip) {
  const Run& run = simulation.run;
  const double sms = static_cast<double>(chip.core.count);
  const double sector = std::max(1.0, chip.l2.sector.value());
  const double l2 = run.moved.l2_read + run.moved.l2_write;
  const double missed = run.moved.dram_read;
  return {
      {"dram__bytes_read.sum", run.moved.dram_read, "B"},
      {"dram__bytes_write.sum", run.moved.dram_write, "B"},
      {"gpu__time_duration.sum", run.clocks / simulation.hertz * 1e9, "ns"},
      {"launch__block_size", static_cast<double>(profile.threads), ""},
      {"launch__cluster_size", static_cast<double>(profile.cluster), ""},
      {"launch__grid_size", static_cast<double>(profile.ctas), ""},
      {"launch__occupancy_per_sm", static_cast<double>(profile.ctas_per_sm), ""},
      {"lts__t_sector_hit_rate.pct", l2 > 0 ? 100 * (1 - std::min(1.0, missed / l2)) : 0, "%"},
      {"lts__t_sectors_op_read.sum", run.moved.l2_read / sector, ""},
      {"lts__t_sectors_op_write.sum", run.moved.l2_write / sector, ""},
      {"sm__cycles_elapsed.max", run.clocks, "clk"},
      {"sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
       percent(run, Pipe::Fma, sms),
       "%"},
      {"sm__pipe_shared_cycles_active.avg.pct_of_peak_sustained_active",
       percent(run, Pipe::Shared, sms),
       "%"},
      {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
       percent(run, Pipe::Tensor, sms),
       "%"},
      {"sm__pipe_xu_cycles_active.avg.pct_of_peak_sustained_active",
       percent(run, Pipe::Special, sms),
       "%"},
      {"sm__warps_active.avg.pct_of_peak_sustained_active",
       warps_percent(run, profile, chip.core),
       "%"},
      {"smsp__issue_active.avg.pct_of_peak_sustained_active", percent(run, Pipe::Issue, sms), "%"},
  };
}

}  // namespace orrery::device
