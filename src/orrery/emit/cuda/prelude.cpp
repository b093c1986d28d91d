// The text that every emitted kernel begins with: see prelude_internal.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cuda/prelude_internal.h"

#include <fmt/core.h>

namespace orrery::emit::cuda {
namespace {

constexpr const char* kTypes = R"cuda(
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;
typedef float f32;
struct bf16 { u16 bits; };
struct f16 { u16 bits; };
struct alignas(64) TensorMap { u64 opaque[16]; };  // a CUtensorMap

#define ORR_FN static __device__ __forceinline__

// Rounded pairs: the lower half holds the first element.
ORR_FN u32 pack(bf16, float lo, float hi) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
ORR_FN u32 pack(f16, float lo, float hi) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
  return r;
}
ORR_FN float widen(bf16 x) { return __uint_as_float(static_cast<u32>(x.bits) << 16); }
ORR_FN float widen(f16 x) {
  float r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"(x.bits));
  return r;
}
template <class T> ORR_FN T narrow(float x) { return T{static_cast<u16>(pack(T{}, x, 0.0f))}; }
ORR_FN float low_half(bf16, u32 w) { return __uint_as_float(w << 16); }
ORR_FN float high_half(bf16, u32 w) { return __uint_as_float(w & 0xffff0000u); }
ORR_FN float low_half(f16, u32 w) { return widen(f16{static_cast<u16>(w)}); }
ORR_FN float high_half(f16, u32 w) { return widen(f16{static_cast<u16>(w >> 16)}); }

ORR_FN float exp2_fast(float x) {
  float r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}
ORR_FN float exp_fast(float x) { return exp2_fast(x * 1.4426950408889634f); }
ORR_FN float tanh_fast(float x) { return 1.0f - __fdividef(2.0f, 1.0f + exp_fast(2.0f * x)); }
)cuda";

constexpr const char* kRegisters = R"cuda(
// Registers of a tile, indexed by constants after unrolling; two-byte types lie in pairs.
template <class T, int N> struct Tile {
  u32 w[(N + 1) / 2];
  __device__ __forceinline__ float get(int i) const {
    return i % 2 ? high_half(T{}, w[i / 2]) : low_half(T{}, w[i / 2]);
  }
  template <int G> __device__ __forceinline__ void put(int i, const float (&x)[G]) {
    if constexpr (G % 2 == 0) {
#pragma unroll
      for (int j = 0; j < G; j += 2) w[(i + j) / 2] = pack(T{}, x[j], x[j + 1]);
    } else {
#pragma unroll
      for (int j = 0; j < G; ++j) put_bits(i + j, narrow<T>(x[j]).bits);
    }
  }
  __device__ __forceinline__ void put_bits(int i, u16 bits) {
    u32& word = w[i / 2];
    word = i % 2 ? (word & 0xffffu) | (static_cast<u32>(bits) << 16) : (word & 0xffff0000u) | bits;
  }
  __device__ __forceinline__ void fill(float x) {
#pragma unroll
    for (int i = 0; i < (N + 1) / 2; ++i) w[i] = pack(T{}, x, x);
  }
};
template <int N> struct Tile<f32, N> {
  float w[N];
  __device__ __forceinline__ float get(int i) const { return w[i]; }
  template <int G> __device__ __forceinline__ void put(int i, const float (&x)[G]) {
#pragma unroll
    for (int j = 0; j < G; ++j) w[i + j] = x[j];
  }
  __device__ __forceinline__ void fill(float x) {
#pragma unroll
    for (int i = 0; i < N; ++i) w[i] = x;
  }
};
// Keeps the compiler from moving accesses of these registers across this point.
template <int N> ORR_FN void keep(Tile<f32, N>& t) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(t.w[i])::"memory");
}
template <class T, int N> ORR_FN void keep(Tile<T, N>& t) {
#pragma unroll
  for (int i = 0; i < (N + 1) / 2; ++i) asm volatile("" : "+r"(t.w[i])::"memory");
}
)cuda";

