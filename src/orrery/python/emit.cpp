// emit/cuda/emit.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cuda/emit.h"

#include "orrery/python/bindings.h"

namespace orrery::python {

void bind_emit(nb::module_& m) {
  m.def(
      "emit_cuda",
      [](const kernel::Program& program) { return unwrap(emit::cuda::emit(program)).code; },
      nb::arg("program"),
      "CUDA C++ of a program for sm_90a.");
}

}  // namespace orrery::python
