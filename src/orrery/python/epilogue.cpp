// kernel/family/epilogue.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/epilogue.h"

#include "orrery/python/bindings.h"

namespace orrery::python {

void bind_epilogue(nb::module_& m) {
  nb::enum_<kernel::Activation>(m, "Activation", "The activation of a linear epilogue.")
      .value("Identity", kernel::Activation::None)
      .value("Relu", kernel::Activation::Relu)
      .value("Gelu", kernel::Activation::Gelu)
      .value("GeluTanh", kernel::Activation::GeluTanh)
      .value("Silu", kernel::Activation::Silu);
  nb::class_<kernel::Epilogue>(m, "Epilogue", "What is computed per output element.")
      .def(nb::init<>());
  m.def(
      "linear_epilogue",
      [](bool bias, kernel::Activation activation, bool residual, DType dtype) {
        return kernel::linear_epilogue({bias, activation, residual, dtype});
      },
      nb::arg("bias") = false,
      nb::arg("activation") = kernel::Activation::None,
      nb::arg("residual") = false,
      nb::arg("dtype") = DType::BF16,
      "activation(acc [+ bias[n]]) [+ residual[m, n]]");
}

}  // namespace orrery::python
