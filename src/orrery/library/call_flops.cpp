// FLOP of products, attention and convolutions.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/call_flops.h"

#include <algorithm>
#include <numeric>

#include "orrery/library/attention_counts.h"

namespace orrery::library {

namespace {

/// The sum of min(i, cap) for i from 1 to last.
double capped_sum(double last, double cap) {
  const double below = std::min(last, cap);
  return below * (below + 1) / 2 + (last - below) * cap;
}

/// Pairs of a query and a key that it sees. Query i of n sees the keys up to i + (keys - n).
double pairs_of(const AttentionCall& call, double queries, double keys) {
  if (!call.causal && call.window == 0) {
    return queries * keys;
  }
  const double cap = call.window > 0 ? static_cast<double>(call.window) + 1 : keys;
  return capped_sum(keys, cap) - capped_sum(std::max(0.0, keys - queries), cap);
}

double sum(const std::vector<int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), 0.0);
}

double product(std::initializer_list<int64_t> factors) {
  return std::accumulate(factors.begin(), factors.end(), 1.0, [](double all, int64_t factor) {
    return all * static_cast<double>(factor);
  });
}

struct FlopsOf {
  std::optional<Flops> operator()(const GemmCall& call) const {
    return Flops(2 * product({call.batch, call.m, call.n, call.k}));
  }

  std::optional<Flops> operator()(const GroupedGemmCall& call) const {
    return Flops(2 * sum(call.rows) * product({call.n, call.k}));
  }

  std::optional<Flops> operator()(const MoeCall& call) const {
    const double products = call.gated ? 3 : 2;
    return Flops(2 * products * sum(call.rows) * product({call.hidden, call.inter}));
  }

  std::optional<Flops> operator()(const AttentionCall& call) const {
    double pairs = 0;
    for (size_t i = 0; i < call.lengths.size(); ++i) {
      const int64_t keys = call.key_lengths.empty() ? call.lengths[i] : call.key_lengths[i];
      pairs += pairs_of(call, static_cast<double>(call.lengths[i]), static_cast<double>(keys));
    }
    if (call.lengths.empty()) {
      pairs = static_cast<double>(call.batch) *
              pairs_of(call, static_cast<double>(call.seq_q), static_cast<double>(call.seq_kv));
    }
    const auto key = static_cast<double>(call.head_dim);
    const auto value = static_cast<double>(value_dim(call));
    const double each = call.backward ? 3 * key + 2 * value : key + value;
    return Flops(2 * static_cast<double>(call.heads) * pairs * each);
  }

  std::optional<Flops> operator()(const ConvCall& call) const {
    const auto out = [&call](int64_t size, int64_t filter) {
      return (size + 2 * call.pad - call.dilation * (filter - 1) - 1) / call.stride + 1;
    };
    const double results = product({call.batch, call.k, out(call.h, call.r), out(call.w, call.s)});
    return Flops(2 * results * product({call.c / call.groups, call.r, call.s}));
  }

  template <class Other>
  std::optional<Flops> operator()(const Other& /*call*/) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<Flops> call_flops(const Call& call) {
  return std::visit(FlopsOf{}, call);
}

}  // namespace orrery::library
