// Sparse attention: the index that chooses keys, and attention to those.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "indexer": IndexerCall, DeepGEMM's products and TensorRT-LLM's choice of the largest.
std::unique_ptr<Family> read_indexer(machine::NumberFile& file);

/// Section "sparse_attention": SparseAttentionCall, FlashMLA's kernels.
std::unique_ptr<Family> read_sparse_attention(machine::NumberFile& file);

}  // namespace orrery::library
