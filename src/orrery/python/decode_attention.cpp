// kernel/family/decode_attention.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/decode_attention.h"

#include "orrery/python/bindings.h"

namespace orrery::python {

using kernel::DecodeConfig;

void bind_decode_attention(nb::module_& m) {
  nb::class_<DecodeConfig>(m, "DecodeConfig", "One kernel of the decode attention family.")
      .def(nb::init<>())
      .def(nb::init<const DecodeConfig&>())
      .def_rw("target", &DecodeConfig::target)
      .def_rw("dtype", &DecodeConfig::dtype)
      .def_rw("head_dim", &DecodeConfig::head_dim)
      .def_rw("group", &DecodeConfig::group)
      .def_rw("tile_s", &DecodeConfig::tile_s)
      .def_rw("ring", &DecodeConfig::ring)
      .def_rw("parts", &DecodeConfig::parts)
      .def_rw("ctas_per_sm", &DecodeConfig::ctas_per_sm)
      .def_rw("scale", &DecodeConfig::scale)
      .def("__str__", [](const DecodeConfig& config) { return kernel::kernel_name(config); });
  m.def(
      "decode_attention_program",
      [](const DecodeConfig& config) { return unwrap(kernel::decode_attention_program(config)); },
      nb::arg("config"),
      "O[b, h, g, d] from Q[b, h, g, d], K, V[b, h, s, d]; with parts > 1 the parts' results.");
  m.def(
      "decode_combine_program",
      [](const DecodeConfig& config) { return unwrap(kernel::decode_combine_program(config)); },
      nb::arg("config"),
      "O from the parts' results.");
  m.def(
      "decode_configs",
      [](int64_t b,
         int64_t h,
         int64_t g,
         int64_t s,
         const machine::Machine& machine,
         const DecodeConfig& base) {
        return kernel::decode_configs({b, h, g, s}, machine.chip, base);
      },
      nb::arg("b"),
      nb::arg("h"),
      nb::arg("g"),
      nb::arg("s"),
      nb::arg("machine"),
      nb::arg("base"),
      "Configurations worth timing for these extents, in a fixed order.");
}

}  // namespace orrery::python
