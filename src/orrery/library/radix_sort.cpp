// CUB's radix sorts as PyTorch instantiates them: device-wide, and by segments.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/sort_internal.h"

namespace orrery::library {
namespace {

// Tuning of cub::DeviceRadixSort for sm_90, by launch geometry: threads, items a thread, registers
// and shared memory of the sweep; grid and resident blocks of the histogram.
struct Tuning {
  int64_t threads = 384;
  double items = 12;
  int64_t registers = 80;
  double shared = 38912;
  double histogram_blocks = 924;
  int64_t histogram_registers = 72;
};

Tuning tuning_of(const RadixSort& sort) {
  if (sort.key == 2) {
    return {512, 11, 64, 47104, 1584, 40};
  }
  if (sort.key == 4) {
    return {384, 14, 80, 45056, 2112, 32};
  }
  return sort.value > 0 ? Tuning{} : Tuning{384, 15, 80, 48128, 924, 72};
}

// DeviceRadixSortHistogramKernel: all digits of all keys, counted in shared memory.
kernel::Profile histogram(const SortWork& work, const RadixSort& sort, double digits) {
  const Tuning tuning = tuning_of(sort);
  const double keys = sort.keys * sort.key;
  Launch launch = work.launch("cub::DeviceRadixSortHistogramKernel",
                              tuning.histogram_blocks,
                              128,
                              tuning.histogram_registers);
  launch.phases = {
      phase({.name = "count",
             .trips = std::max(1.0, std::ceil(sort.keys / (128 * tuning.histogram_blocks))),
             .warps = 4,
             .slots = work.table.count_digit * (1 + digits),
             .l2_read = 128 * sort.key,
             .memory = work.table.count_access},
            work.chip),
      phase(work.counted("histogram", {.name = "unit", .warps = 4}), work.chip)};
  launch.moved = {.read = sort.fresh ? keys : 0,
                  .scratch = sort.fresh ? 0 : keys,
                  .write = 1024 * digits,
                  .kept = true};
  launch.overlap = work.table.beside;
  return profile_of(std::move(launch), work.chip);
}

kernel::Profile exclusive_sum(const SortWork& work, double digits) {
  Launch launch = work.launch("cub::DeviceRadixSortExclusiveSumKernel", digits, 256);
  launch.phases = {
      phase(work.counted("digits", {.name = "scan", .warps = 8, .barriers = 3}), work.chip)};
  launch.moved = {.scratch = 1024 * digits, .write = 1024 * digits, .kept = true};
  return profile_of(std::move(launch), work.chip);
}

// DeviceRadixSortOnesweepKernel: a tile is ranked, looks back at its predecessors, and scatters.
kernel::Profile sweep(const SortWork& work, const RadixSort& sort) {
  const Tuning tuning = tuning_of(sort);
  const double tile = static_cast<double>(tuning.threads) * tuning.items;
  const double bytes = sort.key + sort.value;
  Launch launch = work.launch(
      "cub::DeviceRadixSortOnesweepKernel", sort.keys / tile, tuning.threads, tuning.registers);
  launch.shared = tuning.shared;
  launch.phases = {phase({.name = "tile",
                          .warps = static_cast<double>(tuning.threads) / 32,
                          .slots = tuning.items * work.table.sweep_item,
                          .l2_read = tile * bytes,
                          .l2_write = tile * bytes,
                          .memory = 2,
                          .fixed = work.table.sweep},
                         work.chip)};
  launch.moved = {.scratch = sort.keys * bytes, .write = sort.keys * bytes, .kept = true};
  launch.overlap = work.table.behind;
  return profile_of(std::move(launch), work.chip);
}

}  // namespace

Kernels radix_sort(const SortWork& work, const RadixSort& sort) {
  const int64_t digits = (sort.bits + 7) / 8;  // of 8 bits, one sweep each
  Kernels kernels{work.small("memset"),
                  work.small("memset"),
                  histogram(work, sort, static_cast<double>(digits)),
                  exclusive_sum(work, static_cast<double>(digits))};
  for (int64_t digit = 0; digit < digits; ++digit) {
    kernels.push_back(work.small("memset"));
    kernels.push_back(sweep(work, sort));
  }
  return kernels;
}

// DeviceSegmentedRadixSortKernel: a block of 384 threads a row and pass of 6 bits, then of 192
// threads for what is left: 3 passes over 16 bits, 6 over 32 (launch geometry).
Kernels segmented_sort(const SortWork& work) {
  const bool wide = work.size >= 4;
  const int64_t passes = wide ? 6 : 3;
  const double bytes = work.keys() * (work.size + 8);
  Kernels kernels;
  for (int64_t pass = 0; pass < passes; ++pass) {
    const bool narrow = pass >= (wide ? 4 : 2);
    Launch launch = work.launch(
        "cub::DeviceSegmentedRadixSortKernel", work.rows, narrow ? 192 : 384, narrow ? 168 : 65);
    launch.shared = narrow ? 29184 : 26176;
    const Step tile{.name = "1024 keys",
                    .trips = std::ceil(work.cols / 1024),
                    .warps = narrow ? 6.0 : 12.0,
                    .l2_read = 1024 * (2 * work.size + 8),
                    .l2_write = 1024 * (work.size + 8),
                    .memory = 2,
                    .fixed = work.table.segment_tile};
    launch.phases = {phase(work.counted(narrow ? "segment_last" : "segment", tile), work.chip),
                     phase({.name = "unit", .fixed = work.table.segment_unit}, work.chip)};
    launch.moved = {.scratch = bytes, .write = bytes, .kept = true};
    launch.overlap = work.table.behind;
    kernels.push_back(profile_of(std::move(launch), work.chip));
  }
  return kernels;
}

}  // namespace orrery::library
