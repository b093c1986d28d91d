// What the binding files share: one function a header, and how a Result becomes a value or raises.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "orrery/base/result.h"
#include "orrery/kernel/program.h"

namespace orrery::python {

namespace nb = nanobind;

/// Raises the Python exception of the error's code.
[[noreturn]] void raise(const Error& error);

/// The value, or the exception.
template <class T>
T unwrap(Result<T> result) {
  if (!result.ok()) raise(result.error());
  return std::move(result).value();
}

inline void unwrap(const Result<void>& result) {
  if (!result.ok()) raise(result.error());
}

/// Extents from {"m": 4096, ...}.
kernel::Extents extents_of(const nb::dict& values);

void bind_result(nb::module_& m);
void bind_dtype(nb::module_& m);
void bind_machine(nb::module_& m);
void bind_program(nb::module_& m);
void bind_epilogue(nb::module_& m);
void bind_gemm(nb::module_& m);
void bind_add_rms_norm(nb::module_& m);
void bind_decode_attention(nb::module_& m);
void bind_cost(nb::module_& m);
void bind_emit(nb::module_& m);
void bind_device(nb::module_& m);

}  // namespace orrery::python
