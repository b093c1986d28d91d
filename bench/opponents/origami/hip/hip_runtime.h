// What rocm-origami names of HIP, for a machine without ROCm: no device is ever found.
// SPDX-License-Identifier: Apache-2.0
//
// origami asks HIP for the sizes of the GPU it runs on and nothing else. They are given to it by
// number here (origami.get_hardware_for_arch), so that its model runs unchanged anywhere.
#pragma once

#include <cstddef>

struct hipDeviceProp_t {
  char gcnArchName[256];
  int multiProcessorCount;
  std::size_t sharedMemPerBlock;
  int l2CacheSize;
  int clockRate;
  int memoryClockRate;
};

enum hipError_t { hipSuccess = 0, hipErrorNoDevice = 100 };

inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  static_cast<void>(properties);
  static_cast<void>(device);
  return hipErrorNoDevice;
}

inline const char* hipGetErrorString(hipError_t error) {
  return error == hipSuccess ? "hipSuccess" : "hipErrorNoDevice: this build has no HIP";
}
