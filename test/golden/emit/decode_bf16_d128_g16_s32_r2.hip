// Kernel decode_bf16_d128_g16_s32_r2 for gfx942.
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

extern "C" __attribute__((global, amdgpu_flat_work_group_size(64, 64), amdgpu_waves_per_eu(1))) void decode_bf16_d128_g16_s32_r2(
    const u16* __restrict in_Q,
    const u16* __restrict in_K,
    const u16* __restrict in_V,
    u16* out_O,
    int size_b,
    int size_h,
    int size_g,
    int size_s) {
  static __attribute__((shared, aligned(1024))) char memory[34816];
  const lds_pointer lds = (lds_pointer)&memory[0];
  const int thread = (int)__builtin_amdgcn_workitem_id_x();
  const int lane = thread % 64;
  const int wave = __builtin_amdgcn_readfirstlane(thread / 64);
  int unit = (int)__builtin_amdgcn_workgroup_id_x();
  const int tiles_h = size_h;
  const int tiles_b = size_b;
  int rest = unit;
  const int at_h = rest % tiles_h * 1;
  rest /= tiles_h;
  const int at_b = rest % tiles_b * 1;
  rest /= tiles_b;
  u16x4 q_[8];  // bf16 register 4:d*1 8:d*16 lane 16:g*1 4:d*4
  f32x4 scores_[2];  // f32 register 4:s*1 2:s*16 lane 16:g*1 4:s*4
  u16x4 p_[2];  // bf16 register 4:s*1 2:s*16 lane 16:g*1 4:s*4
  f32x4 o_[8];  // f32 register 4:d*1 8:d*16 lane 16:g*1 4:d*4
  float top_[1];  // f32 lane 16:g*1 4:_
  float next_[1];  // f32 lane 16:g*1 4:_
  float high_[1];  // f32 lane 16:g*1 4:_
  float sum_[1];  // f32 lane 16:g*1 4:_
  float add_[1];  // f32 lane 16:g*1 4:_
  float shrink_[1];  // f32 lane 16:g*1 4:_
  u16 out_[32];  // bf16 register 4:d*1 8:d*16 lane 16:g*1 4:d*4
  // main: q <- Q
  {
    const int base_g = 0 + lane % 16;
    const int base_d = 0 + lane / 16 * 4;
    UNROLL
    for (int r = 0; r < 32; r += 4) {
      const u16x4 x = base_g < size_g ? *(const u16x4*)(in_Q + (((long)(at_b) * size_h + at_h) * size_g + base_g) * 128 + base_d + (r % 4 + r / 4 * 16)) : u16x4{};
      UNROLL
      for (int e = 0; e < 4; ++e) q_[(r + e) / 4][(r + e) % 4] = x[e];
    }
  }
  // main: o = 0
  {
    UNROLL
    for (int r = 0; r < 32; ++r) {
      o_[(r) / 4][(r) % 4] = 0.0f;
    }
  }
  // main: top = -1e+30
  {
    UNROLL
    for (int r = 0; r < 1; ++r) {
      top_[r] = -1e+30f;
    }
  }
  // main: sum = 0
  {
    UNROLL
    for (int r = 0; r < 1; ++r) {
      sum_[r] = 0.0f;
    }
  }
  {
    const int tiles = (size_s + 31) / 32;
    const int first = 0, last = tiles;
    u16x8 stage_k[8];
    u16x8 stage_v[8];
    // fill the ring
    ROLLED
    for (int tile = first; tile < first + 1 && tile < last; ++tile) {
      const int at_s = tile * 32;
      UNROLL
      for (int j = 0; j < 8; ++j) {
        const int v = thread + j * 64;
        const int i_d = v % 16 * 8;
        const int i_s = v / 16 % 32;
        stage_k[j] = at_s + i_s < size_s ? *(const u16x8*)(in_K + (((long)(at_b) * size_h + at_h) * size_s + at_s + i_s) * 128 + 0 + i_d) : u16x8{};
      }
      UNROLL
      for (int j = 0; j < 8; ++j) {
        const int v = thread + j * 64;
        const int i_d = v % 16 * 8;
        const int i_s = v / 16 % 32;
        stage_v[j] = at_s + i_s < size_s ? *(const u16x8*)(in_V + (((long)(at_b) * size_h + at_h) * size_s + at_s + i_s) * 128 + 0 + i_d) : u16x8{};
      }
      UNROLL
      for (int j = 0; j < 8; ++j) {
        const int v = thread + j * 64;
        const int i_d = v % 16 * 8;
        const int i_s = v / 16 % 32;
        lds_write(lds + 0 + (tile - first) * 8704 + ((i_s) * 136 + i_d) * 2, stage_k[j]);
      }
      UNROLL
      for (int j = 0; j < 8; ++j) {
        const int v = thread + j * 64;
        const int i_d = v % 16 * 8;
        const int i_s = v / 16 % 32;
        lds_write(lds + 17408 + (tile - first) * 8704 + ((i_s) * 136 + i_d) * 2, stage_v[j]);
      }
    }
    sync();
    ROLLED
    for (int tile = first; tile < last; ++tile) {
      const int slot = (tile - first) % 2;
      const bool more = tile + 1 < last;
      if (more) {
        const int at_s = (tile + 1) * 32;
        UNROLL
        for (int j = 0; j < 8; ++j) {
          const int v = thread + j * 64;
          const int i_d = v % 16 * 8;
          const int i_s = v / 16 % 32;
          stage_k[j] = at_s + i_s < size_s ? *(const u16x8*)(in_K + (((long)(at_b) * size_h + at_h) * size_s + at_s + i_s) * 128 + 0 + i_d) : u16x8{};
        }
        UNROLL
        for (int j = 0; j < 8; ++j) {
          const int v = thread + j * 64;
          const int i_d = v % 16 * 8;
          const int i_s = v / 16 % 32;
          stage_v[j] = at_s + i_s < size_s ? *(const u16x8*)(in_V + (((long)(at_b) * size_h + at_h) * size_s + at_s + i_s) * 128 + 0 + i_d) : u16x8{};
        }
      }
      const int at_s = tile * 32;
      // main: scores = 0
      {
        UNROLL
        for (int r = 0; r < 8; ++r) {
          scores_[(r) / 4][(r) % 4] = 0.0f;
        }
      }
      // main: scores += mma m16n16k16 k q
      UNROLL
      for (int k = 0; k < 128; k += 16) {
        u16x4 first[2];
        UNROLL
        for (int i = 0; i < 2; ++i) {
          first[i] = lds_read<u16x4>(lds + 0 + slot * 8704 + ((0 + i * 16 + lane % 16) * 136 + k + lane / 16 * 4) * 2);
        }
        u16x4 second[1];
        UNROLL
        for (int i = 0; i < 1; ++i) {
          second[i] = q_[k / 16 + i * 8];
        }
        UNROLL
        for (int j = 0; j < 1; ++j) {
          UNROLL
          for (int i = 0; i < 2; ++i) {
            scores_[i + j * 2] = mfma_m16n16k16_bf16(first[i], second[j], scores_[i + j * 2]);
          }
        }
      }
      // main: scores = inside(s, scores, -1e+30)
      {
        const int base_s = at_s + lane / 16 * 4;
        UNROLL
        for (int r = 0; r < 8; ++r) {
          scores_[(r) / 4][(r) % 4] = base_s + (r % 4 + r / 4 * 16) < size_s ? scores_[(r) / 4][(r) % 4] : (-1e+30f);
        }
      }
      // main: high = max_over(scores)
      {
        float part[1];
        UNROLL
        for (int q = 0; q < 1; ++q) part[q] = -__builtin_inff();
        UNROLL
        for (int r = 0; r < 8; ++r) {
          part[0] = max_of(part[0], scores_[(r) / 4][(r) % 4]);
        }
        UNROLL
        for (int q = 0; q < 1; ++q) {
          part[q] = max_of(part[q], exchange<16>(part[q]));
          part[q] = max_of(part[q], exchange<32>(part[q]));
        }
        UNROLL
        for (int q = 0; q < 1; ++q) high_[q] = part[q];
      }
      // main: next = max(top, high * 0.12751743082459868)
      {
        UNROLL
        for (int r = 0; r < 1; ++r) {
          next_[r] = max_of(top_[r], high_[r] * 0.12751743f);
        }
      }
      // main: scores = exp2(scores * 0.12751743082459868 - next)
      {
        UNROLL
        for (int r = 0; r < 8; ++r) {
          scores_[(r) / 4][(r) % 4] = fast_exp2((scores_[(r) / 4][(r) % 4] * 0.12751743f) - next_[0]);
        }
      }
      // main: p = scores
      {
        UNROLL
        for (int r = 0; r < 8; ++r) {
          p_[(r) / 4][(r) % 4] = store_bf16(scores_[(r) / 4][(r) % 4]);
        }
      }
      // main: add = sum(scores)
      {
        float part[1];
        UNROLL
        for (int q = 0; q < 1; ++q) part[q] = 0.0f;
        UNROLL
        for (int r = 0; r < 8; ++r) {
          part[0] = sum_of(part[0], scores_[(r) / 4][(r) % 4]);
        }
        UNROLL
        for (int q = 0; q < 1; ++q) {
          part[q] = sum_of(part[q], exchange<16>(part[q]));
          part[q] = sum_of(part[q], exchange<32>(part[q]));
        }
        UNROLL
        for (int q = 0; q < 1; ++q) add_[q] = part[q];
      }
      // main: shrink = exp2(top - next)
      {
        UNROLL
        for (int r = 0; r < 1; ++r) {
          shrink_[r] = fast_exp2(top_[r] - next_[r]);
        }
      }
      // main: top = next
      {
        UNROLL
        for (int r = 0; r < 1; ++r) {
          top_[r] = next_[r];
        }
      }
      // main: sum = sum * shrink + add
      {
        UNROLL
        for (int r = 0; r < 1; ++r) {
          sum_[r] = (sum_[r] * shrink_[r]) + add_[r];
        }
      }
      // main: o = o * shrink
      {
        UNROLL
        for (int r = 0; r < 32; ++r) {
          o_[(r) / 4][(r) % 4] = o_[(r) / 4][(r) % 4] * shrink_[0];
        }
      }
      // main: o += mma m16n16k16 v p
      UNROLL
      for (int k = 0; k < 32; k += 16) {
        u16x4 first[8];
        UNROLL
        for (int i = 0; i < 8; ++i) {
          UNROLL
          for (int e = 0; e < 4; ++e) first[i][e] = lds_read<u16>(lds + 17408 + slot * 8704 + ((k + lane / 16 * 4 + e) * 136 + 0 + i * 16 + lane % 16) * 2);
        }
        u16x4 second[1];
        UNROLL
        for (int i = 0; i < 1; ++i) {
          second[i] = p_[k / 16 + i * 2];
        }
        UNROLL
        for (int j = 0; j < 1; ++j) {
          UNROLL
          for (int i = 0; i < 8; ++i) {
            o_[i + j * 8] = mfma_m16n16k16_bf16(first[i], second[j], o_[i + j * 8]);
          }
        }
      }
      if (more) {
        const int into = (tile - first + 1) % 2;
        UNROLL
        for (int j = 0; j < 8; ++j) {
          const int v = thread + j * 64;
          const int i_d = v % 16 * 8;
          const int i_s = v / 16 % 32;
          lds_write(lds + 0 + into * 8704 + ((i_s) * 136 + i_d) * 2, stage_k[j]);
        }
        UNROLL
        for (int j = 0; j < 8; ++j) {
          const int v = thread + j * 64;
          const int i_d = v % 16 * 8;
          const int i_s = v / 16 % 32;
          lds_write(lds + 17408 + into * 8704 + ((i_s) * 136 + i_d) * 2, stage_v[j]);
        }
      }
      sync();
    }
  }
  // main: out = o / sum
  {
    UNROLL
    for (int r = 0; r < 32; ++r) {
      out_[r] = store_bf16(quotient(o_[(r) / 4][(r) % 4], sum_[0]));
    }
  }
  // main: O <- out
  {
    const int base_d = 0 + lane / 16 * 4;
    const int base_g = 0 + lane % 16;
    UNROLL
    for (int r = 0; r < 32; r += 4) {
      u16x4 x;
      UNROLL
      for (int e = 0; e < 4; ++e) x[e] = out_[r + e];
      if (base_g < size_g) *(u16x4*)(out_O + (((long)(at_b) * size_h + at_h) * size_g + base_g) * 128 + base_d + (r % 4 + r / 4 * 16)) = x;
    }
  }
}
