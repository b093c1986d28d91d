// base/dtype.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/dtype.h"

#include "orrery/python/bindings.h"

namespace orrery::python {

void bind_dtype(nb::module_& m) {
  nb::enum_<DType>(m, "DType", "An element type.")
      .value("F32", DType::F32)
      .value("TF32", DType::TF32)
      .value("F16", DType::F16)
      .value("BF16", DType::BF16)
      .value("F8E4M3", DType::F8E4M3)
      .value("F8E5M2", DType::F8E5M2)
      .value("F4E2M1", DType::F4E2M1)
      .value("I64", DType::I64)
      .value("I32", DType::I32)
      .value("I8", DType::I8)
      .value("I4", DType::I4)
      .value("Bool", DType::Bool);
  m.def(
      "parse_dtype",
      [](std::string_view text) { return unwrap(parse_dtype(text)); },
      nb::arg("text"),
      "The element type called `text` ('bf16', 'float32', ...).");
}

}  // namespace orrery::python
