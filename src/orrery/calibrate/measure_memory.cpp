// DRAM and L2: rates against bytes in flight and footprint, the capacity that still hits.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "orrery/calibrate/benchmark.h"
#include "orrery/calibrate/fit.h"
#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/measure.h"

namespace orrery::calibrate {
namespace {

constexpr int64_t kLarge = int64_t{1} << 30;  // far beyond any L2
constexpr int64_t kVector = 16;               // bytes of a load or a store
constexpr int64_t kBlock = 512;

/// How a sweep is launched: bytes of all SMs in flight are sms * blocks * threads * loads vectors.
struct Flight {
  int64_t blocks;   // of an SM
  int64_t threads;  // of a block
  int64_t loads;    // of a thread

  int64_t bytes_per_sm() const { return blocks * threads * loads * kVector; }
};

constexpr Flight kFlights[] = {
    {1, 128, 1}, {1, 256, 1}, {1, 512, 1}, {1, 512, 2}, {1, 512, 4}, {1, 512, 8}, {2, 512, 8}};

/// So many bytes, or the power of two of which several fit into L2.
int64_t in_l2(const Gpu& gpu, int64_t bytes) {
  while (bytes > gpu.facts().l2_bytes / 6) bytes /= 2;
  return bytes;
}

/// Bytes a second of reading `bytes` in order, again and again: a long run less a short one, which
/// leaves the launch out.
Result<double> read_rate(Gpu& gpu, int64_t bytes, const Flight& flight, double moved) {
  const int64_t grid = gpu.facts().sms * flight.blocks;
  const double threads = static_cast<double>(grid * flight.threads);
  const int64_t loads =
      std::max<int64_t>(8, static_cast<int64_t>(moved / threads / kVector) / 8 * 8);
  Work work{.kernel = &kernel("read"),
            .grid = grid,
            .block = flight.threads,
            .a = bytes,
            .b = loads,
            .c = flight.loads};
  ORR_TRY(const double few, median_time(gpu, work, 1));
  work.b = 3 * loads;
  ORR_TRY(const double many, median_time(gpu, work, 1));
  return 2.0 * static_cast<double>(loads) * threads * kVector / (many - few);
}

Result<double> move_time(Gpu& gpu, const char* name, int64_t bytes, int64_t operands) {
  constexpr int64_t kVectors = 4, kThreads = 256;
  const int64_t per_block = kVector * kVectors * kThreads;
  const Work work{.kernel = &kernel(name),
                  .grid = (bytes + per_block - 1) / per_block,
                  .block = kThreads,
                  .a = bytes,
                  .b = operands};
  return median_time(gpu, work, 4);
}

/// The curve of rates over bytes in flight, with its fit.
Result<void> flights(Gpu& gpu, const char* level, int64_t bytes, double moved, Findings& found) {
  std::vector<Point> curve;
  for (const Flight& flight : kFlights) {
    ORR_TRY(const double rate, read_rate(gpu, bytes, flight, moved));
    curve.push_back({static_cast<double>(flight.bytes_per_sm()), rate});
    found.push_back(
        {fmt::format("report.{}_read_{}_kib", level, flight.bytes_per_sm() >> 10),
         rate / 1e9,
         "GB/s",
         fmt::format("reads with {} KiB of an SM in flight", flight.bytes_per_sm() >> 10)});
  }
  const Saturation fit = saturation(curve);
  const auto sms = static_cast<double>(gpu.facts().sms);
  found.push_back({fmt::format("report.{}_peak", level),
                   fit.peak / 1e9,
                   "GB/s",
                   "limit of the curve over bytes in flight"});
  found.push_back({fmt::format("report.{}_loaded_latency", level),
                   fit.knee * sms / fit.peak * 1e9,
                   "ns",
                   "bytes in flight over the rate where the curve begins"});
  return {};
}

/// What copies of so many bytes in L2, one kernel after the other, take beyond each other.
Result<void> every_line_once(Gpu& gpu, Findings& found) {
  constexpr int64_t kThreads = 256;
  const int64_t many = in_l2(gpu, 8 << 20), few = many / 2;
  double seconds[2] = {};
  for (const int64_t bytes : {few, many}) {
    const Work copy{.kernel = &kernel("copy"),
                    .grid = bytes / (kThreads * 4 * kVector),
                    .block = kThreads,
                    .a = bytes,
                    .b = 1};
    ORR_TRY(seconds[bytes == many], kernel_time(gpu, {copy}, {.length = 40}));
  }
  found.push_back({"l2.stream",
                   2.0 * static_cast<double>(many - few) / (seconds[1] - seconds[0]) / hertz(gpu),
                   "B/clk",
                   fmt::format("copies of {} MiB in L2 over copies of half of it, bytes read and "
                               "written",
                               many >> 20)});
  return {};
}

/// Seconds of reading a set, as kernel after kernel does, less those of a tiny one. Each kernel's
/// blocks read other parts than the last one's, as different kernels of a program do: an L2 of two
/// halves may keep a line in both.
Result<double> set_time(Gpu& gpu, int64_t bytes) {
  const auto row = [&](int64_t size) {
    std::vector<Work> turns;
    const int64_t grid = gpu.facts().sms * 2;
    for (int64_t i = 0; i < 5; ++i) {
      turns.push_back({.kernel = &kernel("once"),
                       .grid = grid,
                       .block = kBlock,
                       .a = size,
                       .b = i * grid * 2 / 5 + i});
    }
    return kernel_time(gpu, turns, {.length = 20});
  };
  ORR_TRY(const double tiny, row(1 << 14));
  ORR_TRY(const double whole, row(bytes));
  return whole - tiny;
}

/// Reads of sets that grow, a kernel each time: the knee is where they no longer hit.
Result<void> footprints(Gpu& gpu, Findings& found) {
  std::vector<Point> curve;
  const double capacity = static_cast<double>(gpu.facts().l2_bytes);
  for (double size = capacity / 8; size < 5 * capacity; size *= size < capacity / 3 ? 1.3 : 1.1) {
    const int64_t bytes = static_cast<int64_t>(size) / 4096 * 4096;
    ORR_TRY(const double seconds, set_time(gpu, bytes));
    const auto moved = static_cast<double>(bytes);
    curve.push_back({moved, seconds / moved});
    found.push_back({fmt::format("report.read_{:.0f}_mb", moved / 1e6),
                     moved / seconds / 1e9,
                     "GB/s",
                     "the same set read by kernel after kernel, less the time of a tiny one"});
  }
  const Knee fit = knee(curve);
  found.push_back(
      {"l2.effective",
       fit.capacity / 1e6,
       "MB",
       fmt::format("sets from an eighth of L2 to five read by kernel after kernel: knee "
                   "between {:.1f} and {:.1f} TB/s",
                   1e-12 / fit.hit,
                   1e-12 / fit.miss)});
  return {};
}

/// What an SM draws where `blocks` of them read the same 1.5 MiB, in bytes a clock.
Result<double> draw(Gpu& gpu, int64_t blocks) {
  constexpr int64_t kSmall = 3 << 19;
  Work work{.kernel = &kernel("read_shared"), .grid = blocks, .block = 1024, .a = kSmall, .b = 4};
  ORR_TRY(const double few, median_time(gpu, work, 1));
  work.b = 12;
  ORR_TRY(const double many, median_time(gpu, work, 1));
  ORR_TRY(const double clock, last_clock(gpu));
  return 8.0 * kSmall / (many - few) / clock;
}

Result<void> same_lines(Gpu& gpu, Findings& found) {
  const int64_t sms = gpu.facts().sms;
  for (int64_t blocks = 1; blocks < sms; blocks *= 2) {
    ORR_TRY(const double rate, draw(gpu, blocks));
    found.push_back({fmt::format("report.draw_of_{}", blocks),
                     rate,
                     "B/clk",
                     fmt::format("of an SM where {} read the same 1.5 MiB", blocks)});
  }
  ORR_TRY(const double rate, draw(gpu, sms));
  found.push_back(
      {"core.l2_port", rate, "B/clk", "of an SM where every SM reads the same 1.5 MiB"});
  found.push_back({"l2.bandwidth",
                   rate * static_cast<double>(sms),
                   "B/clk",
                   "of all SMs, which read the same 1.5 MiB"});
  return {};
}

}  // namespace

Result<Findings> measure_dram(Gpu& gpu, const machine::Chip& /*like*/) {
  constexpr auto kBytes = static_cast<double>(kLarge);
  Findings found;
  ORR_TRY_VOID(flights(gpu, "dram", kLarge, kBytes, found));
  std::vector<double> rates;
  for (const int64_t times : {2, 3, 4, 5, 6, 7}) {
    const int64_t bytes = times * gpu.facts().l2_bytes;
    ORR_TRY(const double seconds, set_time(gpu, bytes));
    rates.push_back(static_cast<double>(bytes) / seconds);
  }
  const double read = median(std::move(rates));
  ORR_TRY(const double write, move_time(gpu, "write", kLarge, 1));
  const double half = kBytes / 2;
  ORR_TRY(const double copy, move_time(gpu, "copy", kLarge / 2, 1));
  ORR_TRY(const double add, move_time(gpu, "copy", kLarge / 2, 2));
  const Writes writes = fit_writes(
      {.read = read, .write = kBytes / write, .copy = 2 * half / copy, .add = 3 * half / add});
  const std::string mixtures = fmt::format(
      "alone {:.2f}, copy {:.2f}, add {:.2f} TB/s, 512 MiB an "
      "operand",
      kBytes / write / 1e12,
      2 * half / copy / 1e12,
      3 * half / add / 1e12);
  found.push_back({"dram.read",
                   read / 1e9,
                   "GB/s",
                   "sets of two to seven L2s read by kernel after kernel, less a tiny one's time"});
  found.push_back({"dram.write", writes.rate / 1e9, "GB/s", "writes among reads: " + mixtures});
  found.push_back({"dram.mix", writes.mix, "1", "writes among reads: " + mixtures});
  found.push_back({"report.dram_write_alone",
                   kBytes / write / 1e9,
                   "GB/s",
                   "writes of 1 GiB, 64 bytes a thread"});
  return found;
}

Result<Findings> measure_l2(Gpu& gpu, const machine::Chip& /*like*/) {
  Findings found;
  constexpr double kMoved = 1e9;
  ORR_TRY_VOID(flights(gpu, "l2", in_l2(gpu, 4 << 20), kMoved, found));
  ORR_TRY_VOID(footprints(gpu, found));
  ORR_TRY_VOID(every_line_once(gpu, found));
  ORR_TRY_VOID(same_lines(gpu, found));
  return found;
}

}  // namespace orrery::calibrate
