// Element types on gfx942, and the prelude of every source.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "orrery/emit/hip/types_internal.h"

namespace orrery::emit::hip {
namespace {

using kernel::ExprOp;

// Sources: v_exp_f32, v_log_f32, v_rcp_f32, v_rsq_f32, v_mfma_* (MI300 ISA); erf by Abramowitz and
// Stegun, 7.1.26 (absolute error 1.5e-7); the data-parallel permutations quad_perm, row_half_mirror
// and row_mirror (MI300 ISA, "DPP").
constexpr std::string_view kPrelude =
    R"hip(#define DEVICE static inline __attribute__((device, always_inline))
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
)hip";

const Dialect kDialect = {
    {ExprOp::Abs, "__builtin_fabsf({})"},
    {ExprOp::Exp, "fast_exp({})"},
    {ExprOp::Exp2, "fast_exp2({})"},
    {ExprOp::Log2, "__builtin_amdgcn_logf({})"},
    {ExprOp::Sqrt, "__builtin_amdgcn_sqrtf({})"},
    {ExprOp::Rsqrt, "__builtin_amdgcn_rsqf({})"},
    {ExprOp::Reciprocal, "__builtin_amdgcn_rcpf({})"},
    {ExprOp::Tanh, "fast_tanh({})"},
    {ExprOp::Erf, "fast_erf({})"},
    {ExprOp::Div, "quotient({}, {})"},
    {ExprOp::Max, "max_of({}, {})"},
    {ExprOp::Min, "__builtin_fminf({}, {})"},
};

}  // namespace

bool has_device_type(DType type) {
  return type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

int64_t bytes_of(DType type) {
  return static_cast<int64_t>(element_size(type).value());
}

std::string_view storage(DType type) {
  return type == DType::F32 ? "float" : "u16";
}

std::string vector_of(DType type, int64_t width) {
  if (width == 1) return std::string(storage(type));
  return fmt::format("{}x{}", type == DType::F32 ? "f32" : "u16", width);
}

std::string stored(DType type, std::string_view text) {
  if (type == DType::F32) return std::string(text);
  return fmt::format("store_{}({})", name(type), text);
}

std::string loaded(DType type, std::string_view text) {
  if (type == DType::F32) return std::string(text);
  return fmt::format("load_{}({})", name(type), text);
}

std::string_view prelude() {
  return kPrelude;
}

const Dialect& dialect() {
  return kDialect;
}

}  // namespace orrery::emit::hip
