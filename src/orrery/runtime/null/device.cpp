// The device of a machine without a GPU: see device.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/null/device.h"

#include <string>
#include <utility>

#include "orrery/emit/cuda/emit.h"
#include "orrery/kernel/geometry.h"

namespace orrery::runtime::null {
namespace {

class NullKernel final : public Kernel {
 public:
  NullKernel(std::string name, const KernelFacts& facts) : name_(std::move(name)), facts_(facts) {}

  Result<void> launch(const Launch&) override {
    return make_error(
        ErrorCode::Unsupported,
        "[runtime.null] kernel '{}' was compiled but cannot run: got no GPU, need one "
        "with its driver (libcuda.so.1)",
        name_);
  }

  const KernelFacts& facts() const override { return facts_; }

 private:
  std::string name_;
  KernelFacts facts_;
};

class NullDevice final : public Device {
 public:
  explicit NullDevice(cuda::Compiler compiler) : compiler_(std::move(compiler)) {}

  Result<std::unique_ptr<Kernel>> load(const kernel::Program& program) override {
    ORR_TRY(const emit::Source source, emit::cuda::emit(program));
    ORR_TRY(const cuda::Cubin cubin, compiler_.compile(source));
    const KernelFacts facts{.registers = cubin.resources.registers,
                            .stack_bytes = cubin.resources.stack_bytes,
                            .shared_bytes = kernel::shared_plan(program).total,
                            .code_bytes = static_cast<int64_t>(cubin.bytes.size())};
    std::unique_ptr<Kernel> kernel = std::make_unique<NullKernel>(program.name, facts);
    return kernel;
  }

  std::string_view name() const override { return "null"; }

  bool runs() const override { return false; }

 private:
  cuda::Compiler compiler_;
};

}  // namespace

std::unique_ptr<Device> open(cuda::Compiler compiler) {
  return std::make_unique<NullDevice>(std::move(compiler));
}

}  // namespace orrery::runtime::null
