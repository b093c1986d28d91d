// A 64-bit hash of bytes that is the same in every run, on every host, in every version.
// SPDX-License-Identifier: Apache-2.0
//
// FNV-1a (Fowler, Noll, Vo), finished by the mixer of MurmurHash3 so that short keys spread over
// all bits. It names cached results and detects changes; it does not resist an adversary.
//
//   const std::uint64_t key = Hasher().add("gemm").add(m).add(n).add(0.5).digest();
//
// Why not std::hash: it may differ between runs and libraries, and cache keys go to disk.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace orrery {

class Hasher {
 public:
  // Strings are hashed with their length, so that ("ab", "c") differs from ("a", "bc").
  constexpr Hasher& add(std::string_view text) {
    add(text.size());
    for (const char c : text) {
      add_byte(static_cast<std::uint8_t>(c));
    }
    return *this;
  }

  constexpr Hasher& add(const char* text) { return add(std::string_view(text)); }

  // Integers, bools and enums are hashed as 64 bits: the width of the type does not matter.
  template <class T>
    requires(std::integral<T> || std::is_enum_v<T>)
  constexpr Hasher& add(T value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (int shift = 0; shift < 64; shift += 8) {
      add_byte(static_cast<std::uint8_t>(bits >> shift));
    }
    return *this;
  }

  // By bit pattern, except that -0.0 equals 0.0 and so hashes the same.
  constexpr Hasher& add(double value) {
    return add(std::bit_cast<std::uint64_t>(value == 0.0 ? 0.0 : value));
  }

  constexpr std::uint64_t digest() const {
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdULL;
    mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return mixed ^ (mixed >> 33);
  }

 private:
  constexpr void add_byte(std::uint8_t byte) { state_ = (state_ ^ byte) * 0x100000001b3ULL; }

  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

constexpr std::uint64_t hash_bytes(std::string_view bytes) {
  return Hasher().add(bytes).digest();
}

}  // namespace orrery
