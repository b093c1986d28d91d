// Many new tokens a sequence, as serving frameworks run them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/library/framework_tables.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

// Tiles of queries walk their blocks of keys (attention_counts.h). Clocks of an SM:
//
//     tile  = unit + unit_dim d + blocks * block
//     block = block + products / (rate x tensor_share) + score x rows x keys
//
// A kernel that overlaps its softmax with its products has a small `score`. Where packed, the
// query heads of a key head are rows of one tile, so that short sequences fill it; absorbed latent
// attention (576 / 512) has one key head for all.
/// `fp8`: the products are.
kernel::Profile framework_prefill(const AttentionCall& call,
                                  std::string_view kernel,
                                  const PrefillTable& table,
                                  bool fp8,
                                  const machine::Chip& chip);

}  // namespace orrery::library
