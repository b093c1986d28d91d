// kernel/family/add_rms_norm.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/add_rms_norm.h"

#include "orrery/python/bindings.h"

namespace orrery::python {

using kernel::AddRmsNormConfig;

void bind_add_rms_norm(nb::module_& m) {
  nb::class_<AddRmsNormConfig>(m, "AddRmsNormConfig", "One kernel of the add_rms_norm family.")
      .def(nb::init<>())
      .def(nb::init<const AddRmsNormConfig&>())
      .def_rw("target", &AddRmsNormConfig::target)
      .def_rw("dtype", &AddRmsNormConfig::dtype)
      .def_rw("rows", &AddRmsNormConfig::rows)
      .def_rw("row_warps", &AddRmsNormConfig::row_warps)
      .def_rw("vectors", &AddRmsNormConfig::vectors)
      .def_rw("aligned", &AddRmsNormConfig::aligned)
      .def_rw("looped", &AddRmsNormConfig::looped)
      .def_rw("eps", &AddRmsNormConfig::eps)
      .def("__str__", [](const AddRmsNormConfig& config) { return kernel::kernel_name(config); });
  m.def(
      "add_rms_norm_program",
      [](const AddRmsNormConfig& config) { return unwrap(kernel::add_rms_norm_program(config)); },
      nb::arg("config"),
      "H = X + R, Y = H / rms(H) * W over tensors X, R [rows, cols], W [cols].");
  m.def(
      "add_rms_norm_configs",
      [](int64_t rows,
         int64_t cols,
         const machine::Machine& machine,
         const AddRmsNormConfig& base) {
        return kernel::add_rms_norm_configs(rows, cols, machine.chip, base);
      },
      nb::arg("rows"),
      nb::arg("cols"),
      nb::arg("machine"),
      nb::arg("base"),
      "Configurations worth timing for these extents, in a fixed order.");
}

}  // namespace orrery::python
