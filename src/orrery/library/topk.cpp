// PyTorch's top-k of rows: radix select by one block a row, or by several.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/sort_internal.h"

namespace orrery::library {
namespace {

constexpr double kTaken = 8;  // topk8

// should_use_multiblock of TensorTopK.cu.
bool several_blocks(double rows, double cols) {
  return (rows <= 20 && cols >= 20000) || (rows > 20 && rows <= 40 && cols >= 10000) ||
         (rows > 40 && rows <= 80 && cols >= 8000) || (rows > 80 && rows < 200 && cols >= 5000) ||
         (rows >= 200 && rows < 800 && cols >= 3000) ||
         (rows >= 800 && rows <= 4000 && cols >= 800) || (rows > 4000 && cols >= 400);
}

// sbtopk::gatherTopK: passes of two bits over the row until one candidate is left, then two over it
// to gather; the number of passes depends on the data, hardly on the type. In each pass the warps'
// counts meet in shared memory and one thread adds them up (exclusiveBinaryPrefixScan).
kernel::Profile one_block(const SortWork& work) {
  const double threads = std::min(1024.0, 32 * std::ceil(work.cols / 32));
  const double trips = std::ceil(work.cols / threads);
  Launch launch = work.launch("sbtopk::gatherTopK", work.rows, static_cast<int64_t>(threads));
  const Step select{.name = "select",
                    .warps = threads / 32,
                    .slots = work.table.select_slots * trips,
                    .memory = 1,
                    .fixed = work.table.select + work.table.select_warp * threads / 32 +
                             work.table.select_trip * trips};
  launch.phases = {phase(work.counted("select", select), work.chip)};
  launch.moved = {.read = work.keys() * work.size, .write = work.rows * kTaken * (work.size + 8)};
  return profile_of(std::move(launch), work.chip);
}

// mbtopk: how a row is cut (get_items_per_thread).
struct Cut {
  double items = 4;   // of a thread, at most
  double trips = 4;   // of a block: items, or fewer where the row ends before
  double blocks = 1;  // of a row
  double all = 1;
};

Cut cut_of(const SortWork& work) {
  const double slots = static_cast<double>(work.chip.core.count) * 6 * 256;  // 40 registers each
  Cut cut;
  cut.items = std::clamp(std::ceil(work.keys() / slots), 4.0, 64.0);
  cut.blocks = std::ceil(work.cols / (cut.items * 256));
  cut.trips = std::min(cut.items, std::ceil(work.cols / 256));
  cut.all = cut.blocks * work.rows;
  return cut;
}

// A kernel of 256 threads a block that reads and writes little: waits, barriers.
kernel::Profile bookkeeping(const SortWork& work,
                            Launch launch,
                            const Step& step,
                            const Moved& moved) {
  Step waiting = step;
  waiting.warps = 8;
  waiting.fixed += work.table.small_kernel;
  launch.phases = {phase(waiting, work.chip)};
  launch.moved = moved;
  launch.moved.kept = true;
  return profile_of(std::move(launch), work.chip);
}

kernel::Profile digit_counts(const SortWork& work, const Cut& cut, bool first) {
  const double keys = work.keys() * work.size;
  Launch launch = work.launch("mbtopk::computeBlockDigitCounts", cut.all, 256, 20);
  launch.phases = {phase({.name = "count",
                          .trips = cut.trips,
                          .warps = 8,
                          .slots = work.table.digit_slots,
                          .l2_read = 256 * work.size,
                          .memory = work.table.count_access},
                         work.chip),
                   phase(work.counted("write",
                                      {.name = "write",
                                       .warps = 8,
                                       .memory = 2,
                                       .barriers = 2,
                                       .fixed = work.table.small_kernel}),
                         work.chip)};
  launch.moved = {
      .read = first ? keys : 0, .scratch = first ? 0 : keys, .write = 512 * cut.all, .kept = true};
  launch.overlap = work.table.beside;
  return profile_of(std::move(launch), work.chip);
}

kernel::Profile gather(const SortWork& work, const Cut& cut) {
  Launch launch = work.launch("mbtopk::gatherTopK", cut.all, 256);
  const Step trip{.name = "gather",
                  .trips = cut.trips,
                  .warps = 8,
                  .l2_read = 256 * work.size,
                  .memory = work.table.gather_access,
                  .shared = 6,
                  .barriers = 2};
  const Step start{.name = "start", .warps = 8, .memory = 2};
  launch.phases = {phase(work.counted("gather", trip), work.chip),
                   phase(work.counted("gather_start", start), work.chip)};
  launch.moved = {.scratch = work.keys() * work.size,
                  .write = work.rows * kTaken * (work.size + 8),
                  .kept = true};
  launch.overlap = work.table.beside;
  return profile_of(std::move(launch), work.chip);
}

kernel::Profile scan_by_key(const SortWork& work, const Cut& cut) {
  Launch launch = work.launch("cub::DeviceScanByKeyKernel", cut.all / 2880, 288, 55);
  launch.shared = 16144;
  const Step scan{.name = "scan", .warps = 9, .memory = 2, .fixed = 2 * work.table.small_kernel};
  launch.phases = {phase(work.counted("scan_by_key", scan), work.chip)};
  launch.moved = {.scratch = 4 * cut.all, .write = 4 * cut.all, .kept = true};
  return profile_of(std::move(launch), work.chip);
}

// A row's blocks' counts of one digit, four at a time.
Step digit_sum(const SortWork& work, double fours) {
  return work.counted("sum",
                      {.name = "sum",
                       .slots = fours * work.table.counts.of("sum_blocks").issue,
                       .memory = 1 + work.table.sum_access * fours,
                       .barriers = 4});
}

// Per digit of 8 bits: count in each block, sum over a row's blocks, count what is within.
Kernels multi_block(const SortWork& work) {
  const Cut cut = cut_of(work);
  Kernels kernels{work.small("mbtopk::fill"), work.small("memset"), work.small("memset")};
  for (int64_t digit = 0; digit < static_cast<int64_t>(work.size); ++digit) {
    kernels.push_back(digit_counts(work, cut, digit == 0));
    kernels.push_back(bookkeeping(work,
                                  work.launch("mbtopk::computeDigitCumSum", work.rows, 256),
                                  digit_sum(work, std::ceil(cut.blocks / 4)),
                                  {.scratch = 512 * cut.all, .write = 1024 * work.rows}));
    kernels.push_back(
        bookkeeping(work,
                    work.launch("mbtopk::computeBlockwiseWithinKCounts", cut.all, 256),
                    work.counted("within", {.name = "within", .memory = 3, .barriers = 3}),
                    {.scratch = 512 * cut.all, .write = 4 * cut.all}));
  }
  kernels.push_back(
      bookkeeping(work,
                  work.launch("mbtopk::computeBlockwiseKthCounts", cut.all / 256, 256),
                  work.counted("kth", {.name = "kth", .memory = 2}),
                  {.scratch = 4 * cut.all, .write = 4 * cut.all}));
  for (int64_t scan = 0; scan < 2; ++scan) {
    kernels.push_back(work.small("cub::DeviceScanByKeyInitKernel"));
    kernels.push_back(scan_by_key(work, cut));
  }
  kernels.push_back(gather(work, cut));
  return kernels;
}

}  // namespace

Kernels top_k(const SortWork& work) {
  const bool several = several_blocks(work.rows, work.cols);
  Kernels kernels = several ? multi_block(work) : Kernels{one_block(work)};
  kernels.front().reasons.emplace_back(
      several
          ? "TensorTopK.cu, should_use_multiblock: long rows, several blocks each, 8 bits a pass"
          : "TensorTopK.cu: one block a row, 2 bits a pass");
  kernels.push_back(bitonic_sort(work, kTaken));
  return kernels;
}

}  // namespace orrery::library
