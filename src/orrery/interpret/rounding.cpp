// Rounding of binary32 values to narrower element types.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/interpret/rounding_internal.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace orrery::interpret {
namespace {

// Keeps the upper `32 - dropped` bits, ties to even. A carry may overflow to infinity, as it
// should.
float round_mantissa(float x, int dropped) {
  auto bits = std::bit_cast<uint32_t>(x);
  if (std::isnan(x)) return x;
  const uint32_t odd = (bits >> dropped) & 1U;
  bits += (1U << (dropped - 1)) - 1U + odd;
  return std::bit_cast<float>(bits & ~((1U << dropped) - 1U));
}

// A floating-point type narrower than binary32.
struct Format {
  int mantissa = 0;              // stored bits
  float smallest_normal = 0.0F;  // a power of two
  float largest = 0.0F;          // finite
  float above = 0.0F;            // what larger values become
};

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr Format kF16{
    .mantissa = 10, .smallest_normal = 0x1p-14F, .largest = 65504.0F, .above = kInfinity};
// The 8 and 4-bit types saturate, as the conversion instructions do (PTX ISA, "cvt ...
// .satfinite").
constexpr Format kF8E4M3{
    .mantissa = 3, .smallest_normal = 0x1p-6F, .largest = 448.0F, .above = 448.0F};
constexpr Format kF8E5M2{
    .mantissa = 2, .smallest_normal = 0x1p-14F, .largest = 57344.0F, .above = 57344.0F};
constexpr Format kF4E2M1{.mantissa = 1, .smallest_normal = 1.0F, .largest = 6.0F, .above = 6.0F};

float round_to_format(const Format& format, float x) {
  if (std::isnan(x)) return x;
  if (std::abs(x) < format.smallest_normal) {
    // Subnormal: multiples of smallest_normal / 2^mantissa. Both scalings are by powers of two, so
    // exact.
    const float spacing = std::ldexp(format.smallest_normal, -format.mantissa);
    return std::copysign(std::nearbyint(x / spacing) * spacing, x);
  }
  const float rounded = round_mantissa(x, 23 - format.mantissa);
  return std::abs(rounded) <= format.largest ? rounded : std::copysign(format.above, x);
}

// Nearest integer, ties to even, within [low, high]; not a number gives 0.
float round_to_integer(float x, float low, float high) {
  if (std::isnan(x)) return 0.0F;
  return std::clamp(std::nearbyint(x), low, high);
}

}  // namespace

float round_to(DType type, float x) {
  constexpr float kTwoTo31 = 2147483648.0F;
  constexpr float kTwoTo63 = 9223372036854775808.0F;
  switch (type) {
    case DType::F32:
      return x;
    case DType::TF32:
      return round_mantissa(x, 13);
    case DType::BF16:
      return round_mantissa(x, 16);
    case DType::F16:
      return round_to_format(kF16, x);
    case DType::F8E4M3:
      return round_to_format(kF8E4M3, x);
    case DType::F8E5M2:
      return round_to_format(kF8E5M2, x);
    case DType::F4E2M1:
      return round_to_format(kF4E2M1, x);
    case DType::I64:
      return round_to_integer(x, -kTwoTo63, kTwoTo63);
    case DType::I32:
      return round_to_integer(x, -kTwoTo31, kTwoTo31);
    case DType::I8:
      return round_to_integer(x, -128.0F, 127.0F);
    case DType::I4:
      return round_to_integer(x, -8.0F, 7.0F);
    case DType::Bool:
      return x != 0.0F ? 1.0F : 0.0F;
  }
  ORR_UNREACHABLE();
}

void round_all(DType type, std::span<float> values) {
  if (type == DType::F32) return;
  if (type == DType::BF16) {
    for (float& x : values) x = round_mantissa(x, 16);
    return;
  }
  for (float& x : values) x = round_to(type, x);
}

}  // namespace orrery::interpret
