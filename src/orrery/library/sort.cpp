// PyTorch's sort of rows, and the family that orders.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/sort.h"

#include <cmath>
#include <string>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/sort_internal.h"

namespace orrery::library {
namespace {

using machine::NumberFile;

constexpr double kIndex = 8;  // bytes

// Indices 0 to cols - 1 for every row: an expanded arange is copied.
kernel::Profile expand_indices(const SortWork& work) {
  Launch launch = work.launch("elementwise_kernel<128, 2>", work.keys() / 256, 128, 18);
  launch.phases = {
      phase(work.counted("expand", {.name = "copy", .warps = 4, .l2_write = 2048, .memory = 1}),
            work.chip)};
  launch.moved = {.scratch = kIndex * work.cols, .write = kIndex * work.keys(), .kept = true};
  launch.overlap = work.chip.overlap.streaming;
  return profile_of(std::move(launch), work.chip);
}

// fill_reverse_indices_kernel, fill_index_and_segment_kernel: 8 bytes a key.
kernel::Profile fill_indices(const SortWork& work) {
  Launch launch = work.launch("fill_reverse_indices_kernel", work.keys() / 1024, 1024, 26);
  launch.phases = {
      phase(work.counted("indices", {.name = "fill", .warps = 32, .l2_write = 8192}), work.chip)};
  launch.moved = {.write = kIndex * work.keys(), .kept = true};
  launch.overlap = work.table.beside;
  return profile_of(std::move(launch), work.chip);
}

kernel::Profile postprocess(const SortWork& work) {
  const double bytes = work.keys() * (kIndex + work.size);
  Launch launch = work.launch("sort_postprocess_kernel", work.keys() / 512, 512, 28);
  const Step step{.name = "gather",
                  .warps = 16,
                  .l2_read = 512 * (kIndex + work.chip.l2.sector.value()),
                  .l2_write = 512 * (kIndex + work.size),
                  .memory = 2};
  launch.phases = {phase(work.counted("postprocess", step), work.chip)};
  launch.moved = {.scratch = bytes, .write = bytes, .kept = true};
  launch.overlap = work.table.beside;
  return profile_of(std::move(launch), work.chip);
}

// Sort.cpp: up to 4096 columns rows are sorted where they lie (sortKeyValueInplace).
Kernels short_rows(const SortWork& work) {
  const double bytes = work.keys() * work.size;
  const Launch like = work.launch("", 1, 128);
  Kernels kernels{copy_node({.read = bytes, .write = bytes}, like, work.chip),
                  work.small("arange")};
  kernels.push_back(work.rows > 1
                        ? expand_indices(work)
                        : copy_node({.scratch = kIndex * work.cols, .write = kIndex * work.cols},
                                    like,
                                    work.chip));
  kernels.push_back(copy_node({.scratch = bytes, .write = bytes}, like, work.chip));
  kernels.push_back(block_sort(work));
  kernels.back().reasons.emplace_back(
      "Sort.cpp: at most 4096 columns, a block sorts a row in place, 4 bits a pass");
  return kernels;
}

// SortStable.cu: one row by a device-wide sort; up to 127 rows all keys at once, then by row; more
// rows by segments.
Kernels long_rows(const SortWork& work) {
  const double bytes = work.keys() * work.size;
  const Launch like = work.launch("", 1, 128);
  Kernels kernels{copy_node({.read = bytes, .write = bytes}, like, work.chip), fill_indices(work)};
  const auto bits = static_cast<int64_t>(8 * work.size);
  const RadixSort keys{.keys = work.keys(), .key = work.size, .value = kIndex, .bits = bits};
  if (work.rows == 1) {
    append(kernels, radix_sort(work, keys));
    kernels.back().reasons.emplace_back("SortStable.cu: one row, cub::DeviceRadixSort");
  } else if (work.rows < 128) {
    append(kernels, radix_sort(work, keys));
    append(kernels, radix_sort(work, {.keys = work.keys(), .key = kIndex, .value = 0, .bits = 8}));
    kernels.push_back(postprocess(work));
    kernels.back().reasons.emplace_back(
        "SortStable.cu: fewer than 128 rows, all keys are sorted at once, then by row");
  } else {
    append(kernels, segmented_sort(work));
    kernels.back().reasons.emplace_back(
        "SortStable.cu: 128 rows or more, cub::DeviceSegmentedRadixSort, a block a row and pass");
  }
  return kernels;
}

class Sort final : public Family {
 public:
  explicit Sort(SortTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr &&
           (rows->op == "sort" || rows->op == "topk8" || rows->op == "embedding_backward");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    ORR_TRY_VOID(check_value_size(rows, "sort"));
    const SortWork work = work_of(rows, table_, chip);
    return Candidates{rows.op == "sort"    ? sort_rows(work)
                      : rows.op == "topk8" ? top_k(work)
                                           : embedding_backward(work)};
  }

