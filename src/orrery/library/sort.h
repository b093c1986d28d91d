// PyTorch's kernels that order: sort, topk8, and the backward of an embedding, which sorts indices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "sort".
std::unique_ptr<Family> read_sort(machine::NumberFile& file);

}  // namespace orrery::library
