// Hand-written programs for the tests of the text form and of the verifier.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

namespace orrery::kernel::sample {

/// The GEMM of program.h: a producer warp, two consumer warpgroups, a staged store.
inline constexpr std::string_view kGemm = R"(kernel gemm_bias
target sm_90a
axis m extent m tile 128 grid
axis n extent n multiple 8 tile 256 grid
axis k extent k tile 64 loop
tensor A bf16 [m, k] read
tensor B bf16 [n, k] read
tensor bias bf16 [n] read
tensor C bf16 [m, n] write
stage load producer warps 1 registers 40
stage main consumer warps 8 registers 232
buffer a bf16 [m, k] shared ring 4 panel 64 swizzle 128
buffer b bf16 [n, k] shared ring 4 panel 64 swizzle 128
buffer acc f32 [m, n] fragment { register 2:n*1 2:m*8 32:n*8 lane 4:n*2 8:m*1 warp 4:m*16 2:m*64 }
buffer c bf16 [m, n] fragment { register 2:n*1 2:m*8 32:n*8 lane 4:n*2 8:m*1 warp 4:m*16 2:m*64 }
buffer out bf16 [m, n] shared ring 1 panel 64 swizzle 128 resident 1
raster m n group 8
cluster m 2
persistent
once
  main: acc = 0
loop k
  load: a <- A
  load: b <- B
  main: acc += mma m64n256k16 a b
once
  main: c = acc + bias
  main: C <- c via out
)";

/// Attention with the running maximum, the probabilities kept in registers as the second product's
/// operand.
inline constexpr std::string_view kAttention = R"(kernel attention
target sm_90a
axis b extent b tile 1 grid
axis h extent h tile 1 grid
axis q extent q tile 128 grid
axis s extent s tile 128 loop
axis d extent 128 tile 128 whole
axis e extent 128 tile 128 whole
tensor Q bf16 [b, h, q, d] read
tensor K bf16 [b, h, s, d] read
tensor V bf16 [b, h, s, e] read
tensor O bf16 [b, h, q, e] write
stage load producer warps 1 registers 24
stage main consumer warps 8 registers 240
buffer query bf16 [q, d] shared ring 1 panel 64 swizzle 128
buffer key bf16 [s, d] shared ring 2 panel 64 swizzle 128
buffer value bf16 [s, e] shared ring 2 panel 64 swizzle 128
buffer x f32 [q, s] fragment { register 2:s*1 2:q*8 16:s*8 lane 4:s*2 8:q*1 warp 4:q*16 2:q*64 }
buffer p bf16 [q, s] fragment { register 2:s*1 2:q*8 16:s*8 lane 4:s*2 8:q*1 warp 4:q*16 2:q*64 }
buffer o f32 [q, e] fragment { register 2:e*1 2:q*8 16:e*8 lane 4:e*2 8:q*1 warp 4:q*16 2:q*64 }
buffer c bf16 [q, e] fragment { register 2:e*1 2:q*8 16:e*8 lane 4:e*2 8:q*1 warp 4:q*16 2:q*64 }
buffer top f32 [q] fragment { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 2:q*64 }
buffer next f32 [q] fragment { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 2:q*64 }
buffer scale f32 [q] fragment { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 2:q*64 }
buffer row f32 [q] fragment { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 2:q*64 }
buffer total f32 [q] fragment { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 2:q*64 }
buffer out bf16 [q, e] shared ring 1 panel 64 swizzle 128
raster q h b
once
  load: query <- Q
  main: o = 0
  main: top = -inf
  main: total = 0
loop s
  load: key <- K
  load: value <- V
  main: x = 0
  main: x += mma m64n128k16 query key
  main: x = inside(s, x * 0.1275, -inf)
  main: row = max_over(x)
  main: next = max(top, row)
  main: scale = exp2(top - next)
  main: top = next
  main: p = exp2(x - top)
  main: row = sum(p)
  main: total = total * scale + row
  main: o = o * scale
  main: o += mma m64n128k16 p value
once
  main: c = o / total
  main: O <- c via out
)";

/// RMS norm, a warp a row, everything in registers.
inline constexpr std::string_view kRowNorm = R"(kernel rms_norm
target sm_90a
axis r extent rows tile 4 grid
axis c extent cols multiple 8 tile 1024 whole
tensor X bf16 [r, c] read
tensor W bf16 [c] read
tensor Y bf16 [r, c] write
stage main consumer warps 4
buffer x bf16 [r, c] fragment { register 8:c*1 4:c*256 lane 32:c*8 warp 4:r*1 }
buffer y bf16 [r, c] fragment { register 8:c*1 4:c*256 lane 32:c*8 warp 4:r*1 }
buffer s f32 [r] fragment { lane 32:_ warp 4:r*1 }
raster r
ctas_per_sm 4
once
  main: x <- X
  main: s = sum(x * x)
  main: s = rsqrt(s / extent(c) + 1e-06)
  main: y = x * s * W
  main: Y <- y
)";

/// A CDNA GEMM: one stage that loads and multiplies, split over k.
inline constexpr std::string_view kCdnaGemm = R"(kernel gemm_cdna
target gfx942
axis m extent m tile 128 grid
axis n extent n tile 128 grid
axis part extent 4 tile 1 grid
axis k extent k multiple 8 tile 32 loop parts part
tensor A f16 [m, k] read
tensor B f16 [n, k] read
tensor C f32 [part, m, n] write
stage main consumer warps 4
buffer a f16 [m, k] shared ring 2 pad 8
buffer b f16 [n, k] shared ring 2 pad 8
buffer acc f32 [m, n] fragment { register 4:m*1 4:m*8 2:m*32 2:n*32 lane 32:n*1 2:m*4 warp 2:m*64 2:n*64 }
raster m n part group 4
once
  main: acc = 0
loop k
  main: a <- A
  main: b <- B
  main: acc += mma m32n32k8 a b
once
  main: C <- acc
)";

struct Sample {
  std::string_view name;
  std::string_view text;
};

inline constexpr std::array kAll = {Sample{"gemm", kGemm},
                                    Sample{"attention", kAttention},
                                    Sample{"row_norm", kRowNorm},
                                    Sample{"cdna_gemm", kCdnaGemm}};

}  // namespace orrery::kernel::sample
