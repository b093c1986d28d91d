// Host tensors as bytes in memory, and back.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/interpret/encode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "orrery/interpret/interpret.h"

namespace orrery::interpret {
namespace {

static_assert(std::endian::native == std::endian::little);

// Sign, exponent and mantissa of a narrow floating-point type. `finite`: the top exponent holds
// numbers, and only all ones is not a number (f8e4m3).
struct Bits {
  int exponent = 0;
  int mantissa = 0;
  bool finite = false;

  int bias() const { return (1 << (exponent - 1)) - 1; }

  uint32_t top() const { return (1U << exponent) - 1U; }
};

Bits bits_of(DType type) {
  switch (type) {
    case DType::F16:
      return {5, 10};
    case DType::BF16:
      return {8, 7};
    case DType::F8E4M3:
      return {4, 3, true};
    case DType::F8E5M2:
      return {5, 2};
    default:
      ORR_UNREACHABLE();
  }
}

// `x` is a number of the type already.
uint32_t pack(const Bits& bits, float x) {
  const uint32_t sign = (std::signbit(x) ? 1U : 0U) << (bits.exponent + bits.mantissa);
  const uint32_t ones = (1U << bits.mantissa) - 1U;
  if (std::isnan(x)) return sign | (bits.top() << bits.mantissa) | ones;
  if (std::isinf(x)) return sign | (bits.top() << bits.mantissa);
  if (x == 0.0F) return sign;
  const int exponent = std::max(std::ilogb(x), 1 - bits.bias());
  const auto scaled = static_cast<uint32_t>(std::ldexp(std::abs(x), bits.mantissa - exponent));
  const auto biased = static_cast<uint32_t>(exponent + bits.bias());
  // A subnormal's `scaled` lacks the leading one, which takes the exponent field from 1 down to 0.
  return sign | (((biased - 1U) << bits.mantissa) + scaled);
}

float unpack(const Bits& bits, uint32_t code) {
  const uint32_t ones = (1U << bits.mantissa) - 1U;
  const uint32_t mantissa = code & ones;
  const uint32_t biased = (code >> bits.mantissa) & bits.top();
  const float sign = (code >> (bits.exponent + bits.mantissa)) != 0U ? -1.0F : 1.0F;
  if (biased == bits.top() && (!bits.finite || mantissa == ones)) {
    const bool nan = mantissa != 0U;
    return nan ? std::numeric_limits<float>::quiet_NaN()
               : sign * std::numeric_limits<float>::infinity();
  }
  const auto whole = static_cast<float>(biased == 0U ? mantissa : mantissa + ones + 1U);
  const int exponent = std::max(static_cast<int>(biased), 1) - bits.bias() - bits.mantissa;
  return sign * std::ldexp(whole, exponent);
}

template <class T>
void put(std::vector<std::byte>& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

template <class T>
T get(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

template <class T>
T saturated(float x) {
  if (x >= static_cast<float>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(x);  // round_to has bounded it from below
}

void encode_one(DType type, float x, std::vector<std::byte>& bytes) {
  switch (type) {
    case DType::F32:
    case DType::TF32:
      return put(bytes, x);
    case DType::F16:
    case DType::BF16:
      return put(bytes, static_cast<uint16_t>(pack(bits_of(type), x)));
    case DType::F8E4M3:
    case DType::F8E5M2:
      return put(bytes, static_cast<uint8_t>(pack(bits_of(type), x)));
    case DType::I64:
      return put(bytes, saturated<int64_t>(x));
    case DType::I32:
      return put(bytes, saturated<int32_t>(x));
    case DType::I8:
    case DType::Bool:
      return put(bytes, saturated<int8_t>(x));
    case DType::F4E2M1:
    case DType::I4:
      break;
  }
  ORR_UNREACHABLE();
}

float decode_one(DType type, std::span<const std::byte> bytes) {
  switch (type) {
    case DType::F32:
    case DType::TF32:
      return get<float>(bytes);
    case DType::F16:
    case DType::BF16:
      return unpack(bits_of(type), get<uint16_t>(bytes));
    case DType::F8E4M3:
    case DType::F8E5M2:
      return unpack(bits_of(type), get<uint8_t>(bytes));
    case DType::I64:
      return static_cast<float>(get<int64_t>(bytes));
    case DType::I32:
      return static_cast<float>(get<int32_t>(bytes));
    case DType::I8:
    case DType::Bool:
      return static_cast<float>(get<int8_t>(bytes));
    case DType::F4E2M1:
    case DType::I4:
      break;
  }
  ORR_UNREACHABLE();
}

Result<size_t> whole_bytes(DType type) {
  const double size = element_size(type).value();
  if (size >= 1.0) return static_cast<size_t>(size);
  return make_error(ErrorCode::Unsupported,
                    "[interpret.encode] elements smaller than a byte: got {}, need another type",
                    name(type));
}

}  // namespace

Result<std::vector<std::byte>> encode(DType type, std::span<const float> values) {
  ORR_TRY(const size_t size, whole_bytes(type));
  std::vector<std::byte> bytes;
  bytes.reserve(size * values.size());
  for (const float x : values) encode_one(type, round_to(type, x), bytes);
  return bytes;
}

Result<std::vector<float>> decode(DType type, std::span<const std::byte> bytes) {
  ORR_TRY(const size_t size, whole_bytes(type));
  if (bytes.size() % size != 0) {
    return make_error(ErrorCode::InvalidInput,
                      "[interpret.decode] incomplete element: got {} bytes, need a multiple of {}",
                      bytes.size(),
                      size);
  }
  std::vector<float> values;
  values.reserve(bytes.size() / size);
  for (size_t at = 0; at < bytes.size(); at += size) {
    values.push_back(decode_one(type, bytes.subspan(at, size)));
  }
  return values;
}

}  // namespace orrery::interpret
