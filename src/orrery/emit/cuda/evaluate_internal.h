// Expressions as C++ statements, for a group of neighbouring registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/emit/cuda/scope_internal.h"

namespace orrery::emit::cuda {

/// Writes the evaluation of an expression over the registers of `like`'s layout, group after group.
struct Evaluation {
  BufferId like;      // whose layout is walked
  int64_t group = 1;  // registers evaluated together
  int64_t first = 0;  // registers from here to `last`
  int64_t last = 0;
};

/// The evaluation for `value`: groups as wide as the widest vector of its tensor operands, at least
/// `least`.
Evaluation plan_evaluation(const Scope& scope,
                           const kernel::Expr& value,
                           BufferId like,
                           int64_t least);

/// Opens the register loop, reads tensor operands and leaves the results in `float x[group]`; the
/// caller uses them and closes the loop. The loop variable is `i`.
Result<void> open_evaluation(Scope& scope, const Evaluation& evaluation, const kernel::Expr& value);

/// How a tile of `like`'s layout meets a tensor: vector width, address and validity for register
/// `variable`.
struct Meeting {
  int64_t vector = 1;
  std::string address;
  std::string valid;  // "true" where no guard is needed
};

Meeting meet(Scope& scope, BufferId like, TensorId tensor, std::string_view variable);

/// The text of a binary32 constant.
std::string constant_text(double value);

}  // namespace orrery::emit::cuda
