// How many keys the queries of sparse attention see.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace orrery::library {

/// Keys that the queries of one sequence see: all together, and at most `topk` each (0: all).
struct Seen {
  double all = 0;
  double chosen = 0;
};

/// Query i of seq_q sees (seq_kv * compress - seq_q + i + 1) / compress of seq_kv keys, rounded
/// down, and the chosen ones are min(topk, that). Exact up to the rounding of single queries.
Seen seen_keys(int64_t seq_q, int64_t seq_kv, int64_t compress, int64_t topk);

}  // namespace orrery::library
