// The CUDA driver's functions that we call, opened at run time; no CUDA header is needed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "orrery/base/result.h"
#include "orrery/runtime/cuda/dynamic_library.h"

namespace orrery::runtime::cuda {

// Declarations follow the CUDA Driver API reference (13.0). Handles are opaque pointers, results
// are 0 for success.
using DeviceHandle = int;
using ContextHandle = void*;
using ModuleHandle = void*;
using FunctionHandle = void*;
using StreamHandle = void*;

/// CUtensorMap: 128 opaque bytes.
struct alignas(64) TensorMapBytes {
  uint64_t opaque[16] = {};
};

/// CUlaunchAttribute: an id and 64 bytes of value.
struct LaunchAttribute {
  uint32_t id = 0;
  uint32_t padding = 0;
  uint32_t value[16] = {};
};

inline constexpr uint32_t kClusterDimension = 4;
inline constexpr uint32_t kProgrammaticSerialization = 6;

/// CUlaunchConfig.
struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;
  StreamHandle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  uint32_t attribute_count = 0;
};

struct Driver {
  DynamicLibrary library;
  int (*init)(unsigned) = nullptr;
  int (*error_name)(int, const char**) = nullptr;
  int (*error_text)(int, const char**) = nullptr;
  int (*device_get)(DeviceHandle*, int ordinal) = nullptr;
  int (*device_name)(char*, int size, DeviceHandle) = nullptr;
  int (*device_attribute)(int*, int attribute, DeviceHandle) = nullptr;
  int (*retain_context)(ContextHandle*, DeviceHandle) = nullptr;
  int (*release_context)(DeviceHandle) = nullptr;
  int (*get_context)(ContextHandle*) = nullptr;
  int (*set_context)(ContextHandle) = nullptr;
  int (*module_load)(ModuleHandle*, const void* image) = nullptr;
  int (*module_unload)(ModuleHandle) = nullptr;
  int (*module_function)(FunctionHandle*, ModuleHandle, const char* name) = nullptr;
  int (*function_set)(FunctionHandle, int attribute, int value) = nullptr;
  int (*occupancy)(int* ctas, FunctionHandle, int threads, size_t shared_bytes) = nullptr;
  int (*cluster_occupancy)(int* clusters, FunctionHandle, const LaunchConfig*) = nullptr;
  int (*encode_tiled)(TensorMapBytes*,
                      int type,
                      uint32_t rank,
                      void* address,
                      const uint64_t* extents,
                      const uint64_t* strides,
                      const uint32_t* box,
                      const uint32_t* steps,
                      int interleave,
                      int swizzle,
                      int promotion,
                      int fill) = nullptr;
  int (*launch)(const LaunchConfig*, FunctionHandle, void** arguments, void** extra) = nullptr;

  /// Loads libcuda.so.1 and initialises it. Error NotFound: no driver; IoError: it refuses (no
  /// device, say).
  static Result<std::shared_ptr<const Driver>> open();

  /// An IoError with the driver's own words for `code`; success if it is 0.
  Result<void> check(int code, const char* call) const;
};

}  // namespace orrery::runtime::cuda
