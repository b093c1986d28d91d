// kernel/family/gemm.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/gemm.h"

#include "orrery/python/bindings.h"

namespace orrery::python {

using kernel::GemmConfig;

void bind_gemm(nb::module_& m) {
  nb::class_<GemmConfig>(m, "GemmConfig", "One kernel of the GEMM family.")
      .def(nb::init<>())
      .def(nb::init<const GemmConfig&>())
      .def_rw("target", &GemmConfig::target)
      .def_rw("dtype", &GemmConfig::dtype)
      .def_rw("tile_m", &GemmConfig::tile_m)
      .def_rw("tile_n", &GemmConfig::tile_n)
      .def_rw("tile_k", &GemmConfig::tile_k)
      .def_rw("ring", &GemmConfig::ring)
      .def_rw("swapped", &GemmConfig::swapped)
      .def_rw("warps", &GemmConfig::warps)
      .def_rw("cluster_m", &GemmConfig::cluster_m)
      .def_rw("cluster_n", &GemmConfig::cluster_n)
      .def_rw("group", &GemmConfig::group)
      .def_rw("persistent", &GemmConfig::persistent)
      .def_rw("parts", &GemmConfig::parts)
      .def_rw("store_ring", &GemmConfig::store_ring)
      .def_rw("ctas_per_sm", &GemmConfig::ctas_per_sm)
      .def_rw("epilogue", &GemmConfig::epilogue)
      .def("__str__", [](const GemmConfig& config) { return kernel::kernel_name(config); });
  m.def(
      "gemm_program",
      [](const GemmConfig& config) { return unwrap(kernel::gemm_program(config)); },
      nb::arg("config"),
      "C[m, n] = epilogue(A[m, k] B[n, k]^T); with parts > 1: the partial sums P[part, m, n].");
  m.def(
      "gemm_combine_program",
      [](const GemmConfig& config) { return unwrap(kernel::gemm_combine_program(config)); },
      nb::arg("config"),
      "C[m, n] = epilogue(sum of the parts of P).");
  m.def(
      "gemm_configs",
      [](int64_t rows,
         int64_t n,
         int64_t k,
         const machine::Machine& machine,
         const GemmConfig& base) { return kernel::gemm_configs({rows, n, k}, machine.chip, base); },
      nb::arg("m"),
      nb::arg("n"),
      nb::arg("k"),
      nb::arg("machine"),
      nb::arg("base"),
      "Configurations worth timing for these extents, in a fixed order.");
}

}  // namespace orrery::python
