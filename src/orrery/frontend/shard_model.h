// shard: one GPU's share of a model whose layers several GPUs compute together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"

namespace orrery::frontend {

/// Tensor parallelism: heads of all mixers, widths of feed-forward parts and of every expert, and
/// the vocabulary are divided by `ranks`; key heads too as long as there are enough, else each rank
/// holds a copy. What a sublayer gives is then a sum over ranks (OpKind::AllReduce). Errors
/// (InvalidInput): heads or widths that do not divide.
Result<Model> shard(Model model, int64_t ranks);

}  // namespace orrery::frontend
