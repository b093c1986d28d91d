// Tests of calibration with a GPU of formulas: every number comes back, the file is a machine.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "orrery/calibrate/fake_gpu_test.h"
#include "test/support/tree.h"

namespace orrery::calibrate {
namespace {

/// The shipped H200 with its numbers changed, so that none can come back by being taken over.
machine::Chip another(machine::Chip chip) {
  chip.core.l2_port = BytesPerCycle(70);
  chip.l2.effective = Bytes(44e6);
  chip.l2.stream = BytesPerCycle(3100);
  chip.l2.latency = Cycles(280);
  chip.dram.latency = Cycles(400);
  chip.dram.read = BytesPerSecond(4.3e12);
  chip.dram.write = BytesPerSecond(3.5e12);
  chip.dram.mix = 0.2;
  chip.clock.tensor_power_burst = 5.5;
  chip.clock.tensor_power_steady = 15;
  chip.launch.graph_gap = Duration::from(Seconds(900e-9));
  chip.launch.cold_access = Duration::from(Seconds(600e-9));
  chip.launch.barrier = Cycles(26);
  return chip;
}

class Calibrated : public testing::Test {
 protected:
  Calibration run(FakeGpu& gpu, const std::vector<std::string>& only = {}) {
    auto result = calibrate(
        gpu, like_, {.id = "mine", .date = "2026-12-01", .only = only}, [&](auto name, auto, auto) {
          steps_.emplace_back(name);
        });
    EXPECT_TRUE(result.ok()) << result.error().to_string();
    return *std::move(result);
  }

  machine::Machine made(const Calibration& calibration) {
    auto machine = machine::parse_machine(calibration.machine_file, "mine.toml");
    EXPECT_TRUE(machine.ok()) << machine.error().to_string();
    return *std::move(machine);
  }

