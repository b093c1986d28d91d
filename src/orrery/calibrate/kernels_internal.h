// Texts that several kernels share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "orrery/base/dtype.h"

namespace orrery::calibrate {

// The first block's clocks and nanoseconds go to the first two words of the output.
inline constexpr const char* kStopwatch = R"(
struct Stopwatch {
  long long clocks;
  unsigned long long ns;
  __device__ __forceinline__ Stopwatch() {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns) :: "memory");
    clocks = clock64();
  }
  __device__ __forceinline__ void stop(unsigned long long* out) {
    __syncthreads();
    unsigned long long now;
    long long end = clock64();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now) :: "memory");
    if (threadIdx.x == 0 && blockIdx.x == 0) {
      out[0] = end - clocks;
      out[1] = now - ns;
    }
  }
};
)";

// Four numbers near a normal distribution from a seed that changes.
inline constexpr const char* kNormal = R"(
__device__ __forceinline__ void normal(unsigned& x, float* g) {
  for (int q = 0; q < 4; ++q) {
    float s = 0;
    for (int r = 0; r < 4; ++r) {
      x ^= x >> 16; x *= 0x7feb352du; x ^= x >> 15; x += 0x9e3779b9u;
      s += (float)(x >> 8) * (1.f / 8388608.f) - 1.f;
    }
    g[q] = s;
  }
}
)";

// Barriers in shared memory and bulk copies that end there.
inline constexpr const char* kCopies = R"(
__device__ __forceinline__ unsigned at(const void* p) {
  return (unsigned)__cvta_generic_to_shared(p);
}
__device__ __forceinline__ void start(unsigned bar) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(bar) : "memory");
}
__device__ __forceinline__ void expect(unsigned bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait(unsigned bar, unsigned phase) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar), "r"(phase) : "memory");
}
__device__ __forceinline__ void copy(unsigned to, const void* from, unsigned bytes, unsigned bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1], %2, [%3];"
               :: "r"(to), "l"(from), "r"(bytes), "r"(bar) : "memory");
}
)";

/// The text with every `what`, which it must have, replaced.
std::string replaced(std::string text, std::string_view what, std::string_view with);

/// How every kernel begins; `bounds` is a __launch_bounds__ or nothing.
std::string kernel_head(const std::string& name, const std::string& bounds = "");

/// C++ that packs g[0] to g[3] into the word w: two elements of 16 bits, four of 8, one of 32.
std::string pack_text(DType type);

}  // namespace orrery::calibrate
