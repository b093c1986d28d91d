// Kernels of the copy engine: bulk copies into shared memory, alone and to a cluster.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "orrery/calibrate/kernels.h"
#include "orrery/calibrate/kernels_internal.h"

namespace orrery::calibrate {
namespace {

constexpr const char* kCluster = R"(
__device__ __forceinline__ void share(unsigned to, const void* from, unsigned bytes, unsigned bar,
                                      unsigned short mask) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1], %2, [%3], %4;"
               :: "r"(to), "l"(from), "r"(bytes), "r"(bar), "h"(mask) : "memory");
}
__device__ __forceinline__ void meet() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
extern __shared__ __align__(128) unsigned char ring[];
)";

// a: copies; b: bytes of each; c: copies in flight (a divides by it). Of L2-resident data.
constexpr const char* kBulk = R"(
  __shared__ unsigned long long full;
  if (threadIdx.x != 0) return;
  start(at(&full));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  long long t = clock64();
  unsigned phase = 0;
  for (long long i = 0; i < a; i += c) {
    expect(at(&full), (unsigned)(b * c));
    for (long long k = 0; k < c; ++k)
      copy(at(ring) + (unsigned)(k * b), data + ((blockIdx.x * 16 + (i + k)) & 255) * b,
           (unsigned)b, at(&full));
    wait(at(&full), phase);
    phase ^= 1;
  }
  out[blockIdx.x] = clock64() - t;
})";

// a: rounds; b: bytes that both blocks of a pair need a round; c: 1: each fetches half for both.
constexpr const char* kMulticast = R"(
  __shared__ unsigned long long full[4];
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    for (int k = 0; k < 4; ++k) start(at(&full[k]));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  meet();
  long long t = clock64();
  const unsigned half = (unsigned)(b / 2);
  for (long long i = 0; i < a; ++i) {
    if (threadIdx.x == 0)
      for (int k = 0; k < 4; ++k) expect(at(&full[k]), (unsigned)b);
    __syncthreads();
    meet();
    if (threadIdx.x == 0) {
      for (int k = 0; k < 4; ++k) {
        const unsigned char* from = data + ((blockIdx.x / 2 * 4 + k + i) & 511) * b;
        unsigned to = at(ring) + k * (unsigned)b;
        if (c == 1) {
          share(to + rank * half, from + rank * half, half, at(&full[k]), 3);
        } else {
          copy(to, from, half, at(&full[k]));
          copy(to + half, from + half, half, at(&full[k]));
        }
      }
      for (int k = 0; k < 4; ++k) wait(at(&full[k]), (unsigned)i & 1);
    }
    __syncthreads();
  }
  meet();
  if (threadIdx.x == 0) out[blockIdx.x] = clock64() - t;
})";

}  // namespace

std::vector<KernelText> copy_kernels() {
  const auto text = [](const char* name, const char* body) {
    return KernelText{name, std::string(kCopies) + kCluster + kernel_head(name) + body, true};
  };
  return {text("bulk", kBulk), text("multicast", kMulticast)};
}

}  // namespace orrery::calibrate
