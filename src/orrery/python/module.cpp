// The Python module: the list of what is bound.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/python/bindings.h"

NB_MODULE(_orrery, m) {
  using namespace orrery::python;
  m.doc() = "Kernel programs: built, printed, emitted, compiled, launched.";
  // Kernels that Python code caches live until the process ends; that is no leak worth a warning.
  orrery::python::nb::set_leak_warnings(false);
  bind_result(m);
  bind_dtype(m);
  bind_machine(m);
  bind_program(m);
  bind_epilogue(m);
  bind_gemm(m);
  bind_add_rms_norm(m);
  bind_decode_attention(m);
  bind_cost(m);
  bind_emit(m);
  bind_device(m);
}
