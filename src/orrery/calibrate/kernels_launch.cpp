// Kernels about launching and about handing work from one SM to another.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/kernels_internal.h"

namespace orrery::calibrate {
namespace {

constexpr const char* kEmpty = "}\n";

// What a dependent kernel may do before the one before it has ended: nothing here.
constexpr const char* kEmptyEarly = R"(
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
})";

// The least that a framework's pointwise kernel does: four vectors of bf16 a thread, a path for
// blocks that are full and one for the last. a: first byte read, b: written; c: vectors.
constexpr const char* kPointwise = R"(
__device__ __forceinline__ unsigned both(unsigned w) {
  float low = __uint_as_float(w << 16), high = __uint_as_float(w & 0xffff0000u);
  low = OPERATION(low);
  high = OPERATION(high);
  unsigned result;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
  return result;
}
__device__ __forceinline__ uint4 all(uint4 x) {
  return make_uint4(both(x.x), both(x.y), both(x.z), both(x.w));
}
__device__ __forceinline__ uint4 one(const uint4* v, long long i) {
  return READS ? v[i] : make_uint4((unsigned)i, (unsigned)i + 1, (unsigned)i + 2, (unsigned)i + 3);
}
HEAD
  const uint4* v = (const uint4*)(data + a);
  uint4* to = (uint4*)(data + b);
  const long long first = blockIdx.x * 4ll * blockDim.x + threadIdx.x;
  if ((blockIdx.x + 1) * 4ll * blockDim.x <= c) {
    uint4 x[4];
    #pragma unroll
    for (int u = 0; u < 4; ++u) x[u] = one(v, first + u * (int)blockDim.x);
    #pragma unroll
    for (int u = 0; u < 4; ++u) to[first + u * (int)blockDim.x] = all(x[u]);
  } else {
    for (int u = 0; u < 4; ++u) {
      const long long i = first + u * (int)blockDim.x;
      if (i < c) to[i] = all(one(v, i));
    }
  }
})";

// As many instructions as a framework's larger kernels have, each executed once. c: vectors.
constexpr const char* kCode = R"(
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  float x[8];
  for (int k = 0; k < 8; ++k) x[k] = NUMBER + k * (float)i;
  #pragma unroll
  for (int r = 0; r < 64; ++r) {
    #pragma unroll
    for (int k = 0; k < 8; ++k) asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(x[k]) : "f"(x[7 - k]));
  }
  float s = 0;
  for (int k = 0; k < 8; ++k) s += x[k];
  if (i < c) ((float*)(data + b))[i] = s;
})";

constexpr const char* kAtomic = R"(
  unsigned long long s = 0;
  long long t = clock64();
  for (long long i = 0; i < a; ++i) s += atomicAdd(out + 64 + (s & 1) * 0, 1ull + (s >> 63));
  out[2] = s;
  out[0] = clock64() - t;
})";

// Two blocks of a thread each hand a number to and fro a times.
constexpr const char* kFlag = R"(
  volatile unsigned long long* mine = out + 128 + blockIdx.x * 32;
  volatile unsigned long long* other = out + 128 + (1 - blockIdx.x) * 32;
  const unsigned long long base = b;
  long long t = clock64();
  for (long long i = 1; i <= a; ++i) {
    if (blockIdx.x == 0) {
      *other = base + i;
      while (*mine != base + i) {}
    } else {
      while (*mine != base + i) {}
      *other = base + i;
    }
  }
  if (blockIdx.x == 0) out[0] = clock64() - t;
})";

KernelText pointwise(const std::string& name, bool reads, std::string_view operation) {
  std::string text = replaced(kPointwise, "OPERATION", operation);
  text = replaced(std::move(text), "READS", reads ? "true" : "false");
  return {name, replaced(std::move(text), "HEAD", kernel_head(name))};
}

}  // namespace

std::string code_name(int number) {
  return fmt::format("code_{}", number);
}

std::vector<KernelText> launch_kernels() {
  const auto text = [](const char* name, const char* body, bool hopper = false) {
    return KernelText{name, kernel_head(name) + body, hopper};
  };
  std::vector<KernelText> all = {text("empty", kEmpty),
                                 text("empty_early", kEmptyEarly, true),
                                 pointwise("scale", true, "0.5f *"),
                                 pointwise("set", false, "0.5f *"),
                                 text("atomic", kAtomic),
                                 text("flag", kFlag)};
  for (int i = 0; i < kCodes; ++i) {
    const std::string name = code_name(i);
    all.push_back({name, kernel_head(name) + replaced(kCode, "NUMBER", fmt::format("{}.5f", i))});
  }
  return all;
}

}  // namespace orrery::calibrate
