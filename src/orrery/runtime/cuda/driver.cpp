// The CUDA driver's functions that we call: see driver.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/driver.h"

#include <string>

namespace orrery::runtime::cuda {

Result<std::shared_ptr<const Driver>> Driver::open() {
  const std::string names[] = {"libcuda.so.1", "libcuda.so"};
  ORR_TRY(DynamicLibrary library, DynamicLibrary::open(names));
  auto driver = std::make_shared<Driver>();
  driver->library = std::move(library);
  const DynamicLibrary& from = driver->library;
  ORR_TRY_VOID(from.bind(driver->init, "cuInit"));
  ORR_TRY_VOID(from.bind(driver->error_name, "cuGetErrorName"));
  ORR_TRY_VOID(from.bind(driver->error_text, "cuGetErrorString"));
  ORR_TRY_VOID(from.bind(driver->device_get, "cuDeviceGet"));
  ORR_TRY_VOID(from.bind(driver->device_name, "cuDeviceGetName"));
  ORR_TRY_VOID(from.bind(driver->device_attribute, "cuDeviceGetAttribute"));
  ORR_TRY_VOID(from.bind(driver->retain_context, "cuDevicePrimaryCtxRetain"));
  ORR_TRY_VOID(from.bind(driver->release_context, "cuDevicePrimaryCtxRelease_v2"));
  ORR_TRY_VOID(from.bind(driver->get_context, "cuCtxGetCurrent"));
  ORR_TRY_VOID(from.bind(driver->set_context, "cuCtxSetCurrent"));
  ORR_TRY_VOID(from.bind(driver->module_load, "cuModuleLoadData"));
  ORR_TRY_VOID(from.bind(driver->module_unload, "cuModuleUnload"));
  ORR_TRY_VOID(from.bind(driver->module_function, "cuModuleGetFunction"));
  ORR_TRY_VOID(from.bind(driver->function_set, "cuFuncSetAttribute"));
  ORR_TRY_VOID(from.bind(driver->occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  ORR_TRY_VOID(from.bind(driver->cluster_occupancy, "cuOccupancyMaxActiveClusters"));
  ORR_TRY_VOID(from.bind(driver->encode_tiled, "cuTensorMapEncodeTiled"));
  ORR_TRY_VOID(from.bind(driver->launch, "cuLaunchKernelEx"));
  ORR_TRY_VOID(driver->check(driver->init(0), "cuInit"));
  return std::shared_ptr<const Driver>(std::move(driver));
}

Result<void> Driver::check(int code, const char* call) const {
  if (code == 0) return {};
  const char* label = nullptr;
  const char* text = nullptr;
  error_name(code, &label);
  error_text(code, &text);
  return make_error(ErrorCode::IoError,
                    "[runtime.cuda] {} failed: got {} ({}: {}), need success",
                    call,
                    code,
                    label != nullptr ? label : "unnamed",
                    text != nullptr ? text : "no description");
}

}  // namespace orrery::runtime::cuda
