// A GPU of formulas, for tests: kernels take the time that its numbers say, with a little noise.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "orrery/calibrate/gpu.h"
#include "orrery/calibrate/kernels.h"
#include "orrery/machine/machine.h"

namespace orrery::calibrate {

class FakeGpu final : public Gpu {
 public:
  explicit FakeGpu(machine::Chip chip, int major = 9) : chip_(std::move(chip)) {
    facts_ = {.name = "NVIDIA Fake 9000",
              .major = major,
              .minor = 0,
              .sms = chip_.core.count,
              .l2_bytes = static_cast<int64_t>(chip_.l2.capacity.value()),
              .memory_bytes = int64_t{100} << 30,
              .clock_khz = static_cast<int64_t>(chip_.clock.max.value() / 1e3)};
  }

  const GpuFacts& facts() const override { return facts_; }

  Result<double> time(std::span<const Work> works, int repeats, How how) override {
    double seconds = 0;
    before_ = nullptr;
    for (const Work& work : works) {
      seconds += run(work) + (how == How::Stream ? 3e-6 : 0);
      before_ = work.kernel;
    }
    ++launches_[works.front().kernel->name];
    return repeats > 0 ? seconds * noise() : 0;
  }

  Result<std::vector<Reading>> watch(std::span<const Work> works) override {
    const double drop = drops_[static_cast<size_t>(watched_++) % drops_.size()];
    double at = 0;
    for (const Work& work : works) at += load(work, at, drop);
    return std::vector<Reading>{{at, 650, 1.5e9}};
  }

  Result<std::vector<uint64_t>> output(size_t words) override {
    std::vector<uint64_t> result(words, 1);
    std::copy_n(out_.begin(), std::min(words, out_.size()), result.begin());
    return result;
  }

  void idle(int /*milliseconds*/) override {}

  /// How often the kernel came first in what was timed.
  int launches(const std::string& name) const {
    const auto found = launches_.find(name);
    return found == launches_.end() ? 0 : found->second;
  }

 private:
  double noise() { return 1 + spread_(random_); }

  double hertz() const { return chip_.clock.max.value(); }

  void wrote(double clocks) {
    out_.assign(2, 0);
    out_[0] = static_cast<uint64_t>(std::llround(clocks * noise()));
    out_[1] = static_cast<uint64_t>(std::llround(clocks / hertz() * 1e9));
  }

  double l2_seconds(double bytes) const { return bytes / chip_.l2.stream.value() / hertz(); }

  double moved(double read, double write) const {
    const double share = read / (read + write);
    return read / chip_.dram.read.value() +
           write / chip_.dram.write.value() * (1 - chip_.dram.mix * share);
  }

  // Memory kernels: seconds; 0 for the others.
  double memory(const Work& work) const {
    const std::string& name = work.kernel->name;
    const auto a = static_cast<double>(work.a);
    const double threads = static_cast<double>(work.grid * work.block);
    if (name == "once") {
      const double hits = machine::resident_share(a, chip_.l2);
      return a * (hits / 8e12 + (1 - hits) / chip_.dram.read.value());
    }
    if (name == "read") {
      const double flight = threads * static_cast<double>(work.c) * 16;
      return threads * static_cast<double>(work.b) * 16 / std::min(4.6e12, flight / 400e-9);
    }
    if (name == "write") return moved(0, a);
    if (name == "copy") {
      const double read = a * static_cast<double>(work.b);
      return a < 100e6 ? l2_seconds(read + a) : moved(read, a);
    }
    if (name == "read_shared") {
      const double each = work.grid == 1 ? 100 : chip_.core.l2_port.value();
      return static_cast<double>(work.b) * a / each / hertz();
    }
    return 0;
  }

  double launch(const Work& work) {
    const std::string& name = work.kernel->name;
    const machine::Launch& launch = chip_.launch;
    const double gap = launch.graph_gap.seconds().value();
    if (name == "empty" && work.grid > 10000) {
      return static_cast<double>(work.grid) * launch.block_interval.value() / hertz();
    }
    if (name.starts_with("code_")) {
      const bool other = before_ != nullptr && before_ != work.kernel;
      return gap + (other ? launch.graph_gap_other.seconds().value() : 0);
    }
    if (name != "scale") return gap;
    const double warm = gap + launch.first_access.seconds().value();
    return warm + (work.a > 0 ? launch.cold_access.seconds().value() : 0);
  }

