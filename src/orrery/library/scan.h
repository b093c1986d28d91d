// PyTorch's scan along rows: cumsum.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "scan".
std::unique_ptr<Family> read_scan(machine::NumberFile& file);

/// log2 of the threads along a row of a scan of `rows` rows of `row_size` (ScanUtils.cuh): it keeps
/// 512 threads a block in the proportions of the matrix, between 16 and 512. Its difference of
/// logarithms is unsigned: for far more rows than columns it wraps, and a row gets all 512 threads.
int64_t log_threads_x(int64_t rows, int64_t row_size);

}  // namespace orrery::library
