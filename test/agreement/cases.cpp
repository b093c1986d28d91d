// Filling tensors and numbering sizes for the cases.
// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>

#include "cases_internal.h"
#include "orrery/kernel/geometry.h"

namespace orrery::agreement {

int64_t pick(std::mt19937& random, std::vector<int64_t> choices) {
  return choices[random() % choices.size()];
}

int64_t between(std::mt19937& random, int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
}

interpret::HostTensor& find(std::vector<interpret::HostTensor>& tensors, const std::string& name) {
  const auto found = std::find_if(
      tensors.begin(), tensors.end(), [&](const auto& tensor) { return tensor.name == name; });
  ORR_CHECK(found != tensors.end()) << "no tensor " << name;
  return *found;
}

void add_tensors(Case& c, const kernel::Program& program, std::mt19937& random, float scale) {
  for (const kernel::Tensor& tensor : program.tensors) {
    const auto same = [&](const auto& host) { return host.name == tensor.name; };
    if (std::any_of(c.tensors.begin(), c.tensors.end(), same)) continue;
    interpret::HostTensor host{tensor.name, {}, {}};
    size_t size = 1;
    for (const kernel::AxisId axis : tensor.axes) {
      host.shape.push_back(kernel::extent_of(program, axis, c.extents).value());
      size *= static_cast<size_t>(host.shape.back());
    }
    host.values.resize(size);
    if (tensor.access == kernel::Access::Read) {
      for (float& x : host.values) {
        // 2^16 steps from the generator's bits: the same numbers with every standard library.
        const float unit = static_cast<float>(random() % 65536U) / 32768.0F - 1.0F;
        x = interpret::round_to(tensor.dtype, scale * unit);
      }
    }
    c.tensors.push_back(std::move(host));
  }
}

kernel::Program unaligned(kernel::Program program) {
  for (kernel::Axis& axis : program.axes) axis.multiple = 1;
  return program;
}

kernel::Extents extents_of(std::vector<std::pair<std::string, int64_t>> values) {
  kernel::Extents extents;
  for (const auto& [symbol, value] : values) extents.set(symbol, value);
  return extents;
}

}  // namespace orrery::agreement
