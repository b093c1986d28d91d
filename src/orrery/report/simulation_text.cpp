// Simulations as text.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orrery/base/quantity_text.h"
#include "orrery/device/counters.h"
#include "orrery/report/setting_text.h"
#include "orrery/report/simulation_report.h"
#include "orrery/report/table.h"

namespace orrery::report {
namespace {

constexpr size_t kTenths = 40;  // digits of a line over time

/// A digit for each fortieth of the run: tenths of `most`, 9 for nine tenths and more.
std::string over_time(const device::Timeline& timeline, double clocks, double most) {
  std::string digits;
  for (size_t at = 0; at < kTenths; ++at) {
    const double from = clocks * static_cast<double>(at) / static_cast<double>(kTenths);
    const double to = clocks * static_cast<double>(at + 1) / static_cast<double>(kTenths);
    double sum = 0;
    const auto first = static_cast<size_t>(from / timeline.width());
    const auto last = static_cast<size_t>(to / timeline.width());
    for (size_t window = first; window <= last && window < timeline.sums().size(); ++window) {
      const double begin = std::max(from, timeline.width() * static_cast<double>(window));
      const double end = std::min(to, timeline.width() * static_cast<double>(window + 1));
      sum += timeline.sums()[window] * std::max(0.0, end - begin) / timeline.width();
    }
    const double share = most > 0 && to > from ? sum / (to - from) / most : 0;
    digits += static_cast<char>('0' + std::clamp(static_cast<int>(share * 10), 0, 9));
  }
  return digits;
}

struct PerSm {
  double mean = 0;
  double least = 0;
  double most = 0;
};

template <class Busy>
PerSm per_sm(const device::Run& run, Busy busy) {
  PerSm share{.mean = 0, .least = 1, .most = 0};
  for (const device::SmBusy& sm : run.sms) {
    const double part = busy(sm) / std::max(1.0, run.clocks);
    share.mean += part / static_cast<double>(run.sms.size());
    share.least = std::min(share.least, part);
    share.most = std::max(share.most, part);
  }
  return share;
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

std::string busy_table(const SimulatedKernel& kernel, const machine::Chip& chip) {
  const device::Run& run = kernel.simulation.run;
  const double hertz = kernel.simulation.hertz;
  const double sms = static_cast<double>(chip.core.count);
  TextTable table({{"busy"},
                   {"mean", Align::Right},
                   {"least SM", Align::Right},
                   {"most", Align::Right},
                   {"over time, tenths"}});
  for (size_t pipe = 0; pipe < device::kPipes; ++pipe) {
    const PerSm share = per_sm(run, [pipe](const device::SmBusy& sm) { return sm.pipes[pipe]; });
    if (share.most > 0) {
      table.add({std::string(name(static_cast<device::Pipe>(pipe))),
                 percent(share.mean),
                 percent(share.least),
                 percent(share.most),
                 over_time(kernel.recording.pipes[pipe], run.clocks, sms)});
    }
  }
  const PerSm port = per_sm(run, [](const device::SmBusy& sm) { return sm.port; });
  table.add({"port to L2", percent(port.mean), percent(port.least), percent(port.most), ""});
  table.add({"L2",
             percent(run.l2_busy / std::max(1.0, run.clocks)),
             "",
             "",
             over_time(kernel.recording.l2, run.clocks, chip.l2.bandwidth.value())});
  table.add({"DRAM",
             percent(run.dram_busy / std::max(1.0, run.clocks)),
             "",
             "",
             over_time(kernel.recording.dram_read, run.clocks, chip.dram.read.value() / hertz)});
  return table.to_text();
}

std::string stall_table(const device::Run& run) {
  struct Row {
    std::string name;
    double clocks = 0;
  };

  std::vector<Row> rows;
  for (size_t pipe = 0; pipe < device::kPipes; ++pipe) {
    rows.push_back({std::string(name(static_cast<device::Pipe>(pipe))), run.stalls.pipes[pipe]});
  }
  rows.push_back({"operands", run.stalls.operands});
  rows.push_back({"dependence, barriers", run.stalls.chain});
  rows.push_back({"stores", run.stalls.stores});
  std::stable_sort(
      rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.clocks > b.clocks; });
  TextTable table({{"warps spend"}, {"of their time", Align::Right}});
  for (const Row& row : rows) {
    const double share = row.clocks / std::max(1.0, run.lived);
    if (share >= 0.005) {
      table.add({row.name, percent(share)});
    }
  }
  return table.to_text();
}

std::string counter_table(const SimulatedKernel& kernel, const machine::Chip& chip) {
  TextTable table({{"counter"}, {"value", Align::Right}, {"unit"}});
  for (const device::Counter& counter : device::counters(kernel.simulation, kernel.profile, chip)) {
    const bool whole = counter.unit != "%";
    table.add({counter.name, fmt::format("{:.{}f}", counter.value, whole ? 0 : 1), counter.unit});
  }
  return table.to_text();
}

std::string kernel_text(const SimulatedKernel& kernel, const SimulationReport& report) {
  const device::Run& run = kernel.simulation.run;
  std::string text = fmt::format(
      "kernel   {}\n"
      "grid     {} CTAs of {} threads, {} an SM, {} units of work\n"
      "run      {:.0f} clk at {:.0f} MHz, {} before it; {} events\n\n",
      kernel.profile.kernel,
      kernel.profile.ctas,
      kernel.profile.threads,
      kernel.profile.ctas_per_sm,
      kernel.profile.units,
      run.clocks,
      kernel.simulation.hertz * 1e-6,
      to_text(kernel.simulation.start),
      run.events);
  text += busy_table(kernel, report.chip) + '\n' + stall_table(run);
  if (report.counters) {
    text += '\n' + counter_table(kernel, report.chip);
  }
  return text;
}

}  // namespace

std::string to_text(const SimulationReport& report) {
  std::string text = fmt::format("{} on {}, simulated\nlibrary  {}\nclock    {}, operands {}\n\n",
                                 report.call,
                                 report.setting.machine_title,
                                 libraries_text(report.setting),
                                 report.setting.clock,
                                 report.warm ? "warm" : "cold");
  text += fmt::format("time     {}   ({} to {}, 80 %)   bound: {}\n",
                      to_text(report.total.time),
                      to_text(report.total.low),
                      to_text(report.total.high),
                      name(report.total.bound));
  for (const SimulatedKernel& kernel : report.kernels) {
    text += (&kernel == report.kernels.data() ? "" : "\n") + kernel_text(kernel, report);
  }
  return text;
}

}  // namespace orrery::report
