// kernel/program.h, kernel/print.h, kernel/parse.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/program.h"

#include "orrery/kernel/parse.h"
#include "orrery/kernel/print.h"
#include "orrery/python/bindings.h"

namespace orrery::python {

kernel::Extents extents_of(const nb::dict& values) {
  kernel::Extents extents;
  for (const auto& [symbol, value] : values) {
    extents.set(nb::cast<std::string_view>(symbol), nb::cast<int64_t>(value));
  }
  return extents;
}

void bind_program(nb::module_& m) {
  nb::enum_<kernel::Target>(m, "Target", "The instruction set of a program.")
      .value("Sm90a", kernel::Target::Sm90a)
      .value("Gfx942", kernel::Target::Gfx942);
  nb::class_<kernel::Program>(m, "Program", "A kernel program: str() is its text form.")
      .def_ro("name", &kernel::Program::name)
      .def("__str__", [](const kernel::Program& program) { return kernel::print(program); })
      .def(
          "__eq__",
          [](const kernel::Program& a, const kernel::Program& b) { return a == b; },
          nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def_prop_ro(
          "tensors",
          [](const kernel::Program& program) {
            std::vector<std::string> names;
            for (const auto& tensor : program.tensors) names.push_back(tensor.name);
            return names;
          },
          "Names of the tensors, in the order of launch pointers.");
  m.def(
      "parse_program",
      [](std::string_view text) { return unwrap(kernel::parse(text)); },
      nb::arg("text"),
      "The program of a text form.");
}

}  // namespace orrery::python
