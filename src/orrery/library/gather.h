// PyTorch's kernels that take or add rows by index: gather_rows, embedding, index_add.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "gather".
std::unique_ptr<Family> read_gather(machine::NumberFile& file);

/// Of `draws` indices into `rows` rows, uniformly random: how many different ones are expected.
double different_rows(double draws, double rows);

/// Rows of the table of an embedding whose size a call does not tell.
constexpr int64_t kEmbeddingRows = 32000;

}  // namespace orrery::library
