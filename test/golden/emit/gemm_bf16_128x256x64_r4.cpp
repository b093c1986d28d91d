// Kernel gemm_bf16_128x256x64_r4 for the CPU. Values are binary32, rounded where they are assigned.
#include <bit>
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

extern "C" void gemm_bf16_128x256x64_r4(const uint16_t* in_A, const uint16_t* in_B, uint16_t* out_C, int32_t size_m, int32_t size_n, int32_t size_k) {
  for (int64_t at_n = 0; at_n < size_n; at_n += 256) {
    for (int64_t at_m = 0; at_m < size_m; at_m += 128) {
      Tile a_(8192);  // bf16 [m, k]
      Tile b_(16384);  // bf16 [n, k]
      Tile acc_(32768);  // f32 [m, n]
      Tile c_(32768);  // bf16 [m, n]
      Tile out_(32768);  // bf16 [m, n]
      // main: acc = 0
      for (int64_t i_m = 0; i_m < 128; ++i_m) {
        for (int64_t i_n = 0; i_n < 256; ++i_n) {
          acc_[i_m * 256 + i_n] = 0.0f;
        }
      }
      {
        for (int64_t at_k = 0; at_k < size_k; at_k += 64) {
          // load: a <- A
          for (int64_t i_m = 0; i_m < 128; ++i_m) {
            for (int64_t i_k = 0; i_k < 64; ++i_k) {
              a_[i_m * 64 + i_k] = (at_m + i_m < size_m && at_k + i_k < size_k ? load_bf16(in_A[(at_m + i_m) * size_k + at_k + i_k]) : 0.0f);
            }
          }
          // load: b <- B
          for (int64_t i_n = 0; i_n < 256; ++i_n) {
            for (int64_t i_k = 0; i_k < 64; ++i_k) {
              b_[i_n * 64 + i_k] = (at_n + i_n < size_n && at_k + i_k < size_k ? load_bf16(in_B[(at_n + i_n) * size_k + at_k + i_k]) : 0.0f);
            }
          }
          // main: acc += mma m64n256k16 a b
          for (int64_t i_m = 0; i_m < 128; ++i_m) {
            for (int64_t i_k = 0; i_k < 64; ++i_k) {
              for (int64_t i_n = 0; i_n < 256; ++i_n) {
                acc_[i_m * 256 + i_n] += a_[i_m * 64 + i_k] * b_[i_n * 64 + i_k];
              }
            }
          }
        }
      }
      // main: c = acc
      for (int64_t i_m = 0; i_m < 128; ++i_m) {
        for (int64_t i_n = 0; i_n < 256; ++i_n) {
          c_[i_m * 256 + i_n] = load_bf16(store_bf16(acc_[i_m * 256 + i_n]));
        }
      }
      // main: C <- c via out
      for (int64_t i_m = 0; i_m < 128; ++i_m) {
        for (int64_t i_n = 0; i_n < 256; ++i_n) {
          if (at_m + i_m < size_m && at_n + i_n < size_n) out_C[(at_m + i_m) * size_n + at_n + i_n] = store_bf16(c_[i_m * 256 + i_n]);
        }
      }
    }
  }
}

// The same with the address of every argument.
extern "C" void gemm_bf16_128x256x64_r4_packed(void** arguments) {
  gemm_bf16_128x256x64_r4(*static_cast<const uint16_t* const*>(arguments[0]), *static_cast<const uint16_t* const*>(arguments[1]), *static_cast<uint16_t* const*>(arguments[2]), *static_cast<const int32_t*>(arguments[3]), *static_cast<const int32_t*>(arguments[4]), *static_cast<const int32_t*>(arguments[5]));
}