constexpr const char* kAccess = R"cuda(
// Accesses of B bytes: 2, 4, 8 or 16. "stream": nobody reads it again in this kernel.
template <int B> struct Bits;
template <> struct Bits<2> { u16 w[1]; };
template <> struct alignas(4) Bits<4> { u32 w[1]; };
template <> struct alignas(8) Bits<8> { u32 w[2]; };
template <> struct alignas(16) Bits<16> { u32 w[4]; };
template <int B> ORR_FN Bits<B> read_plain(const void* p) {
  return *static_cast<const Bits<B>*>(p);
}
template <int B> ORR_FN Bits<B> read_stream(const void* p) {
  if constexpr (B < 16) return read_plain<B>(p);
  Bits<16> v;
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(v.w[0]), "=r"(v.w[1]), "=r"(v.w[2]), "=r"(v.w[3])
      : "l"(p));
  return *reinterpret_cast<Bits<B>*>(&v);
}
// V elements of a register tile from element i on, to and from an address.
template <int V, bool Stream, class T, int N>
ORR_FN void load(Tile<T, N>& t, int i, const T* p, bool valid) {
  Bits<V * sizeof(T)> v{};
  if (valid) v = Stream ? read_stream<V * sizeof(T)>(p) : read_plain<V * sizeof(T)>(p);
  if constexpr (V * sizeof(T) == 2) {
    t.put_bits(i, v.w[0]);
  } else if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int j = 0; j < V; ++j) t.w[i + j] = __uint_as_float(v.w[j]);
  } else {
#pragma unroll
    for (int j = 0; j < V / 2; ++j) t.w[i / 2 + j] = v.w[j];
  }
}
template <int V, class T, int N> ORR_FN Bits<V * sizeof(T)> bits_of(const Tile<T, N>& t, int i) {
  Bits<V * sizeof(T)> v;
  if constexpr (V * sizeof(T) == 2) {
    v.w[0] = static_cast<u16>(t.w[i / 2] >> (i % 2 * 16));
  } else if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int j = 0; j < V; ++j) v.w[j] = __float_as_uint(t.w[i + j]);
  } else {
#pragma unroll
    for (int j = 0; j < V / 2; ++j) v.w[j] = t.w[i / 2 + j];
  }
  return v;
}
template <int B> ORR_FN void write_stream(void* p, const Bits<B>& v) {
  asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.w[0]), "r"(v.w[1]),
               "r"(v.w[2]), "r"(v.w[3])
               : "memory");
}
template <int V, bool Stream, class T, int N>
ORR_FN void store(T* p, const Tile<T, N>& t, int i, bool valid) {
  constexpr int B = V * sizeof(T);
  if constexpr (Stream && B == 16) {
    if (valid) write_stream<B>(p, bits_of<V>(t, i));
  } else {
    if (valid) *reinterpret_cast<Bits<B>*>(p) = bits_of<V>(t, i);
  }
}
// V operands of an expression.
template <int V, class T> ORR_FN void operands(float* x, const T* p, bool valid) {
  Tile<T, V> t;
  load<V, false>(t, 0, p, valid);
#pragma unroll
  for (int j = 0; j < V; ++j) x[j] = t.get(j);
}
)cuda";

constexpr const char* kBarriers = R"cuda(
ORR_FN u32 shared_address(const void* p) { return static_cast<u32>(__cvta_generic_to_shared(p)); }
ORR_FN u32 cluster_rank() {
  u32 r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
ORR_FN void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
ORR_FN void named_barrier(u32 id, u32 threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
ORR_FN void barrier_init(u32 bar, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(arrivals) : "memory");
}
ORR_FN void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
ORR_FN void barrier_expect(u32 bar, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
ORR_FN void barrier_arrive(u32 bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
// Without .release.cluster, which would flush to the whole GPU: it publishes no ordinary store.
ORR_FN void barrier_arrive_at(u32 bar, u32 rank) {
  asm volatile(
      "{\n.reg .b32 peer;\nmapa.shared::cluster.u32 peer, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [peer];\n}" ::"r"(bar),
      "r"(rank)
      : "memory");
}
ORR_FN void barrier_wait(u32 bar, u32 parity) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra READY;\nbra AGAIN;\nREADY:\n}" ::"r"(bar),
      "r"(parity)
      : "memory");
}
ORR_FN void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int R> ORR_FN void registers_down() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(R));
}
template <int R> ORR_FN void registers_up() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(R));
}
// Programmatic dependent launch: the kernel before has finished; the next one may start its set-up.
ORR_FN void wait_for_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
ORR_FN void let_next_kernel_start() {
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
)cuda";

