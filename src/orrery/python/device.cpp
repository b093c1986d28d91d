// runtime/device.h and the devices behind it
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/device.h"

#include <nanobind/stl/unique_ptr.h>

#include "orrery/python/bindings.h"
#include "orrery/runtime/cuda/compiler.h"
#include "orrery/runtime/cuda/device.h"
#include "orrery/runtime/null/device.h"

namespace orrery::python {
namespace {

using runtime::Device;
using runtime::Kernel;
using runtime::KernelFacts;

runtime::cuda::Compiler compiler_of(std::vector<std::string> nvrtc,
                                    const std::optional<std::string>& cache) {
  const auto folder = cache ? std::filesystem::path(*cache) : runtime::cuda::default_cache();
  return unwrap(runtime::cuda::Compiler::open({.nvrtc = std::move(nvrtc), .cache = folder}));
}

void launch(Kernel& kernel,
            const std::vector<uintptr_t>& pointers,
            const nb::typed<nb::dict, std::string, int64_t>& extents,
            uintptr_t stream) {
  std::vector<void*> tensors;
  for (const uintptr_t pointer : pointers) tensors.push_back(reinterpret_cast<void*>(pointer));
  const kernel::Extents bound = extents_of(extents);
  unwrap(kernel.launch(
      {.tensors = tensors, .extents = bound, .stream = reinterpret_cast<void*>(stream)}));
}

void bind_kernel(nb::module_& m) {
  nb::class_<KernelFacts>(m, "KernelFacts", "What the compiler made of a kernel.")
      .def_ro("registers", &KernelFacts::registers)
      .def_ro("stack_bytes", &KernelFacts::stack_bytes)
      .def_ro("shared_bytes", &KernelFacts::shared_bytes)
      .def_ro("code_bytes", &KernelFacts::code_bytes);
  nb::class_<Kernel>(m, "Kernel", "A kernel on a device.")
      .def_prop_ro("facts", &Kernel::facts)
      .def("launch",
           &launch,
           nb::arg("pointers"),
           nb::arg("extents"),
           nb::arg("stream") = 0,
           "Queues a launch: device addresses in the order of Program.tensors, extents by symbol, "
           "and the stream's handle.");
}

}  // namespace

void bind_device(nb::module_& m) {
  bind_kernel(m);
  nb::class_<Device>(m, "Device", "Where kernels run.")
      .def_prop_ro("name", &Device::name)
      .def_prop_ro("runs", &Device::runs, "Can launches succeed?")
      .def(
          "load",
          [](Device& device, const kernel::Program& program) {
            return unwrap(device.load(program));
          },
          nb::arg("program"),
          nb::keep_alive<0, 1>(),
          "Emits, compiles and loads a program.");
  m.def(
      "open_cuda",
      [](int ordinal, std::vector<std::string> nvrtc, const std::optional<std::string>& cache) {
        return unwrap(runtime::cuda::open(compiler_of(std::move(nvrtc), cache), ordinal));
      },
      nb::arg("ordinal") = 0,
      nb::arg("nvrtc") = std::vector<std::string>(),
      nb::arg("cache") = nb::none(),
      "GPU number `ordinal`; `nvrtc`: files or folders to look for NVRTC in; `cache`: folder of "
      "compiled kernels (None: the user's, '': none).");
  m.def(
      "open_null",
      [](std::vector<std::string> nvrtc, const std::optional<std::string>& cache) {
        return runtime::null::open(compiler_of(std::move(nvrtc), cache));
      },
      nb::arg("nvrtc") = std::vector<std::string>(),
      nb::arg("cache") = nb::none(),
      "A device that compiles and does not run.");
}

}  // namespace orrery::python
