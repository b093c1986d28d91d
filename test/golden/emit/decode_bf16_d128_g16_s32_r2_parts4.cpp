// Kernel decode_bf16_d128_g16_s32_r2_parts4 for the CPU. Values are binary32, rounded where they are assigned.
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

extern "C" void decode_bf16_d128_g16_s32_r2_parts4(const uint16_t* in_Q, const uint16_t* in_K, const uint16_t* in_V, float* out_PO, float* out_PT, float* out_PS, int32_t size_b, int32_t size_h, int32_t size_g, int32_t size_s) {
  for (int64_t at_b = 0; at_b < size_b; at_b += 1) {
    for (int64_t at_h = 0; at_h < size_h; at_h += 1) {
      for (int64_t at_part = 0; at_part < 4; at_part += 1) {
        Tile q_(2048);  // bf16 [g, d]
        Tile k_(4096);  // bf16 [s, d]
        Tile v_(4096);  // bf16 [s, d]
        Tile scores_(512);  // f32 [s, g]
        Tile p_(512);  // bf16 [s, g]
        Tile o_(2048);  // f32 [d, g]
        Tile top_(16);  // f32 [g]
        Tile next_(16);  // f32 [g]
        Tile high_(16);  // f32 [g]
        Tile sum_(16);  // f32 [g]
        Tile add_(16);  // f32 [g]
        Tile shrink_(16);  // f32 [g]
        // main: q <- Q
        for (int64_t i_g = 0; i_g < 16; ++i_g) {
          for (int64_t i_d = 0; i_d < 128; ++i_d) {
            q_[i_g * 128 + i_d] = (i_g < size_g && i_d < 128 ? load_bf16(in_Q[((at_b * size_h + at_h) * size_g + i_g) * 128 + i_d]) : 0.0f);
          }
        }
        // main: o = 0
        for (int64_t i_d = 0; i_d < 128; ++i_d) {
          for (int64_t i_g = 0; i_g < 16; ++i_g) {
            o_[i_d * 16 + i_g] = 0.0f;
          }
        }
        // main: top = -1e+30
        for (int64_t i_g = 0; i_g < 16; ++i_g) {
          top_[i_g] = -1e+30f;
        }
        // main: sum = 0
        for (int64_t i_g = 0; i_g < 16; ++i_g) {
          sum_[i_g] = 0.0f;
        }
        {
          const int64_t tiles_s = (size_s + 31) / 32;
          const int64_t parts_s = 4;
          const int64_t share_s = (tiles_s + parts_s - 1) / parts_s * 32;
          const int64_t first_s = at_part / 1 * share_s;
          const int64_t last_s = smaller(size_s, first_s + share_s);
          for (int64_t at_s = first_s; at_s < last_s; at_s += 32) {
            // main: k <- K
            for (int64_t i_s = 0; i_s < 32; ++i_s) {
              for (int64_t i_d = 0; i_d < 128; ++i_d) {
                k_[i_s * 128 + i_d] = (at_s + i_s < size_s && i_d < 128 ? load_bf16(in_K[((at_b * size_h + at_h) * size_s + at_s + i_s) * 128 + i_d]) : 0.0f);
              }
            }
            // main: v <- V
            for (int64_t i_s = 0; i_s < 32; ++i_s) {
              for (int64_t i_d = 0; i_d < 128; ++i_d) {
                v_[i_s * 128 + i_d] = (at_s + i_s < size_s && i_d < 128 ? load_bf16(in_V[((at_b * size_h + at_h) * size_s + at_s + i_s) * 128 + i_d]) : 0.0f);
              }
            }
            // main: scores = 0
            for (int64_t i_s = 0; i_s < 32; ++i_s) {
              for (int64_t i_g = 0; i_g < 16; ++i_g) {
                scores_[i_s * 16 + i_g] = 0.0f;
              }
            }
            // main: scores += mma m16n16k16 k q
            for (int64_t i_s = 0; i_s < 32; ++i_s) {
              for (int64_t i_d = 0; i_d < 128; ++i_d) {
                for (int64_t i_g = 0; i_g < 16; ++i_g) {
                  scores_[i_s * 16 + i_g] += k_[i_s * 128 + i_d] * q_[i_g * 128 + i_d];
                }
              }
            }
            // main: scores = inside(s, scores, -1e+30)
            for (int64_t i_s = 0; i_s < 32; ++i_s) {
              for (int64_t i_g = 0; i_g < 16; ++i_g) {
                scores_[i_s * 16 + i_g] = at_s + i_s < size_s ? scores_[i_s * 16 + i_g] : (-1e+30f);
              }
            }
            // main: high = max_over(scores)
            for (int64_t i_g = 0; i_g < 16; ++i_g) {
              float result = -__builtin_inff();
              for (int64_t i_s = 0; i_s < 32; ++i_s) {
                result = maximum(result, scores_[i_s * 16 + i_g]);
              }
              high_[i_g] = result;
            }
            // main: next = max(top, high * 0.12751743082459868)
            for (int64_t i_g = 0; i_g < 16; ++i_g) {
              next_[i_g] = maximum(top_[i_g], high_[i_g] * 0.12751743f);
            }
            // main: scores = exp2(scores * 0.12751743082459868 - next)
            for (int64_t i_s = 0; i_s < 32; ++i_s) {
              for (int64_t i_g = 0; i_g < 16; ++i_g) {
                scores_[i_s * 16 + i_g] = exp2f((scores_[i_s * 16 + i_g] * 0.12751743f) - next_[i_g]);
              }
            }
            // main: p = scores
            for (int64_t i_s = 0; i_s < 32; ++i_s) {
              for (int64_t i_g = 0; i_g < 16; ++i_g) {
                p_[i_s * 16 + i_g] = load_bf16(store_bf16(scores_[i_s * 16 + i_g]));
              }
            }
            // main: add = sum(scores)
            for (int64_t i_g = 0; i_g < 16; ++i_g) {
              float result = 0.0f;
              for (int64_t i_s = 0; i_s < 32; ++i_s) {
                result += scores_[i_s * 16 + i_g];
              }
              add_[i_g] = result;
            }
            // main: shrink = exp2(top - next)
            for (int64_t i_g = 0; i_g < 16; ++i_g) {
              shrink_[i_g] = exp2f(top_[i_g] - next_[i_g]);
            }
            // main: top = next
            for (int64_t i_g = 0; i_g < 16; ++i_g) {
              top_[i_g] = next_[i_g];
            }
            // main: sum = sum * shrink + add
            for (int64_t i_g = 0; i_g < 16; ++i_g) {
              sum_[i_g] = (sum_[i_g] * shrink_[i_g]) + add_[i_g];
            }
            // main: o = o * shrink
            for (int64_t i_d = 0; i_d < 128; ++i_d) {
              for (int64_t i_g = 0; i_g < 16; ++i_g) {
                o_[i_d * 16 + i_g] = o_[i_d * 16 + i_g] * shrink_[i_g];
              }
            }
            // main: o += mma m16n16k16 v p
            for (int64_t i_d = 0; i_d < 128; ++i_d) {
              for (int64_t i_s = 0; i_s < 32; ++i_s) {
                for (int64_t i_g = 0; i_g < 16; ++i_g) {
                  o_[i_d * 16 + i_g] += v_[i_s * 128 + i_d] * p_[i_s * 16 + i_g];
                }
              }
            }
          }
        }
        // main: PO <- o
        for (int64_t i_d = 0; i_d < 128; ++i_d) {
          for (int64_t i_g = 0; i_g < 16; ++i_g) {
            if (i_g < size_g && i_d < 128) out_PO[(((at_part * size_b + at_b) * size_h + at_h) * size_g + i_g) * 128 + i_d] = store_f32(o_[i_d * 16 + i_g]);
          }
        }
        // main: PT <- top
        for (int64_t i_g = 0; i_g < 16; ++i_g) {
          if (i_g < size_g) out_PT[((at_part * size_b + at_b) * size_h + at_h) * size_g + i_g] = store_f32(top_[i_g]);
        }
        // main: PS <- sum
        for (int64_t i_g = 0; i_g < 16; ++i_g) {
          if (i_g < size_g) out_PS[((at_part * size_b + at_b) * size_h + at_h) * size_g + i_g] = store_f32(sum_[i_g]);
        }
      }
    }
  }
}

// The same with the address of every argument.
extern "C" void decode_bf16_d128_g16_s32_r2_parts4_packed(void** arguments) {
  decode_bf16_d128_g16_s32_r2_parts4(*static_cast<const uint16_t* const*>(arguments[0]), *static_cast<const uint16_t* const*>(arguments[1]), *static_cast<const uint16_t* const*>(arguments[2]), *static_cast<float* const*>(arguments[3]), *static_cast<float* const*>(arguments[4]), *static_cast<float* const*>(arguments[5]), *static_cast<const int32_t*>(arguments[6]), *static_cast<const int32_t*>(arguments[7]), *static_cast<const int32_t*>(arguments[8]), *static_cast<const int32_t*>(arguments[9]));
}