constexpr const char* kCopies = R"cuda(
constexpr u64 kKeep = 0x1000000000000000ull;        // L2 eviction: normal
constexpr u64 kEvictFirst = 0x12f0000000000000ull;  // read once
ORR_FN void prefetch_map(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
ORR_FN void stores_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N> ORR_FN void stores_have_read() {  // all but the last N groups
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
template <bool T> ORR_FN void matrix_store4(u32 at, u32 a, u32 b, u32 c, u32 d) {
  if constexpr (T) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
  }
}
template <bool T> ORR_FN void matrix_store2(u32 at, u32 a, u32 b) {
  if constexpr (T) {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(a),
                 "r"(b)
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(a),
                 "r"(b)
                 : "memory");
  }
}
template <int B> ORR_FN void write_shared(u32 at, Bits<B> v) {
  if constexpr (B == 16) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.w[0]), "r"(v.w[1]),
                 "r"(v.w[2]), "r"(v.w[3])
                 : "memory");
  } else if constexpr (B == 8) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(v.w[0]), "r"(v.w[1]) : "memory");
  } else if constexpr (B == 4) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(v.w[0]) : "memory");
  } else {
    asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(v.w[0]) : "memory");
  }
}
// Byte offset within a swizzled area of 0, 32, 64 or 128 bytes a row: the number of the 16-byte
// chunk ^= the number of the 128-byte line.
template <int Bytes> ORR_FN u32 swizzled(u32 offset) {
  if constexpr (Bytes == 0) return offset;
  return offset ^ ((offset >> 3) & (Bytes - 16));
}
)cuda";

constexpr const char* kMatrix = R"cuda(
// Descriptor of a matrix operand in shared memory (PTX ISA, "wgmma: matrix descriptor").
ORR_FN u64 descriptor(u32 address, u32 leading, u32 stride, u32 mode) {
  return static_cast<u64>((address & 0x3ffff) >> 4) | (static_cast<u64>(leading >> 4) << 16) |
         (static_cast<u64>(stride >> 4) << 32) | (static_cast<u64>(mode) << 62);
}
ORR_FN void mma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
ORR_FN void mma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> ORR_FN void mma_wait() {  // all but the last N groups
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
)cuda";

std::string coordinates(int64_t rank, int64_t first_operand) {
  std::string text;
  for (int64_t i = 0; i < rank; ++i) {
    text += fmt::format("{}%{}", i == 0 ? "" : ", ", first_operand + i);
  }
  return text;
}

std::string coordinate_parameters(int64_t rank) {
  std::string text;
  for (int64_t i = 0; i < rank; ++i) text += fmt::format(", int c{}", i);
  return text;
}

std::string coordinate_operands(int64_t rank) {
  std::string text;
  for (int64_t i = 0; i < rank; ++i) text += fmt::format(", \"r\"(c{})", i);
  return text;
}

std::string copy_load(int64_t rank, bool multicast) {
  const int64_t next = 3 + rank;
  return fmt::format(
      "ORR_FN void copy_in{}(u32 to, const TensorMap* map, u32 bar{}{}, u64 policy) {{\n"
      "  asm volatile(\"cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier"
      "::complete_tx::bytes{}.L2::cache_hint [%0], [%1, {{{}}}], [%2], {}%{};\"\n"
      "               ::\"r\"(to), \"l\"(map), \"r\"(bar){}{}, \"l\"(policy) : \"memory\");\n}}\n",
      multicast ? "_all" : "",
      multicast ? ", u16 ranks" : "",
      coordinate_parameters(rank),
      rank,
      multicast ? ".multicast::cluster" : "",
      coordinates(rank, 3),
      multicast ? fmt::format("%{}, ", next) : "",
      multicast ? next + 1 : next,
      coordinate_operands(rank),
      multicast ? ", \"h\"(ranks)" : "");
}

std::string copy_store(int64_t rank) {
  return fmt::format(
      "ORR_FN void copy_out(const TensorMap* map, u32 from{}) {{\n"
      "  asm volatile(\"cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group "
      "[%0, {{{}}}], [%1];\"\n"
      "               ::\"l\"(map), \"r\"(from){} : \"memory\");\n}}\n",
      coordinate_parameters(rank),
      rank,
      coordinates(rank, 2),
      coordinate_operands(rank));
}

}  // namespace

std::string prelude(const Context& context) {
  std::string text = kTypes;
  text += kRegisters;
  text += kAccess;
  text += kBarriers;
  if (!context.maps.empty()) text += kCopies;
  for (const int64_t rank : context.load_ranks) {
    text += rank > 100 ? copy_load(rank - 100, true) : copy_load(rank, false);
  }
  for (const int64_t rank : context.store_ranks) text += copy_store(rank);
  if (!context.instructions.empty()) text += kMatrix;
  for (const MmaInstruction& instruction : context.instructions) text += mma_wrapper(instruction);
  return text;
}

}  // namespace orrery::emit::cuda
