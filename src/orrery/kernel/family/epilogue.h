// Epilogues: what a family computes per output element once its accumulation is done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/kernel/expression.h"

namespace orrery::kernel {

// An epilogue is a slot: an expression over placeholders, which the family binds to its own ids.
//
//     gelu(acc + bias) + residual
//
// is `value` with Buffer(0) for the accumulator (the only buffer), Tensor(0) for bias and Tensor(1)
// for residual, and `tensors` = { bias [cols], residual [rows, cols] }. Plain data, so that
// configurations compare, hash and print; a callback could do none of it.

/// An operand of the epilogue in global memory: over the rows, the columns or both of the output.
struct EpilogueTensor {
  std::string name;
  DType dtype = DType::BF16;
  bool rows = false;
  bool cols = false;

  bool operator==(const EpilogueTensor&) const = default;
};

struct Epilogue {
  std::vector<EpilogueTensor> tensors;
  Expr value = buffer(BufferId(0));

  bool operator==(const Epilogue&) const = default;
};

enum class Activation { None, Relu, Gelu, GeluTanh, Silu };
std::string_view name(Activation activation);

/// The usual one: activation(acc [+ bias[n]]) [+ residual[m, n]].
struct LinearEpilogue {
  bool bias = false;
  Activation activation = Activation::None;
  bool residual = false;
  DType dtype = DType::BF16;  // of bias and residual

  bool operator==(const LinearEpilogue&) const = default;
};

Epilogue linear_epilogue(const LinearEpilogue& parts);

/// `value` with every placeholder replaced: buffer 0 by `acc`, tensor i by `tensors[i]`, axis 0 by
/// `rows` and axis 1 by `cols`. Error: an id that the slot does not define.
struct EpilogueBinding {
  BufferId acc;
  std::vector<TensorId> tensors;
  AxisId rows;
  AxisId cols;
};

Result<Expr> bind(const Epilogue& epilogue, const EpilogueBinding& binding);

}  // namespace orrery::kernel
