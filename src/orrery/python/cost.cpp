// cost/estimate.h, kernel/profile.h
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cost/estimate.h"

#include "orrery/kernel/profile.h"
#include "orrery/python/bindings.h"

namespace orrery::python {

void bind_cost(nb::module_& m) {
  nb::class_<plan::Estimate>(m, "Estimate", "A predicted time with its interval, microseconds.")
      .def_prop_ro("time_us", [](const plan::Estimate& e) { return e.time.microseconds(); })
      .def_prop_ro("low_us", [](const plan::Estimate& e) { return e.low.microseconds(); })
      .def_prop_ro("high_us", [](const plan::Estimate& e) { return e.high.microseconds(); })
      .def_prop_ro("bound", [](const plan::Estimate& e) { return plan::name(e.bound); });
  nb::class_<cost::ClosedForm>(m, "ClosedForm", "The closed-form estimator of a machine.")
      .def(nb::init<machine::Machine>(), nb::arg("machine"))
      .def(
          "time",
          [](const cost::ClosedForm& estimator,
             const kernel::Program& program,
             const nb::typed<nb::dict, std::string, int64_t>& extents) {
            const kernel::Profile profile = unwrap(
                kernel::derive_profile(program, extents_of(extents), estimator.machine().chip));
            return estimator.time(profile, {});
          },
          nb::arg("program"),
          nb::arg("extents"),
          "The time of one launch, inputs not in cache, inside a CUDA graph.");
}

}  // namespace orrery::python
