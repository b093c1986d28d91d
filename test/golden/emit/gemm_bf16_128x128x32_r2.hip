// Kernel gemm_bf16_128x128x32_r2 for gfx942.
#define DEVICE static inline __attribute__((device, always_inline))
#define UNROLL _Pragma("clang loop unroll(full)")
#define ROLLED _Pragma("clang loop unroll(disable)")

typedef unsigned short u16;
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x4 __attribute__((ext_vector_type(4)));
typedef u16 u16x8 __attribute__((ext_vector_type(8)));
typedef short s16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef __attribute__((address_space(3))) char* lds_pointer;

template <class T>
DEVICE T lds_read(lds_pointer at) {
  return *(const __attribute__((address_space(3))) T*)at;
}

template <class T>
DEVICE void lds_write(lds_pointer at, T x) {
  *(__attribute__((address_space(3))) T*)at = x;
}

// All waves of the work group have come here, and see what the others wrote before.
DEVICE void sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

DEVICE float load_f32(float x) {
  return x;
}

DEVICE float store_f32(float x) {
  return x;
}

DEVICE float load_f16(u16 x) {
  return (float)__builtin_bit_cast(_Float16, x);
}

DEVICE u16 store_f16(float x) {
  return __builtin_bit_cast(u16, (_Float16)x);
}

DEVICE float load_bf16(u16 x) {
  return __builtin_bit_cast(float, (unsigned)x << 16);
}

// Round to nearest, ties to even.
DEVICE u16 store_bf16(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  const unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (u16)(x != x ? 0x7fc0u : rounded);
}

DEVICE float fast_exp2(float x) {
  return __builtin_amdgcn_exp2f(x);
}

DEVICE float fast_exp(float x) {
  return __builtin_amdgcn_exp2f(x * 1.44269504f);
}

DEVICE float fast_tanh(float x) {
  return 1.0f - 2.0f * __builtin_amdgcn_rcpf(1.0f + fast_exp(2.0f * x));
}

DEVICE float fast_erf(float x) {
  const float a = __builtin_fabsf(x);
  const float t = __builtin_amdgcn_rcpf(1.0f + 0.3275911f * a);
  const float p = ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
                   0.254829592f) *
                  t;
  return __builtin_copysignf(1.0f - p * fast_exp(-a * a), x);
}

DEVICE float quotient(float x, float y) {
  return x * __builtin_amdgcn_rcpf(y);
}

DEVICE float sum_of(float x, float y) {
  return x + y;
}

DEVICE float max_of(float x, float y) {
  return __builtin_fmaxf(x, y);
}

// The value of lane ^ MASK, through the LDS crossbar.
template <int MASK>
DEVICE float exchange(float x) {
  const int lane = (int)(__builtin_amdgcn_workitem_id_x() % 64);
  const int other = (lane ^ MASK) * 4;
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(other, __builtin_bit_cast(int, x)));
}

// The value of another lane of the same 16, without the crossbar: CONTROL is a permutation (DPP).
template <int CONTROL>
DEVICE float permute(float x) {
  return __builtin_bit_cast(
      float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, x), CONTROL, 0xf, 0xf, true));
}

// Operands are parameters, not parts of vectors: clang 19 takes the bits of `x.lo` for `x.hi` in a
// __builtin_bit_cast.
DEVICE f32x16 mfma_m32n32k8_bf16(u16x4 a, u16x4 b, f32x16 c) {
  return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(
      __builtin_bit_cast(s16x4, a), __builtin_bit_cast(s16x4, b), c, 0, 0, 0);
}

DEVICE f32x4 mfma_m16n16k16_bf16(u16x4 a, u16x4 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
      __builtin_bit_cast(s16x4, a), __builtin_bit_cast(s16x4, b), c, 0, 0, 0);
}

DEVICE f32x16 mfma_m32n32k8_f16(u16x4 a, u16x4 b, f32x16 c) {
  return __builtin_amdgcn_mfma_f32_32x32x8f16(
      __builtin_bit_cast(f16x4, a), __builtin_bit_cast(f16x4, b), c, 0, 0, 0);
}

