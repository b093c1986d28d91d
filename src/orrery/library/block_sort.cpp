// Sorts of rows of up to 4096 keys: one block a row, or one block several short rows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>

#include "orrery/library/sort_internal.h"

namespace orrery::library {
namespace {

constexpr double kIndex = 8;  // bytes of an index

}  // namespace

// Sort.cu, SmallBitonicSort (up to 32 keys): 16 threads a row; with many rows a block takes up to
// 16 of them, so that the grid is 6 blocks an SM.
kernel::Profile bitonic_sort(const SortWork& work, double keys_of_row) {
  const double enough = 6 * static_cast<double>(work.chip.core.count);
  const double rows = std::clamp(std::floor(work.rows / enough), 1.0, 16.0);
  const double bytes = work.rows * keys_of_row * (work.size + kIndex);
  Launch launch = work.launch(
      "bitonicSortKVInPlace<16, 16>", work.rows / rows, static_cast<int64_t>(16 * rows), 52);
  launch.shared = 5632;
  launch.phases = {phase({.name = "sort",
                          .warps = std::ceil(rows / 2),
                          .slots = work.table.bitonic_slots,
                          .memory = 1,
                          .fixed = work.table.bitonic},
                         work.chip)};
  launch.moved = {.scratch = bytes, .write = bytes, .kept = true};
  return profile_of(std::move(launch), work.chip);
}

// Sort.cu, WarpMergeSort and MediumRadixSort: cub::BlockRadixSort of 4 bits a pass, a block a row;
// 4 keys a thread up to 128, 32 keys a thread beyond (blocks of 32, 64 or 128 threads).
kernel::Profile block_sort(const SortWork& work) {
  if (work.cols <= 32) {
    return bitonic_sort(work, work.cols);
  }
  const auto padded = static_cast<double>(std::bit_ceil(static_cast<uint64_t>(work.cols)));
  const bool short_row = padded <= 128;
  const double items = short_row ? 4 : 32;
  const double threads = short_row ? 32 : std::max(padded, 1024.0) / items;
  const double warps = threads / 32;
  const double pass = work.table.pass_slots + work.table.pass_item * items;
  const double row = work.cols * (work.size + kIndex);
  Launch launch =
      work.launch(short_row ? "radixSortKVInPlace<32, 4>" : "radixSortKVInPlace<.., 32>",
                  work.rows,
                  static_cast<int64_t>(threads),
                  short_row ? 57 : 200);
  launch.shared = short_row ? 1184 : 264 * threads;
  launch.phases = {phase({.name = "pass",
                          .trips = 2 * work.size,
                          .warps = warps,
                          .slots = pass,
                          .fixed = pass * work.table.pass_dependent},
                         work.chip),
                   phase(work.counted("items",
                                      {.name = "load and store",
                                       .warps = warps,
                                       .slots = work.table.item_slots * items,
                                       .l2_read = row,
                                       .l2_write = row,
                                       .memory = 2}),
                         work.chip)};
  launch.moved = {.scratch = work.rows * row, .write = work.rows * row, .kept = true};
  return profile_of(std::move(launch), work.chip);
}

}  // namespace orrery::library
