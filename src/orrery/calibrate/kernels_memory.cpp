// Kernels that stream through DRAM and L2, and that chase pointers.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/kernels_internal.h"

namespace orrery::calibrate {
namespace {

// Random numbers rather than zeros, which toggle less than real data.
constexpr const char* kFill = R"(
  unsigned* word = (unsigned*)data;
  const long long all = 1ll << 29;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < all;
       i += (long long)gridDim.x * blockDim.x) {
    unsigned x = (unsigned)i * 2654435761u + 12345u;
    float g[4];
    normal(x, g);
    unsigned w;
    PACK
    word[i] = w;
  }
})";

// a: bytes that are read again and again, in order; b: loads of a thread; c: how many of them are
// in flight (1, 2, 4 or 8). No load stays in L1, and a block comes to another place each time.
constexpr const char* kRead = R"(
template <int U>
__device__ __forceinline__ unsigned sweep(const uint4* v, unsigned n, long long loads) {
  const unsigned threads = gridDim.x * blockDim.x, step = threads % n;
  unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) % n;
  uint4 s = make_uint4(0, 0, 0, 0);
  #pragma unroll 1
  for (long long i = 0; i < loads; i += U) {
    uint4 x[U];
    #pragma unroll
    for (int u = 0; u < U; ++u) {
      x[u] = __ldcg(v + at);
      at += step;
      at = at >= n ? at - n : at;
    }
    #pragma unroll
    for (int u = 0; u < U; ++u) {
      s.x ^= x[u].x; s.y ^= x[u].y; s.z ^= x[u].z; s.w ^= x[u].w;
    }
  }
  return s.x ^ s.y ^ s.z ^ s.w;
}
HEAD
  Stopwatch watch;
  const unsigned n = (unsigned)(a / 16);
  const uint4* v = (const uint4*)data;
  unsigned s = c == 8 ? sweep<8>(v, n, b) : c == 4 ? sweep<4>(v, n, b)
             : c == 2 ? sweep<2>(v, n, b) : sweep<1>(v, n, b);
  if (s == 12345u) out[4096] = s;
  watch.stop(out);
})";

// a: bytes, all read once with eight loads of a thread in flight; b: by how many blocks the parts
// that blocks read are shifted.
constexpr const char* kOnce = R"(
  const uint4* v = (const uint4*)data;
  const unsigned n = (unsigned)(a / 16), threads = gridDim.x * blockDim.x;
  const unsigned block = (blockIdx.x + (unsigned)b) % gridDim.x;
  unsigned s = 0;
  #pragma unroll 1
  for (unsigned i = block * blockDim.x + threadIdx.x; i < n; i += 8 * threads) {
    uint4 x[8];
    #pragma unroll
    for (int u = 0; u < 8; ++u)
      if (i + u * threads < n) x[u] = __ldcg(v + i + u * threads);
      else x[u] = make_uint4(0, 0, 0, 0);
    #pragma unroll
    for (int u = 0; u < 8; ++u) s ^= x[u].x ^ x[u].y ^ x[u].z ^ x[u].w;
  }
  if (s == 12345u) out[4096] = s;
})";

// a: bytes that every block reads whole, from a place of its own on; b: passes.
constexpr const char* kReadShared = R"(
  Stopwatch watch;
  const uint4* v = (const uint4*)data;
  const int n = (int)(a / 16), t = threadIdx.x;
  uint4 s = make_uint4(0, 0, 0, 0);
  int at = (int)((long long)blockIdx.x * n / gridDim.x) / 1024 * 1024;
  for (long long pass = 0; pass < b; ++pass) {
    for (int i = 0; i < n; i += 8 * (int)blockDim.x) {
      uint4 x[8];
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        int k = at + i + u * (int)blockDim.x + t;
        k = k >= n ? k - n : k;
        x[u] = __ldcg(v + (k >= n ? k - n : k));
      }
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        s.x ^= x[u].x; s.y ^= x[u].y; s.z ^= x[u].z; s.w ^= x[u].w;
      }
    }
  }
  if ((s.x ^ s.y ^ s.z ^ s.w) == 12345u) out[4096] = s.x;
  watch.stop(out);
})";

// a: first byte, b: bytes that are read once.
constexpr const char* kFlush = R"(
  const uint4* v = (const uint4*)(data + a);
  const long long n = b / 16;
  unsigned s = 0;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x) {
    uint4 x = __ldcg(v + i);
    s ^= x.x ^ x.y ^ x.z ^ x.w;
  }
  if (s == 12345u) out[4096] = s;
})";

// a: bytes written, four vectors a thread.
constexpr const char* kWrite = R"(
  uint4* v = (uint4*)data;
  const long long n = a / 16;
  const unsigned x = (unsigned)(clock64() * 2654435761u);
  for (int u = 0; u < 4; ++u) {
    long long i = (blockIdx.x * 4ll + u) * blockDim.x + threadIdx.x;
    if (i < n) v[i] = make_uint4(x, x + 1, x ^ 3, x * 5);
  }
})";

// a: bytes of an operand; b: operands read (from the first half of the data), 1 or 2. The result
// goes to the second half.
constexpr const char* kCopy = R"(
  const uint4* v = (const uint4*)data;
  uint4* to = (uint4*)(data + (1ll << 30));
  const long long n = a / 16;
  #pragma unroll
  for (int u = 0; u < 4; ++u) {
    long long i = (blockIdx.x * 4ll + u) * blockDim.x + threadIdx.x;
    if (i < n) {
      uint4 x = v[i];
      if (b == 2) {
        uint4 y = v[i + n];
        x.x += y.x; x.y += y.y; x.z += y.z; x.w += y.w;
      }
      to[i] = x;
    }
  }
})";

// a: bytes, a power of two; b: stride, likewise. A chain through all places in a scattered order.
constexpr const char* kChain = R"(
  const long long n = a / b;
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x)
    *(long long*)(data + i * b) = ((i * 1664525ll + 1013904223ll) & (n - 1)) * b;
})";

// a: dependent loads; b: where the chain is entered.
constexpr const char* kChase = R"(
  long long at = b;
  Stopwatch watch;
  for (long long i = 0; i < a; ++i) at = __ldcg((const long long*)(data + at));
  if (at < 0) out[4096] = at;
  watch.stop(out);
})";

KernelText fill(DType type, bool hopper) {
  const std::string name = fill_name(type);
  return {name, kNormal + kernel_head(name) + replaced(kFill, "PACK", pack_text(type)), hopper};
}

KernelText timed(const std::string& name, const char* body) {
  return {name, kStopwatch + kernel_head(name) + body};
}

KernelText plain(const std::string& name, const char* body) {
  return {name, kernel_head(name) + body};
}

}  // namespace

std::string fill_name(DType type) {
  return fmt::format("fill_{}", name(type));
}

std::vector<KernelText> memory_kernels() {
  return {fill(DType::BF16, false),
          fill(DType::F16, false),
          fill(DType::F8E4M3, true),
          {"read", kStopwatch + replaced(kRead, "HEAD", kernel_head("read"))},
          plain("once", kOnce),
          timed("read_shared", kReadShared),
          plain("flush", kFlush),
          plain("write", kWrite),
          plain("copy", kCopy),
          plain("chain", kChain),
          timed("chase", kChase)};
}

}  // namespace orrery::calibrate
