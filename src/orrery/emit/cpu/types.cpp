// Element types on the CPU.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "orrery/emit/cpu/emit.h"
#include "orrery/emit/cpu/types_internal.h"

namespace orrery::emit::cpu {
namespace {

using kernel::ExprOp;

// Light headers only: most of the time from text to a loaded library would go into heavier ones.
constexpr std::string_view kPrelude = R"(#include <bit>
#include <cstdint>

extern "C" {
float expf(float);
float exp2f(float);
float log2f(float);
float sqrtf(float);
float tanhf(float);
float erff(float);
float rintf(float);
}

namespace {

// The elements of a tile, zero at first.
struct Tile {
  explicit Tile(int64_t size) : values(new float[size]()) {}
  Tile(const Tile&) = delete;
  ~Tile() { delete[] values; }
  float& operator[](int64_t i) { return values[i]; }
  float* values;
};

int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

float load_f32(float x) { return x; }

float store_f32(float x) { return x; }

float load_bf16(uint16_t x) { return std::bit_cast<float>(uint32_t{x} << 16); }

// Round to nearest, ties to even.
uint16_t store_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if (x != x) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

float load_f16(uint16_t x) {
  const uint32_t sign = uint32_t{x & 0x8000U} << 16;
  const uint32_t magnitude = x & 0x7fffU;
  if (magnitude >= 0x7c00U) return std::bit_cast<float>(sign | 0x7f800000U | (magnitude << 13));
  const float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;  // exact
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(scaled));
}

// Round to nearest, ties to even; from 65520 on infinity.
uint16_t store_f16(float x) {
  const uint32_t sign = (std::bit_cast<uint32_t>(x) >> 16) & 0x8000U;
  const float magnitude = __builtin_fabsf(x);
  if (x != x) return static_cast<uint16_t>(sign | 0x7e00U);
  if (magnitude >= 65520.0f) return static_cast<uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1p-14f) {  // subnormal: multiples of 2^-24
    return static_cast<uint16_t>(sign | static_cast<uint32_t>(rintf(magnitude * 0x1p24f)));
  }
  const auto bits = std::bit_cast<uint32_t>(magnitude) - (112U << 23);
  return static_cast<uint16_t>(sign | ((bits + 0xfffU + ((bits >> 13) & 1U)) >> 13));
}

float load_i32(int32_t x) { return static_cast<float>(x); }

int32_t store_i32(float x) {
  if (x != x) return 0;
  const float whole = rintf(x);
  if (whole >= 0x1p31f) return 2147483647;
  return whole < -0x1p31f ? -2147483647 - 1 : static_cast<int32_t>(whole);
}

float maximum(float x, float y) { return x < y ? y : x; }

float minimum(float x, float y) { return y < x ? y : x; }

}  // namespace
)";

const Dialect kDialect = {
    {ExprOp::Abs, "__builtin_fabsf({})"},
    {ExprOp::Exp, "expf({})"},
    {ExprOp::Exp2, "exp2f({})"},
    {ExprOp::Log2, "log2f({})"},
    {ExprOp::Sqrt, "sqrtf({})"},
    {ExprOp::Rsqrt, "(1.0f / sqrtf({}))"},
    {ExprOp::Reciprocal, "1.0f / {}"},
    {ExprOp::Tanh, "tanhf({})"},
    {ExprOp::Erf, "erff({})"},
    {ExprOp::Max, "maximum({}, {})"},
    {ExprOp::Min, "minimum({}, {})"},
};

}  // namespace

bool has_host_type(DType type) {
  return type == DType::F32 || type == DType::F16 || type == DType::BF16 || type == DType::I32;
}

std::string_view storage(DType type) {
  if (type == DType::F32) return "float";
  return type == DType::I32 ? "int32_t" : "uint16_t";
}

std::string stored(DType type, std::string_view text) {
  return fmt::format("store_{}({})", name(type), text);
}

std::string loaded(DType type, std::string_view text) {
  return fmt::format("load_{}({})", name(type), text);
}

std::string rounded(DType type, std::string_view text) {
  if (type == DType::F32) return std::string(text);
  return loaded(type, stored(type, text));
}

std::string_view prelude() {
  return kPrelude;
}

const Dialect& dialect() {
  return kDialect;
}

}  // namespace orrery::emit::cpu
