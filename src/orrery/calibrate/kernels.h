// The kernels that benchmarks run, as CUDA C++ text.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/calibrate/gpu.h"

namespace orrery::calibrate {

/// By name; a name that none has is a bug.
const KernelText& kernel(std::string_view name);
/// Every kernel, sorted by name: what a test compiles.
std::vector<const KernelText*> all_kernels();

/// Fills the data with random numbers of a type: bf16, f16 or f8e4m3.
std::string fill_name(DType type);
/// Matrix products of 64 x n a warpgroup, operands in shared memory: "wgmma_bf16_256".
std::string wgmma_name(DType type, int64_t n);
/// The same of 64 x 256 while one operand streams in: bf16, f16 or f8e4m3.
std::string load_name(DType type);
/// Products of single warps.
std::string mma_name(DType type);

/// Different kernels of 8 KiB of instructions each, numbered from 0.
inline constexpr int kCodes = 12;
std::string code_name(int number);

/// Bytes of shared memory of the wgmma and load kernels: three stages of two operands.
inline constexpr int64_t kStageBytes = int64_t{3} * 49152;

// One list a file.
std::vector<KernelText> memory_kernels();
std::vector<KernelText> core_kernels();
std::vector<KernelText> launch_kernels();
std::vector<KernelText> copy_kernels();
std::vector<KernelText> wgmma_kernels();
std::vector<KernelText> load_kernels();

}  // namespace orrery::calibrate
