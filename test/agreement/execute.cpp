// Calling compiled kernels on host tensors.
// SPDX-License-Identifier: Apache-2.0
#include "execute.h"

#include "orrery/interpret/encode.h"

namespace orrery::agreement {

void execute(const Compiled& kernel,
             const kernel::Extents& extents,
             std::vector<interpret::HostTensor>& tensors,
             std::vector<int32_t> more) {
  std::vector<std::vector<std::byte>> memory;
  for (const kernel::Tensor& tensor : kernel.program.tensors) {
    memory.push_back(interpret::encode(tensor.dtype, find(tensors, tensor.name).values).value());
  }
  std::vector<void*> pointers;
  std::vector<int32_t> numbers;
  for (const emit::Argument& argument : kernel.source.arguments) {
    if (argument.kind == emit::ArgumentKind::Extent) {
      numbers.push_back(static_cast<int32_t>(extents.find(argument.symbol).value()));
    } else {
      pointers.push_back(memory[argument.tensor.index()].data());
    }
  }
  numbers.insert(numbers.end(), more.begin(), more.end());
  std::vector<void*> arguments;
  for (void*& pointer : pointers) arguments.push_back(&pointer);
  for (int32_t& number : numbers) arguments.push_back(&number);
  kernel.library.call(arguments);
  for (size_t i = 0; i < kernel.program.tensors.size(); ++i) {
    const kernel::Tensor& tensor = kernel.program.tensors[i];
    find(tensors, tensor.name).values = interpret::decode(tensor.dtype, memory[i]).value();
  }
}

}  // namespace orrery::agreement
