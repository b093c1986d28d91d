// The kernels that sort, topk8 and embedding_backward are made of.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/library/launch.h"
#include "orrery/library/warp_counts.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

// Chains marked (duration) in the library file are read from the duration of one such kernel alone
// on the chip; slots and grids from counters and launch geometry.
struct SortTable {
  CountTable counts;         // of a warp: issue slots, and clocks beside its accesses (chain)
  double behind = 1;         // exponent: moving keys with memory traffic, one block behind another
  double beside = 1;         // the same of kernels that stream
  double count_access = 1;   // dependent accesses of a trip that counts digits: loads run ahead
  double gather_access = 1;  // the same that gathers
  double sum_access = 1;     // of 4 blocks whose counts are added
  // radixSortKVInPlace, a block a row.
  double pass_slots = 0;      // of a warp and pass
  double pass_item = 0;       // further ones of each item of a thread
  double pass_dependent = 0;  // clocks that a pass takes at least, per slot
  double item_slots = 0;      // of each item, loads and stores
  // bitonicSortKVInPlace
  double bitonic = 0;
  double bitonic_slots = 0;
  // CUB's device-wide radix sort
  double sweep = 0;
  double sweep_item = 0;  // slots of an item
  double count_digit = 0;
  // CUB's segmented radix sort
  double segment_tile = 0;
  double segment_unit = 0;
  // top-k
  double select = 0;
  double select_warp = 0;
  double select_trip = 0;
  double select_slots = 0;
  double digit_slots = 0;
  double small_kernel = 0;
  // embedding_backward
  double zeros = 1;
  double rows_slots = 0;
  double restart = 0;
  double error = 0;
};

/// A call with what its kernels share.
struct SortWork {
  const SortTable& table;
  const machine::Chip& chip;
  double rows = 0;
  double cols = 0;
  double size = 2;  // bytes of a key

  double keys() const { return rows * cols; }

  /// `step` with the counts of `name` in the library file.
  Step counted(std::string_view name, Step step) const;

  /// A launch of this family, to be filled in.
  Launch launch(std::string kernel, double blocks, int64_t threads, int64_t registers = 32) const;
  kernel::Profile small(std::string_view kernel) const;
};

using Kernels = std::vector<kernel::Profile>;

SortWork work_of(const RowsCall& call, const SortTable& table, const machine::Chip& chip);
void append(Kernels& to, Kernels more);

// block_sort.cpp: rows of up to 4096 keys with 64-bit values, sorted where they lie.
kernel::Profile block_sort(const SortWork& work);
kernel::Profile bitonic_sort(const SortWork& work, double keys_of_row);

/// radix_sort.cpp: `keys` of `key` bytes with values of `value` bytes, by `bits`; `fresh`: the keys
/// are an operand of the call.
struct RadixSort {
  double keys = 0;
  double key = 2;
  double value = 8;
  int64_t bits = 16;
  bool fresh = false;
};

Kernels radix_sort(const SortWork& work, const RadixSort& sort);
Kernels segmented_sort(const SortWork& work);

// sort.cpp, topk.cpp, embedding_backward.cpp
Kernels sort_rows(const SortWork& work);
Kernels top_k(const SortWork& work);
Kernels embedding_backward(const SortWork& work);

}  // namespace orrery::library
