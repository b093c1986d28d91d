// The launch that PyTorch's reduce_kernel gets: how a reduction is split over threads and blocks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace orrery::library {

// setReduceConfig of aten/src/ATen/native/cuda/Reduce.cuh (PyTorch 2.11), whole: 79 of 79 launches
// of membound.csv and membound2.csv agree. In words:
//
//   - Reduced along the contiguous dimension (sum_rows, sum_all): a warp walks a row, loading
//     `vector` values at once if there are 128 or more; rows of a block lie in its y dimension, or,
//     if a thread would get 16 x block height or 256 values, its y dimension splits the row, too.
//     4096 x 4096 bf16: blocks of 32x16 with 16 rows each, 128 values a thread, 256 blocks.
//   - Otherwise (sum_cols): a thread owns up to 4 neighbouring columns and walks rows.
//   - If a thread still gets 256 values and the grid does not fill the chip, several blocks share
//   an
//     output; the last one to finish adds their partial results.

/// What is reduced, and how the operator's kernel is instantiated.
struct ReductionShape {
  int64_t outputs = 0;
  int64_t inputs = 0;      // of one output
  bool contiguous = true;  // along the reduced dimension
  int64_t vector = 4;      // values of one load: 8 of two bytes for sums and means
  int64_t unrolled = 4;    // loads in flight where values are not loaded as vectors (vt0)
};

struct ReductionConfig {
  int64_t block_x = 1;
  int64_t block_y = 1;
  int64_t blocks = 1;  // along the outputs
  int64_t blocks_per_output = 1;
  int64_t output_vector = 1;  // outputs of a thread
  int64_t values = 1;         // of a thread and output, before blocks share it
  bool input_vector = false;  // loads are vectors along the reduced dimension
  bool across_x = false;      // threads along x share an output
  bool across_y = false;
  bool operator==(const ReductionConfig&) const = default;

  int64_t threads() const { return block_x * block_y; }
};

ReductionConfig reduction_config(const ReductionShape& shape, int64_t sms, int64_t threads_per_sm);

}  // namespace orrery::library
