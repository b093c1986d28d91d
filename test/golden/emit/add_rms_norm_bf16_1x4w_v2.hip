// Kernel add_rms_norm_bf16_1x4w_v2 for gfx942.
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

extern "C" __attribute__((global, amdgpu_flat_work_group_size(256, 256), amdgpu_waves_per_eu(1))) void add_rms_norm_bf16_1x4w_v2(
    const u16* __restrict in_X,
    const u16* __restrict in_R,
    const u16* __restrict in_W,
    u16* out_H,
    u16* out_Y,
    int size_rows,
    int size_cols) {
  static __attribute__((shared, aligned(1024))) char memory[16];
  const lds_pointer lds = (lds_pointer)&memory[0];
  const int thread = (int)__builtin_amdgcn_workitem_id_x();
  const int lane = thread % 64;
  const int wave = __builtin_amdgcn_readfirstlane(thread / 64);
  int unit = (int)__builtin_amdgcn_workgroup_id_x();
  const int tiles_row = size_rows;
  int rest = unit;
  const int at_row = rest % tiles_row * 1;
  rest /= tiles_row;
  u16 x_[16];  // bf16 register 8:col*1 2:col*2048 lane 64:col*8 warp 4:col*512
  u16 r_[16];  // bf16 register 8:col*1 2:col*2048 lane 64:col*8 warp 4:col*512
  u16 w_[16];  // bf16 register 8:col*1 2:col*2048 lane 64:col*8 warp 4:col*512
  u16 h_[16];  // bf16 register 8:col*1 2:col*2048 lane 64:col*8 warp 4:col*512
  float sum_[1];  // f32 lane 64:_ warp 4:_
  float scale_[1];  // f32 lane 64:_ warp 4:_
  u16 y_[16];  // bf16 register 8:col*1 2:col*2048 lane 64:col*8 warp 4:col*512
  // main: w <- W
  {
    const int base_col = 0 + lane * 8 + wave * 512;
    UNROLL
    for (int r = 0; r < 16; r += 8) {
      const u16x8 x = base_col + (r % 8 + r / 8 * 2048) < size_cols ? *(const u16x8*)(in_W + base_col + (r % 8 + r / 8 * 2048)) : u16x8{};
      UNROLL
      for (int e = 0; e < 8; ++e) w_[r + e] = x[e];
    }
  }
  // main: x <- X
  {
    const int base_col = 0 + lane * 8 + wave * 512;
    UNROLL
    for (int r = 0; r < 16; r += 8) {
      const u16x8 x = base_col + (r % 8 + r / 8 * 2048) < size_cols ? *(const u16x8*)(in_X + (long)(at_row) * size_cols + base_col + (r % 8 + r / 8 * 2048)) : u16x8{};
      UNROLL
      for (int e = 0; e < 8; ++e) x_[r + e] = x[e];
    }
  }
  // main: r <- R
  {
    const int base_col = 0 + lane * 8 + wave * 512;
    UNROLL
    for (int r = 0; r < 16; r += 8) {
      const u16x8 x = base_col + (r % 8 + r / 8 * 2048) < size_cols ? *(const u16x8*)(in_R + (long)(at_row) * size_cols + base_col + (r % 8 + r / 8 * 2048)) : u16x8{};
      UNROLL
      for (int e = 0; e < 8; ++e) r_[r + e] = x[e];
    }
  }
  // main: h = x + r
  {
    UNROLL
    for (int r = 0; r < 16; ++r) {
      h_[r] = store_bf16(load_bf16(x_[r]) + load_bf16(r_[r]));
    }
  }
  // main: H <- h
  {
    const int base_col = 0 + lane * 8 + wave * 512;
    UNROLL
    for (int r = 0; r < 16; r += 8) {
      u16x8 x;
      UNROLL
      for (int e = 0; e < 8; ++e) x[e] = h_[r + e];
      if (base_col + (r % 8 + r / 8 * 2048) < size_cols) *(u16x8*)(out_H + (long)(at_row) * size_cols + base_col + (r % 8 + r / 8 * 2048)) = x;
    }
  }
  // main: sum = sum(h * h)
  {
    float part[1];
    UNROLL
    for (int q = 0; q < 1; ++q) part[q] = 0.0f;
    UNROLL
    for (int r = 0; r < 16; ++r) {
      part[0] = sum_of(part[0], load_bf16(h_[r]) * load_bf16(h_[r]));
    }
    UNROLL
    for (int q = 0; q < 1; ++q) {
      part[q] = sum_of(part[q], permute<0xb1>(part[q]));
      part[q] = sum_of(part[q], permute<0x4e>(part[q]));
      part[q] = sum_of(part[q], permute<0x141>(part[q]));
      part[q] = sum_of(part[q], permute<0x140>(part[q]));
      part[q] = sum_of(part[q], exchange<16>(part[q]));
      part[q] = sum_of(part[q], exchange<32>(part[q]));
    }
    const lds_pointer scratch = lds + 0;
    UNROLL
    for (int q = 0; q < 1; ++q) {
      if (lane == 0) lds_write(scratch + (0) * 16 + (wave / 1 % 4 * 1) * 4, part[q]);
    }
    sync();
    UNROLL
    for (int q = 0; q < 1; ++q) {
      UNROLL
      for (int w = 0; w < 4; w += 4) {
        const f32x4 x = lds_read<f32x4>(scratch + (0) * 16 + w * 4);
        UNROLL
        for (int e = 0; e < 4; ++e) part[q] = w + e == 0 ? x[e] : sum_of(part[q], x[e]);
      }
    }
    sync();
    UNROLL
    for (int q = 0; q < 1; ++q) sum_[q] = part[q];
  }
  // main: scale = rsqrt(sum / extent(col) + 1e-05)
  {
    UNROLL
    for (int r = 0; r < 1; ++r) {
      scale_[r] = __builtin_amdgcn_rsqf(quotient(sum_[r], (float)(size_cols)) + 1e-05f);
    }
  }
  // main: y = h * scale * w
  {
    UNROLL
    for (int r = 0; r < 16; ++r) {
      y_[r] = store_bf16((load_bf16(h_[r]) * scale_[0]) * load_bf16(w_[r]));
    }
  }
  // main: Y <- y
  {
    const int base_col = 0 + lane * 8 + wave * 512;
    UNROLL
    for (int r = 0; r < 16; r += 8) {
      u16x8 x;
      UNROLL
      for (int e = 0; e < 8; ++e) x[e] = y_[r + e];
      if (base_col + (r % 8 + r / 8 * 2048) < size_cols) *(u16x8*)(out_Y + (long)(at_row) * size_cols + base_col + (r % 8 + r / 8 * 2048)) = x;
    }
  }
}
