// Epilogues: the usual one, and binding a slot's placeholders.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/epilogue.h"

#include "orrery/base/check.h"

namespace orrery::kernel {

std::string_view name(Activation activation) {
  switch (activation) {
    case Activation::None:
      return "none";
    case Activation::Relu:
      return "relu";
    case Activation::Gelu:
      return "gelu";
    case Activation::GeluTanh:
      return "gelu_tanh";
    case Activation::Silu:
      return "silu";
  }
  ORR_UNREACHABLE();
}

namespace {

Expr activate(Activation activation, const Expr& x) {
  switch (activation) {
    case Activation::None:
      return x;
    case Activation::Relu:
      return unary(ExprOp::Relu, x);
    case Activation::Gelu:
      return unary(ExprOp::Gelu, x);
    case Activation::GeluTanh:
      return unary(ExprOp::GeluTanh, x);
    case Activation::Silu:
      return unary(ExprOp::Silu, x);
  }
  ORR_UNREACHABLE();
}

}  // namespace

Epilogue linear_epilogue(const LinearEpilogue& parts) {
  Epilogue epilogue;
  const auto add_tensor = [&](std::string_view name, bool rows) {
    epilogue.tensors.push_back(
        {.name = std::string(name), .dtype = parts.dtype, .rows = rows, .cols = true});
    const auto last = TensorId::from_index(epilogue.tensors.size() - 1);
    epilogue.value = binary(ExprOp::Add, epilogue.value, tensor(last));
  };
  if (parts.bias) {
    add_tensor("bias", false);
  }
  epilogue.value = activate(parts.activation, epilogue.value);
  if (parts.residual) {
    add_tensor("residual", true);
  }
  return epilogue;
}

Result<Expr> bind(const Epilogue& epilogue, const EpilogueBinding& binding) {
  Expr bound = epilogue.value;
  for (ExprNode& node : bound.nodes) {
    bool known = true;
    if (node.op == ExprOp::Buffer) {
      known = node.buffer == BufferId(0);
      node.buffer = binding.acc;
    } else if (node.op == ExprOp::Tensor) {
      known = node.tensor.valid() && node.tensor.index() < binding.tensors.size();
      node.tensor = known ? binding.tensors[node.tensor.index()] : node.tensor;
    } else if (node.op == ExprOp::Extent || node.op == ExprOp::Inside) {
      known = node.axis == AxisId(0) || node.axis == AxisId(1);
      node.axis = node.axis == AxisId(0) ? binding.rows : binding.cols;
    }
    if (!known) {
      return make_error(ErrorCode::InvalidInput,
                        "[kernel.epilogue] operand '{}' of the epilogue is not of this slot: need "
                        "buffer 0, tensors below {} and axes 0 and 1",
                        name(node.op),
                        binding.tensors.size());
    }
  }
  return bound;
}

}  // namespace orrery::kernel
