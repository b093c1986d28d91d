// Simulations as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/device/counters.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/simulation_report.h"

namespace orrery::report {
namespace {

void write_timeline(JsonWriter& json,
                    std::string_view name,
                    const device::Timeline& timeline,
                    double us_per_clock) {
  json.key(name).begin_object().member("window_us", timeline.width() * us_per_clock);
  json.key("sums").begin_array();
  for (const double sum : timeline.sums()) {
    json.value(sum);
  }
  json.end_array().end_object();
}

void write_stalls(JsonWriter& json, const device::Run& run) {
  const double lived = std::max(1.0, run.lived);
  json.key("stalls").begin_object();
  for (size_t pipe = 0; pipe < device::kPipes; ++pipe) {
    json.member(name(static_cast<device::Pipe>(pipe)), run.stalls.pipes[pipe] / lived);
  }
  json.member("operands", run.stalls.operands / lived).member("chain", run.stalls.chain / lived);
  json.member("stores", run.stalls.stores / lived).end_object();
}

void write_sms(JsonWriter& json, const device::Run& run) {
  const double clocks = std::max(1.0, run.clocks);
  json.key("sms").begin_array();
  for (const device::SmBusy& sm : run.sms) {
    json.begin_object();
    for (size_t pipe = 0; pipe < device::kPipes; ++pipe) {
      json.member(name(static_cast<device::Pipe>(pipe)), sm.pipes[pipe] / clocks);
    }
    json.member("port to L2", sm.port / clocks).end_object();
  }
  json.end_array();
}

void write_kernel(JsonWriter& json, const SimulatedKernel& kernel, const machine::Chip& chip) {
  const device::Run& run = kernel.simulation.run;
  const double us_per_clock = 1e6 / kernel.simulation.hertz;
  json.begin_object().member("kernel", kernel.profile.kernel);
  json.member("time_us", kernel.simulation.estimate.time);
  json.member("start_us", kernel.simulation.start).member("clocks", run.clocks);
  json.member("clock_mhz", kernel.simulation.hertz * 1e-6);
  json.member("bound", name(kernel.simulation.estimate.bound));
  json.member("events", static_cast<int64_t>(run.events));
  json.member("l2_busy", run.l2_busy / std::max(1.0, run.clocks));
  json.member("dram_busy", run.dram_busy / std::max(1.0, run.clocks));
  write_stalls(json, run);
  json.key("counters").begin_array();
  for (const device::Counter& counter : device::counters(kernel.simulation, kernel.profile, chip)) {
    json.begin_object().member("name", counter.name).member("value", counter.value);
    json.member("unit", counter.unit).end_object();
  }
  json.end_array();
  write_sms(json, run);
  json.key("over_time").begin_object();
  for (size_t pipe = 0; pipe < device::kPipes; ++pipe) {
    write_timeline(
        json, name(static_cast<device::Pipe>(pipe)), kernel.recording.pipes[pipe], us_per_clock);
  }
  write_timeline(json, "l2_bytes", kernel.recording.l2, us_per_clock);
  write_timeline(json, "dram_read_bytes", kernel.recording.dram_read, us_per_clock);
  write_timeline(json, "dram_write_bytes", kernel.recording.dram_write, us_per_clock);
  json.end_object().end_object();
}

}  // namespace

std::string to_json(const SimulationReport& report) {
  JsonWriter json;
  json.begin_object().member("schema", "orrery.simulation/1").member("call", report.call);
  json.member("machine", report.setting.machine).member("library", report.setting.library);
  json.member("clock", report.setting.clock).member("operands", report.warm ? "warm" : "cold");
  json.member("time_us", report.total.time).member("low_us", report.total.low);
  json.member("high_us", report.total.high).member("bound", name(report.total.bound));
  json.key("kernels").begin_array();
  for (const SimulatedKernel& kernel : report.kernels) {
    write_kernel(json, kernel, report.chip);
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::report
