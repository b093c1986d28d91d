// Traces: well-formed by the Trace Event format, slices of a track one after the other.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "orrery/device/simulator.h"
#include "orrery/report/trace.h"
#include "test/support/tree.h"

namespace orrery::report {
namespace {

// Two launches of 300 units, two groups of warps on each SM at once.
std::vector<SimulatedKernel> two_kernels(const device::Simulator& simulator) {
  kernel::Profile profile;
  profile.kernel = "kernel";
  profile.threads = 128;
  profile.units = profile.ctas = 300;
  profile.ctas_per_sm = 2;
  kernel::ProfilePhase loop;
  loop.name = "main loop";
  loop.trips = 8;
  loop.ring = 3;
  loop.chain.memory = 1;
  loop.work.tensor = Flops(4096.0 * 500);
  loop.work.l2_read = Bytes(16384.0);
  kernel::ProfilePhase store;
  store.name = "epilogue";
  store.work.l2_write = Bytes(32768.0);
  profile.kinds.push_back({300, {loop, store}});
  profile.traffic.unique_read = profile.traffic.dram_read = Bytes(300 * 16384.0);
  profile.traffic.unique_write = profile.traffic.dram_write = Bytes(300 * 32768.0);
  std::vector<SimulatedKernel> kernels(2);
  for (SimulatedKernel& kernel : kernels) {
    kernel.profile = profile;
    kernel.simulation = simulator.simulate(kernel.profile, {}, &kernel.recording);
  }
  return kernels;
}

TEST(Trace, IsWellFormedAndItsSlicesFollowEachOther) {
  const device::Simulator simulator(test::machine("h200-sxm"));
  const std::vector<SimulatedKernel> kernels = two_kernels(simulator);
  const auto trace = nlohmann::json::parse(to_trace(kernels, simulator.machine().chip));
  std::map<std::pair<int64_t, int64_t>, double> ends;  // of each track
  size_t slices = 0;
  for (const auto& event : trace.at("traceEvents")) {
    const std::string kind = event.at("ph");
    ASSERT_TRUE(kind == "X" || kind == "C" || kind == "M") << kind;
    EXPECT_TRUE(event.at("name").is_string());
    const std::pair<int64_t, int64_t> track(event.at("pid"), event.at("tid"));
    if (kind == "C") {
      EXPECT_GE(event.at("args").at("value").get<double>(), 0);
    }
    if (kind != "X") {
      continue;
    }
    ++slices;
    const double begin = event.at("ts");
    EXPECT_GE(begin, ends[track] - 1e-3) << event;
    ends[track] = begin + event.at("dur").get<double>();
  }
  EXPECT_EQ(slices, 2 * (1 + 300 * 2));  // the kernel, and two phases of each unit
  EXPECT_EQ(ends.size(), 1 + 132 * 2);
}

TEST(Trace, NamesEveryTrack) {
  const device::Simulator simulator(test::machine("h200-sxm"));
  const std::string text = to_trace(two_kernels(simulator), simulator.machine().chip);
  EXPECT_NE(text.find("\"SM 131\""), std::string::npos);
  EXPECT_NE(text.find("\"warps 1\""), std::string::npos);
  EXPECT_NE(text.find("\"DRAM read, GB/s\""), std::string::npos);
}

}  // namespace
}  // namespace orrery::report
