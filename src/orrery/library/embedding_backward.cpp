// The backward of PyTorch's embedding: gradients of rows added into a table of 32,000 rows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/gather.h"
#include "orrery/library/sort_internal.h"

namespace orrery::library {
namespace {

constexpr double kIndex = 8;           // bytes
constexpr double kFew = 3072;          // Embedding.cu: up to so many indices are not sorted
constexpr double kRowsOfPartial = 10;  // EmbeddingBackwardKernel.cu, NROWS_PER_THREAD

// at::zeros of the table, in as many kernels as 32-bit indexing needs.
Kernels zeros(const SortWork& work) {
  double bytes = kEmbeddingRows * work.cols * work.size;
  size_t parts = 1;
  while (parts < 64 && bytes > 0x1p31) {
    bytes /= 2;
    parts *= 2;
  }
  Launch launch = work.launch("vectorized_elementwise_kernel", bytes / work.size / 1024, 128, 16);
  launch.phases = {
      phase(work.counted("zeros", {.name = "fill", .warps = 4, .l2_write = 1024 * work.size}),
            work.chip)};
  launch.moved = {.write = bytes};
  launch.dram_share = work.table.zeros;
  launch.overlap = work.chip.overlap.streaming;
  return Kernels(parts, profile_of(std::move(launch), work.chip));
}

// embedding_backward_feature_kernel: a block of 32 x 32 threads owns 32 columns and walks the
// indices 32 at a time; of equal ones a single warp adds all, reading the table's row after its
// gradient.
kernel::Profile by_features(const SortWork& work) {
  const double gradient = work.keys() * work.size;
  Launch launch = work.launch("embedding_backward_feature_kernel", work.cols / 32, 1024, 27);
  launch.shared = 8192;
  const Step indices{.name = "indices",
                     .trips = std::ceil(work.rows / 1024),
                     .warps = 32,
                     .memory = 1,
                     .barriers = 1};
  launch.phases = {phase(work.counted("match", indices), work.chip),
                   phase({.name = "rows",
                          .trips = std::ceil(work.rows / 32),
                          .warps = 32,
                          .slots = work.table.rows_slots,
                          .l2_read = 1024 * work.size,
                          .l2_write = 1024 * work.size,
                          .memory = 2,
                          .barriers = 2,
                          .in_step = true},
                         work.chip),
                   phase(work.counted("rows_unit", {.name = "unit", .warps = 32}), work.chip)};
  launch.moved = {.read = gradient + kIndex * work.rows, .write = gradient, .reread = gradient};
  return profile_of(std::move(launch), work.chip);
}

// A kernel of few blocks over the sorted indices.
kernel::Profile over_indices(const SortWork& work, Launch launch, Step step) {
  step.memory = 2;
  launch.phases = {phase(step, work.chip)};
  launch.moved = {.scratch = kIndex * work.rows, .write = kIndex * work.rows, .kept = true};
  return profile_of(std::move(launch), work.chip);
}

// Segments of equal indices, cut into at most 10 rows each.
Kernels segments(const SortWork& work) {
  const auto each = [&work](std::string kernel) {
    return over_indices(work,
                        work.launch(std::move(kernel), work.rows / 32, 32, 26),
                        work.counted("segments", {.name = "segment"}));
  };
  Kernels kernels{work.small("cub::DeviceCompactInitKernel")};
  kernels.push_back(
      over_indices(work,
                   work.launch("cub::DeviceUniqueByKeySweepKernel", work.rows / 4480, 640, 48),
                   work.counted("unique", {.name = "unique", .warps = 20})));
  kernels.push_back(each("krn_partials_per_segment"));
  kernels.push_back(work.small("cub::DeviceScanInitKernel"));
  kernels.push_back(
      over_indices(work,
                   work.launch("cub::DeviceScanKernel", work.rows / 896, 128, 47),
                   work.counted("segment_sums",
                                {.name = "scan", .warps = 4, .fixed = work.table.small_kernel})));
  kernels.push_back(work.small("compute_num_of_partial_segments"));
  kernels.push_back(each("krn_partial_segment_offset"));
  return kernels;
}

// compute_grad_weight and sum_and_scatter: a thread for each column of each segment that there can
// be; those beyond the real ones leave at once.
kernel::Profile sum(const SortWork& work, std::string kernel, double possible, Moved moved) {
  const double padded = 32 * std::ceil(work.cols / 32);
  const double threads = std::min(padded, 1024.0);
  const double blocks = std::ceil(possible * padded / threads);
  Launch launch = work.launch(std::move(kernel), blocks, static_cast<int64_t>(threads));
  const Step segment{.name = "segment",
                     .warps = threads / 32,
                     .l2_read = (moved.read + moved.scratch) / blocks,
                     .l2_write = moved.write / blocks,
                     .memory = 3};
  launch.phases = {phase(work.counted("partial_sum", segment), work.chip)};
  launch.moved = moved;
  launch.overlap = work.table.behind;
  launch.restart = work.table.restart;
  return profile_of(std::move(launch), work.chip);
}

}  // namespace

Kernels embedding_backward(const SortWork& work) {
  Kernels kernels;
  if (work.rows <= kFew) {
    kernels = zeros(work);
    kernels.push_back(by_features(work));
    kernels.back().reasons.emplace_back(
        "Embedding.cu: at most 3072 indices, blocks own 32 columns and walk the indices");
    return kernels;
  }
  const double different = different_rows(work.rows, kEmbeddingRows);
  const double possible = std::min(work.rows, static_cast<double>(kEmbeddingRows));
  const double partials = different * work.cols * 4;
  kernels.push_back(work.small("arange"));
  append(kernels,
         radix_sort(work, {.keys = work.rows, .key = kIndex, .value = kIndex, .bits = 64}));
  append(kernels, zeros(work));
  append(kernels, segments(work));
  kernels.push_back(sum(work,
                        "compute_grad_weight",
                        std::floor(work.rows / kRowsOfPartial) + possible,
                        {.read = work.keys() * work.size,
                         .scratch = 2 * kIndex * work.rows,
                         .write = partials,
                         .kept = true}));
  kernels.push_back(sum(
      work,
      "sum_and_scatter",
      possible,
      {.scratch = partials + 2 * kIndex * work.rows, .write = different * work.cols * work.size}));
  kernels.back().reasons.emplace_back(
      "Embedding.cu: more than 3072 indices are sorted, by all 64 bits; equal ones are added");
  return kernels;
}

}  // namespace orrery::library