  // Kernels of one SM: clocks of all rounds; 0 for the others.
  double core(const Work& work) const {
    const std::string& name = work.kernel->name;
    const std::map<std::string, double> of_a_round = {
        {"lanes_fma", 1024 * 256 / chip_.core.fma_lanes},
        {"lanes_integer", 1024 * 256 / chip_.core.integer_lanes},
        {"lanes_special", 1024 * 256 / chip_.core.special_lanes},
        {"issue", 32.0 * 256 / static_cast<double>(chip_.core.schedulers)},
        {"dependent", 64 * chip_.launch.dependent_issue.value()},
        {"shared_latency", 64 * chip_.launch.shared_latency.value()},
        {"shared_bandwidth", 1024.0 * 16 * 16 / chip_.core.shared_bandwidth.value()},
        {"barrier", 16 * chip_.launch.barrier.value()},
        {"atomic", 500},
        {"flag", 900},
        {"bulk", 60},
        {"multicast", work.c == 1 ? 900.0 : 1000.0},
        {"spin", 256}};
    if (const auto found = of_a_round.find(name); found != of_a_round.end()) {
      return found->second * static_cast<double>(work.a);
    }
    return matrix(work);
  }

  double matrix(const Work& work) const {
    for (const auto& [type, rate] : chip_.core.tensor) {
      const double depth = 32 / element_size(type).value();
      for (const int64_t n : {64, 128, 256}) {
        if (work.kernel->name == wgmma_name(type, n)) {
          return static_cast<double>(work.a * 4 * 2 * 2 * 64 * n) * depth / rate.value();
        }
      }
      if (work.kernel->name == mma_name(type)) {
        return static_cast<double>(work.a) * 16 * 8 * 2 * 16 * 8 * depth / rate.value();
      }
    }
    return 0;
  }

  double run(const Work& work) {
    const std::string& name = work.kernel->name;
    if (name == "flush") warm_ = work.a == 0;
    if (name == "chase") {
      wrote(static_cast<double>(work.a) *
            (chip_.l2.latency.value() + (warm_ ? 0 : chip_.dram.latency.value())));
      return 1e-6;
    }
    const double clocks = core(work);
    const double seconds = clocks > 0 ? clocks / hertz() : memory(work);
    if (seconds > 0) {
      wrote(clocks > 0 ? clocks : seconds * hertz());
      return seconds + 1e-6;
    }
    return launch(work);
  }

  /// A piece of a load: writes its clocks and nanoseconds, gives its seconds.
  double load(const Work& work, double at, double drop) {
    const double groups = static_cast<double>(work.a), round = 8 * 1024.0;
    const double share = round / (round + static_cast<double>(work.b));
    const std::string type = work.kernel->name.substr(5);
    const double heat = type == "f16" ? 1.25 : type == "bf16" ? 1 : 1.1;
    const double tensor =
        at < drop ? chip_.clock.tensor_power_burst : chip_.clock.tensor_power_steady;
    const double power = chip_.clock.base_power + tensor * share * heat;
    const double clock = hertz() * std::pow(std::max(1.0, power), -1 / chip_.clock.exponent);
    const double clocks = groups * 1024 / share;
    const auto slot = static_cast<size_t>(work.c) * 2;
    out_.resize(std::max(out_.size(), slot + 2));
    out_[slot] = static_cast<uint64_t>(clocks);
    out_[slot + 1] = static_cast<uint64_t>(clocks / clock * 1e9);
    return clocks / clock;
  }

  machine::Chip chip_;
  GpuFacts facts_;
  std::vector<uint64_t> out_;
  std::map<std::string, int> launches_;
  const KernelText* before_ = nullptr;
  bool warm_ = false;
  int watched_ = 0;
  std::vector<double> drops_ = {0.030, 0.050};
  std::mt19937 random_{7};
  std::normal_distribution<double> spread_{0, 0.0005};
};

}  // namespace orrery::calibrate
