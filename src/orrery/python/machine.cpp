// machine/machine.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/machine.h"

#include "orrery/python/bindings.h"

namespace orrery::python {

void bind_machine(nb::module_& m) {
  nb::class_<machine::Machine>(m, "Machine", "A machine file, read.")
      .def_ro("id", &machine::Machine::id)
      .def_ro("title", &machine::Machine::title);
  m.def(
      "parse_machine",
      [](std::string_view toml, std::string_view origin) {
        return unwrap(machine::parse_machine(toml, origin));
      },
      nb::arg("toml"),
      nb::arg("origin"),
      "Reads the text of a machine file; `origin` stands in error messages.");
}

}  // namespace orrery::python
