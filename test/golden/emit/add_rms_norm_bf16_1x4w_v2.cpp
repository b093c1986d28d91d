// Kernel add_rms_norm_bf16_1x4w_v2 for the CPU. Values are binary32, rounded where they are assigned.
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

extern "C" void add_rms_norm_bf16_1x4w_v2(const uint16_t* in_X, const uint16_t* in_R, const uint16_t* in_W, uint16_t* out_H, uint16_t* out_Y, int32_t size_rows, int32_t size_cols) {
  for (int64_t at_row = 0; at_row < size_rows; at_row += 1) {
    Tile x_(4096);  // bf16 [row, col]
    Tile r_(4096);  // bf16 [row, col]
    Tile w_(4096);  // bf16 [col]
    Tile h_(4096);  // bf16 [row, col]
    Tile sum_(1);  // f32 [row]
    Tile scale_(1);  // f32 [row]
    Tile y_(4096);  // bf16 [row, col]
    // main: w <- W
    for (int64_t i_col = 0; i_col < 4096; ++i_col) {
      w_[i_col] = (i_col < size_cols ? load_bf16(in_W[i_col]) : 0.0f);
    }
    // main: x <- X
    for (int64_t i_col = 0; i_col < 4096; ++i_col) {
      x_[i_col] = (i_col < size_cols ? load_bf16(in_X[at_row * size_cols + i_col]) : 0.0f);
    }
    // main: r <- R
    for (int64_t i_col = 0; i_col < 4096; ++i_col) {
      r_[i_col] = (i_col < size_cols ? load_bf16(in_R[at_row * size_cols + i_col]) : 0.0f);
    }
    // main: h = x + r
    for (int64_t i_col = 0; i_col < 4096; ++i_col) {
      h_[i_col] = load_bf16(store_bf16(x_[i_col] + r_[i_col]));
    }
    // main: H <- h
    for (int64_t i_col = 0; i_col < 4096; ++i_col) {
      if (i_col < size_cols) out_H[at_row * size_cols + i_col] = store_bf16(h_[i_col]);
    }
    // main: sum = sum(h * h)
    {
      float result = 0.0f;
      for (int64_t i_col = 0; i_col < 4096; ++i_col) {
        result += h_[i_col] * h_[i_col];
      }
      sum_[0] = result;
    }
    // main: scale = rsqrt(sum / extent(col) + 1e-05)
    {
      scale_[0] = (1.0f / sqrtf((sum_[0] / static_cast<float>(size_cols)) + 1e-05f));
    }
    // main: y = h * scale * w
    for (int64_t i_col = 0; i_col < 4096; ++i_col) {
      y_[i_col] = load_bf16(store_bf16((h_[i_col] * scale_[0]) * w_[i_col]));
    }
    // main: Y <- y
    for (int64_t i_col = 0; i_col < 4096; ++i_col) {
      if (i_col < size_cols) out_Y[at_row * size_cols + i_col] = store_bf16(y_[i_col]);
    }
  }
}

// The same with the address of every argument.
extern "C" void add_rms_norm_bf16_1x4w_v2_packed(void** arguments) {
  add_rms_norm_bf16_1x4w_v2(*static_cast<const uint16_t* const*>(arguments[0]), *static_cast<const uint16_t* const*>(arguments[1]), *static_cast<const uint16_t* const*>(arguments[2]), *static_cast<uint16_t* const*>(arguments[3]), *static_cast<uint16_t* const*>(arguments[4]), *static_cast<const int32_t*>(arguments[5]), *static_cast<const int32_t*>(arguments[6]));
}
