// shard: one GPU's share of a model whose layers several GPUs compute together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"
#include "orrery/frontend/parallel.h"

namespace orrery::frontend {

/// Heads of all mixers, widths of feed-forward parts and the vocabulary are divided by `tp`; key
/// heads too as long as there are enough, else each rank holds a copy. What a sublayer gives is
/// then a sum over ranks (OpKind::AllReduce). Experts are dealt to `ep` GPUs and, where tp is
/// larger, cut. Errors (InvalidInput): heads, widths or experts that do not divide; neither of tp
/// and ep a multiple of the other; ep for a model without experts.
Result<Model> shard(Model model, const Parallel& parallel);

}  // namespace orrery::frontend