  machine::Machine like_ = test::machine("h200-sxm");
  std::vector<std::string> steps_;
};

TEST_F(Calibrated, NumbersComeBackFromTheGpu) {
  const machine::Chip truth = another(like_.chip);
  FakeGpu gpu(truth);
  const machine::Chip chip = made(run(gpu)).chip;
  const std::pair<double, double> pairs[] = {
      {chip.core.l2_port.value(), truth.core.l2_port.value()},
      {chip.core.fma_lanes, truth.core.fma_lanes},
      {chip.core.special_lanes, truth.core.special_lanes},
      {chip.core.shared_bandwidth.value(), truth.core.shared_bandwidth.value()},
      {chip.l2.effective.value(), truth.l2.effective.value()},
      {chip.l2.stream.value(), truth.l2.stream.value()},
      {chip.l2.latency.value(), truth.l2.latency.value()},
      {chip.dram.latency.value(), truth.dram.latency.value()},
      {chip.dram.read.value(), truth.dram.read.value()},
      {chip.dram.write.value(), truth.dram.write.value()},
      {chip.clock.tensor_power_burst, truth.clock.tensor_power_burst},
      {chip.clock.tensor_power_steady, truth.clock.tensor_power_steady},
      {chip.clock.tensor_energy.at(DType::F16), 1.25},
      {chip.clock.tensor_energy.at(DType::F8E4M3), 1.1},
      {chip.launch.graph_gap.microseconds(), truth.launch.graph_gap.microseconds()},
      {chip.launch.block_interval.value(), truth.launch.block_interval.value()},
      {chip.launch.barrier.value(), truth.launch.barrier.value()}};
  for (size_t i = 0; i < std::size(pairs); ++i) {
    EXPECT_NEAR(pairs[i].first / pairs[i].second, 1, 0.03) << "pair " << i;
  }
  for (const auto& [type, rate] : truth.core.tensor) {
    EXPECT_NEAR(chip.core.tensor.at(type) / rate, 1, 0.01) << name(type);
  }
  EXPECT_EQ(chip.core.schedulers, truth.core.schedulers);
  EXPECT_NEAR(chip.dram.mix, 0.2, 0.03);
  EXPECT_NEAR(chip.clock.drop_after.microseconds(), 40e3, 2e3);  // of 30 and 50 ms in turn
  EXPECT_NEAR(chip.clock.drop_spread.microseconds(), 10e3, 2e3);
}

TEST_F(Calibrated, FileSaysWhatWasMeasuredAndWhatTakenOver) {
  FakeGpu gpu(like_.chip);
  const Calibration calibration = run(gpu, {"latency"});
  EXPECT_EQ(steps_, std::vector<std::string>{"latency"});
  const machine::Machine machine = made(calibration);
  EXPECT_EQ(machine.id, "mine");
  EXPECT_EQ(machine.libraries, like_.libraries);
  EXPECT_EQ(machine.numbers.size(), like_.numbers.size());
  for (const machine::Number& number : machine.numbers) {
    const bool measured = number.key == "l2.latency" || number.key == "dram.latency";
    const bool inherited =
        std::find(calibration.inherited.begin(), calibration.inherited.end(), number.key) !=
        calibration.inherited.end();
    EXPECT_NE(measured, inherited) << number.key;
    if (measured) {
      EXPECT_EQ(number.source, machine::Source::Measured);
      EXPECT_EQ(number.date, "2026-12-01");
      EXPECT_TRUE(number.note.starts_with("orrery calibrate: ")) << number.note;
    } else {
      EXPECT_TRUE(number.note.starts_with("taken over from h200-sxm: ")) << number.note;
      EXPECT_EQ(number.value, number_of(like_, number.key)->value) << number.key;
    }
  }
}

TEST_F(Calibrated, NumbersThatTheMachineLacksStayInTheReport) {
  FakeGpu gpu(like_.chip);
  const Calibration calibration = run(gpu, {"warp-mma"});
  EXPECT_FALSE(calibration.measured.findings.empty());
  EXPECT_EQ(calibration.inherited.size(), like_.numbers.size());
}

TEST_F(Calibrated, OtherArchitecturesSkipWhatNeedsHopper) {
  FakeGpu gpu(like_.chip, 8);
  const Calibration calibration = run(gpu);
  std::vector<std::string> skipped;
  for (const Skipped& one : calibration.measured.skipped) skipped.push_back(one.name);
  EXPECT_EQ(skipped, (std::vector<std::string>{"copy-engine", "tensor", "clock"}));
  // The matrix rate then is that of mma.sync.
  const auto& findings = calibration.measured.findings;
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& one) {
    return one.key == "core.tensor.bf16";
  }));
}

TEST_F(Calibrated, DataAreRandomBeforeEveryBenchmark) {
  FakeGpu gpu(like_.chip);
  run(gpu, {"dram", "l2"});
  EXPECT_EQ(gpu.launches(fill_name(DType::BF16)), 2);
}

TEST_F(Calibrated, UnknownNamesAreAllReported) {
  FakeGpu gpu(like_.chip);
  const auto result = measure(gpu, like_.chip, {"l2", "l3", "x"}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().to_string().find("got 'l3', 'x', need some of chip, launch"),
            std::string::npos)
      << result.error().to_string();
}

TEST_F(Calibrated, FindingsThatMakeNoMachineAreAnError) {
  machine::Chip chip = like_.chip;
  chip.dram.read = BytesPerSecond(9e12);  // above the data sheet's 4.8
  FakeGpu gpu(chip);
  const auto result = calibrate(gpu, like_, {.id = "mine", .date = "2026-12-01"}, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().to_string().find("the file would not be a machine"), std::string::npos);
}

TEST_F(Calibrated, GpuNamesFindTheirMachine) {
  const std::vector<machine::Machine> machines = {test::machine("h100-sxm"), like_};
  EXPECT_EQ(fitting(machines, "NVIDIA H200"), &machines[1]);
  EXPECT_EQ(fitting(machines, "NVIDIA H100 80GB HBM3"), &machines[0]);
  EXPECT_EQ(fitting(machines, "NVIDIA GeForce RTX 4090"), nullptr);
}

TEST_F(Calibrated, NumbersHaveFourDigits) {
  EXPECT_EQ(rounded(4535.123), 4535);
  EXPECT_EQ(rounded(0.0123456), 0.01235);
}

}  // namespace
}  // namespace orrery::calibrate