 private:
  SortTable table_;
};

}  // namespace

Launch SortWork::launch(std::string kernel,
                        double blocks,
                        int64_t threads,
                        int64_t registers) const {
  Launch launch;
  launch.kernel = std::move(kernel);
  launch.family = "sort";
  launch.blocks = blocks;
  launch.threads = threads;
  launch.registers = registers;
  launch.error = table.error;
  return launch;
}

kernel::Profile SortWork::small(std::string_view kernel) const {
  return small_node(kernel, launch("", 1, 128), chip);
}

SortWork work_of(const RowsCall& call, const SortTable& table, const machine::Chip& chip) {
  return {.table = table,
          .chip = chip,
          .rows = static_cast<double>(call.rows),
          .cols = static_cast<double>(call.cols),
          .size = element_size(call.dtype).value()};
}

Step SortWork::counted(std::string_view name, Step step) const {
  const WarpCounts counts = table.counts.of(name);
  step.slots += counts.issue;
  step.fixed += counts.chain;
  return step;
}

void append(Kernels& to, Kernels more) {
  to.insert(to.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

Kernels sort_rows(const SortWork& work) {
  constexpr double kShort = 4096;  // should_use_small_sort
  return work.cols <= kShort ? short_rows(work) : long_rows(work);
}

std::unique_ptr<Family> read_sort(NumberFile& file) {
  const std::initializer_list<std::string_view> needed = {
      "expand",      "indices",      "postprocess", "items",  "histogram",    "digits",
      "segment",     "segment_last", "select",      "write",  "gather",       "gather_start",
      "scan_by_key", "sum",          "sum_blocks",  "within", "kth",          "zeros",
      "match",       "rows_unit",    "segments",    "unique", "segment_sums", "partial_sum"};
  return std::make_unique<Sort>(SortTable{.counts = CountTable(file, "sort.counts", needed),
                                          .behind = one(file, "sort.behind"),
                                          .beside = one(file, "sort.beside"),
                                          .count_access = one(file, "sort.count_access"),
                                          .gather_access = one(file, "sort.gather_access"),
                                          .sum_access = one(file, "sort.sum_access"),
                                          .pass_slots = one(file, "sort.pass_slots"),
                                          .pass_item = one(file, "sort.pass_item"),
                                          .pass_dependent = one(file, "sort.pass_dependent"),
                                          .item_slots = one(file, "sort.item_slots"),
                                          .bitonic = cycles(file, "sort.bitonic"),
                                          .bitonic_slots = one(file, "sort.bitonic_slots"),
                                          .sweep = cycles(file, "sort.sweep"),
                                          .sweep_item = one(file, "sort.sweep_item"),
                                          .count_digit = one(file, "sort.count_digit"),
                                          .segment_tile = cycles(file, "sort.segment_tile"),
                                          .segment_unit = cycles(file, "sort.segment_unit"),
                                          .select = cycles(file, "sort.select"),
                                          .select_warp = cycles(file, "sort.select_warp"),
                                          .select_trip = cycles(file, "sort.select_trip"),
                                          .select_slots = one(file, "sort.select_slots"),
                                          .digit_slots = one(file, "sort.digit_slots"),
                                          .small_kernel = cycles(file, "sort.small_kernel"),
                                          .zeros = one(file, "sort.zeros"),
                                          .rows_slots = one(file, "sort.rows_slots"),
                                          .restart = cycles(file, "sort.restart"),
                                          .error = error_of(file, "reduction")});
}

}  // namespace orrery::library
