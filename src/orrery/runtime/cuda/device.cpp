// NVIDIA GPUs through the driver API: see device.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/device.h"

#include <array>
#include <string>
#include <utility>

#include "orrery/emit/cuda/emit.h"
#include "orrery/runtime/cuda/driver.h"
#include "orrery/runtime/cuda/kernel_internal.h"

namespace orrery::runtime::cuda {
namespace {

// CUdevice_attribute (cuda.h 13.0).
constexpr int kMultiprocessors = 16;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<const Driver> driver, Compiler compiler, DeviceHandle device)
      : driver_(std::move(driver)), compiler_(std::move(compiler)), device_(device) {}

  ~CudaDevice() override {
    if (context_ != nullptr) driver_->release_context(device_);
  }

  Result<void> prepare() {
    std::array<char, 256> text{};
    ORR_TRY_VOID(
        driver_->check(driver_->device_name(text.data(), static_cast<int>(text.size()), device_),
                       "cuDeviceGetName"));
    name_ = text.data();
    ORR_TRY(multiprocessors_, attribute(kMultiprocessors));
    ORR_TRY(const int major, attribute(kCapabilityMajor));
    ORR_TRY(const int minor, attribute(kCapabilityMinor));
    if (major != 9 || minor != 0) {
      return make_error(ErrorCode::Unsupported,
                        "[runtime.cuda] '{}' cannot run emitted kernels: got compute capability "
                        "{}.{}, need 9.0",
                        name_,
                        major,
                        minor);
    }
    return driver_->check(driver_->retain_context(&context_, device_), "cuDevicePrimaryCtxRetain");
  }

  Result<std::unique_ptr<Kernel>> load(const kernel::Program& program) override {
    ORR_TRY(emit::Source source, emit::cuda::emit(program));
    ORR_TRY(const Cubin cubin, compiler_.compile(source));
    return load_kernel({driver_, context_, multiprocessors_}, program, std::move(source), cubin);
  }

  std::string_view name() const override { return name_; }

  bool runs() const override { return true; }

 private:
  Result<int> attribute(int which) const {
    int value = 0;
    ORR_TRY_VOID(
        driver_->check(driver_->device_attribute(&value, which, device_), "cuDeviceGetAttribute"));
    return value;
  }

  std::shared_ptr<const Driver> driver_;  // shared with the kernels, immutable
  Compiler compiler_;
  DeviceHandle device_;
  ContextHandle context_ = nullptr;
  std::string name_;
  int multiprocessors_ = 0;
};

}  // namespace

Result<std::unique_ptr<Device>> open(Compiler compiler, int ordinal) {
  ORR_TRY(std::shared_ptr<const Driver> driver, Driver::open());
  DeviceHandle handle = 0;
  ORR_TRY_VOID(driver->check(driver->device_get(&handle, ordinal), "cuDeviceGet"));
  auto device = std::make_unique<CudaDevice>(std::move(driver), std::move(compiler), handle);
  ORR_TRY_VOID(device->prepare());
  return std::unique_ptr<Device>(std::move(device));
}

}  // namespace orrery::runtime::cuda