DEVICE f32x4 mfma_m16n16k16_f16(u16x4 a, u16x4 b, f32x4 c) {
  return __builtin_amdgcn_mfma_f32_16x16x16f16(
      __builtin_bit_cast(f16x4, a), __builtin_bit_cast(f16x4, b), c, 0, 0, 0);
}

extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256), amdgpu_waves_per_eu(1))) void gemm_bf16_128x128x32_r2(
    const u16* __restrict in_A,
    const u16* __restrict in_B,
    u16* out_C,
    int size_m,
    int size_n,
    int size_k) {
  static __attribute__((shared, aligned(1024))) char memory[40960];
  const lds_pointer lds = (lds_pointer)&memory[0];
  const int thread = (int)__builtin_amdgcn_workitem_id_x();
  const int lane = thread % 64;
  const int wave = __builtin_amdgcn_readfirstlane(thread / 64);
  int unit = (int)__builtin_amdgcn_workgroup_id_x();
  int units = 1;
  units *= (size_m + 127) / 128;
  units *= (size_n + 127) / 128;
  const int stride = (int)(__builtin_amdgcn_grid_size_x() / 256);
  ROLLED
  for (; unit < units; unit += stride) {
    const int tiles_m = (size_m + 127) / 128;
    const int tiles_n = (size_n + 127) / 128;
    int rest = unit;
    const int band = rest % (tiles_m * tiles_n) / (8 * tiles_n) * 8;
    const int width = tiles_m - band < 8 ? tiles_m - band : 8;
    const int in_band = rest % (tiles_m * tiles_n) % (8 * tiles_n);
    const int at_m = (band + in_band % width) * 128;
    const int at_n = in_band / width * 128;
    rest /= tiles_m * tiles_n;
    f32x16 acc_[4];  // f32 register 4:m*1 4:m*8 2:m*32 2:n*32 lane 32:n*1 2:m*4 warp 2:m*64 2:n*64
    u16 c_[64];  // bf16 register 4:m*1 4:m*8 2:m*32 2:n*32 lane 32:n*1 2:m*4 warp 2:m*64 2:n*64
    // main: acc = 0
    {
      UNROLL
      for (int r = 0; r < 64; ++r) {
        acc_[(r) / 16][(r) % 16] = 0.0f;
      }
    }
    {
      const int tiles = (size_k + 31) / 32;
      const int first = 0, last = tiles;
      u16x8 stage_a[2];
      u16x8 stage_b[2];
      sync();
      // fill the ring
      ROLLED
      for (int tile = first; tile < first + 1 && tile < last; ++tile) {
        const int at_k = tile * 32;
        UNROLL
        for (int j = 0; j < 2; ++j) {
          const int v = thread + j * 256;
          const int i_k = v % 4 * 8;
          const int i_m = v / 4 % 128;
          stage_a[j] = at_m + i_m < size_m && at_k + i_k < size_k ? *(const u16x8*)(in_A + (long)(at_m + i_m) * size_k + at_k + i_k) : u16x8{};
        }
        UNROLL
        for (int j = 0; j < 2; ++j) {
          const int v = thread + j * 256;
          const int i_k = v % 4 * 8;
          const int i_n = v / 4 % 128;
          stage_b[j] = at_n + i_n < size_n && at_k + i_k < size_k ? *(const u16x8*)(in_B + (long)(at_n + i_n) * size_k + at_k + i_k) : u16x8{};
        }
        UNROLL
        for (int j = 0; j < 2; ++j) {
          const int v = thread + j * 256;
          const int i_k = v % 4 * 8;
          const int i_m = v / 4 % 128;
          lds_write(lds + 0 + (tile - first) * 10240 + ((i_m) * 40 + i_k) * 2, stage_a[j]);
        }
        UNROLL
        for (int j = 0; j < 2; ++j) {
          const int v = thread + j * 256;
          const int i_k = v % 4 * 8;
          const int i_n = v / 4 % 128;
          lds_write(lds + 20480 + (tile - first) * 10240 + ((i_n) * 40 + i_k) * 2, stage_b[j]);
        }
      }
      sync();
      ROLLED
      for (int tile = first; tile < last; ++tile) {
        const int slot = (tile - first) % 2;
        const bool more = tile + 1 < last;
        if (more) {
          const int at_k = (tile + 1) * 32;
          UNROLL
          for (int j = 0; j < 2; ++j) {
            const int v = thread + j * 256;
            const int i_k = v % 4 * 8;
            const int i_m = v / 4 % 128;
            stage_a[j] = at_m + i_m < size_m && at_k + i_k < size_k ? *(const u16x8*)(in_A + (long)(at_m + i_m) * size_k + at_k + i_k) : u16x8{};
          }
          UNROLL
          for (int j = 0; j < 2; ++j) {
            const int v = thread + j * 256;
            const int i_k = v % 4 * 8;
            const int i_n = v / 4 % 128;
            stage_b[j] = at_n + i_n < size_n && at_k + i_k < size_k ? *(const u16x8*)(in_B + (long)(at_n + i_n) * size_k + at_k + i_k) : u16x8{};
          }
        }
        const int at_k = tile * 32;
        // main: acc += mma m32n32k8 a b
        UNROLL
        for (int k = 0; k < 32; k += 16) {
          u16x8 first[2];
          UNROLL
          for (int i = 0; i < 2; ++i) {
            first[i] = lds_read<u16x8>(lds + 0 + slot * 10240 + ((wave % 2 * 64 + i * 32 + lane % 32) * 40 + k + lane / 32 * 8) * 2);
          }
          u16x8 second[2];
          UNROLL
          for (int i = 0; i < 2; ++i) {
            second[i] = lds_read<u16x8>(lds + 20480 + slot * 10240 + ((wave / 2 * 64 + i * 32 + lane % 32) * 40 + k + lane / 32 * 8) * 2);
          }
          UNROLL
          for (int j = 0; j < 2; ++j) {
            UNROLL
            for (int i = 0; i < 2; ++i) {
              acc_[i + j * 2] = mfma_m32n32k8_bf16(first[i].lo, second[j].lo, acc_[i + j * 2]);
            }
          }
          UNROLL
          for (int j = 0; j < 2; ++j) {
            UNROLL
            for (int i = 0; i < 2; ++i) {
              acc_[i + j * 2] = mfma_m32n32k8_bf16(first[i].hi, second[j].hi, acc_[i + j * 2]);
            }
          }
        }
        if (more) {
          const int into = (tile - first + 1) % 2;
          UNROLL
          for (int j = 0; j < 2; ++j) {
            const int v = thread + j * 256;
            const int i_k = v % 4 * 8;
            const int i_m = v / 4 % 128;
            lds_write(lds + 0 + into * 10240 + ((i_m) * 40 + i_k) * 2, stage_a[j]);
          }
          UNROLL
          for (int j = 0; j < 2; ++j) {
            const int v = thread + j * 256;
            const int i_k = v % 4 * 8;
            const int i_n = v / 4 % 128;
            lds_write(lds + 20480 + into * 10240 + ((i_n) * 40 + i_k) * 2, stage_b[j]);
          }
        }
        sync();
      }
    }
    // main: c = acc
    {
      UNROLL
      for (int r = 0; r < 64; ++r) {
        c_[r] = store_bf16(acc_[(r) / 16][(r) % 16]);
      }
    }
    // main: C <- c
    {
      const int base_m = at_m + lane / 32 * 4 + wave % 2 * 64;
      const int base_n = at_n + lane % 32 + wave / 2 * 64;
      UNROLL
      for (int r = 0; r < 64; r += 1) {
        if (base_m + (r % 4 + r / 4 % 4 * 8 + r / 16 % 2 * 32) < size_m && base_n + r / 32 * 32 < size_n) *(out_C + (long)(base_m + (r % 4 + r / 4 % 4 * 8 + r / 16 % 2 * 32)) * size_n + base_n + r / 32 * 32) = c_[r];
      }
    }
  }
}
