// Keys that queries see, in closed form.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/sparse_counts.h"

#include <algorithm>

namespace orrery::library {

Seen seen_keys(int64_t seq_q, int64_t seq_kv, int64_t compress, int64_t topk) {
  const auto queries = static_cast<double>(seq_q);
  const auto last = static_cast<double>(seq_kv);
  const double step = 1 / static_cast<double>(compress);
  const double first = std::max(0.0, last - (queries - 1) * step);
  Seen seen;
  seen.all = queries * (first + last) / 2;
  const auto most = topk > 0 ? static_cast<double>(topk) : last;
  if (last <= most) {
    seen.chosen = seen.all;
  } else if (first >= most) {
    seen.chosen = queries * most;
  } else {
    const double short_ones = std::min(queries, (most - first) / step);  // that see fewer
    seen.chosen = short_ones * (first + most) / 2 + (queries - short_ones) * most;
  }
  return seen;
}

}  // namespace orrery::library
