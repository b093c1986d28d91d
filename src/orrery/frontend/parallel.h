// Parallel: how the GPUs of a node share a model.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace orrery::frontend {

// `tp` GPUs share every layer: heads, widths and the vocabulary are divided among them. `ep` GPUs
// share the experts: each holds count / ep whole ones. Of two numbers one is a multiple of the
// other:
//
//     tp 8, ep 1    every expert is cut into eight
//     tp 8, ep 8    an eighth of the experts on each; all GPUs have all tokens, and add up
//     tp 8, ep 2    half of the experts on each four, which cut them into four
//     tp 1, ep 8    eight groups of one GPU, each with sequences of its own, whose tokens travel to
//                   their experts and back (data-parallel attention)
//     tp 2, ep 8    four groups of two GPUs
struct Parallel {
  int64_t tp = 1;
  int64_t ep = 1;

  int64_t gpus() const { return std::max(tp, ep); }

  /// Of GPUs that have the same tokens.
  int64_t groups() const { return std::max<int64_t>(1, ep / tp); }

  /// GPUs among which one expert is cut.
  int64_t cuts() const { return std::max<int64_t>(1, tp / ep); }

  auto operator<=>(const Parallel&) const = default;
};

}  // namespace orrery::frontend
