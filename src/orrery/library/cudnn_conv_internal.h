// Convolution kernels: what the library file says of them, and the rule of each kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/library/counts.h"
#include "orrery/library/family.h"

namespace orrery::library::conv {

// A convolution is a product of M = batch * p * q pixels by N = k / groups filters over
// K = r * s * c / groups, whose left operand is gathered from the image: for each of the r * s taps
// one box of pixels times channels. cuDNN's tensor kernels want channels last in rows of whole
// 16-byte pieces; other layouts are transposed, padded, and transposed back by kernels of their
// own.
//
//     bf16 nchw 64 x 128 x 56 x 56, 128 filters 3 x 3, stride 2
//       nchwToNhwcKernel      the image       98 x 4 x 64 blocks of 32 pixels x 32 channels
//       nchwToNhwcKernel      the filters     1 x 4 x 128 blocks, of which 9 pixels of 32 are used
//       sm90_xmma 256x64x64   the product     196 tiles of 256 pixels x 64 filters, 18 steps
//       nhwcToNchwKernel      the result      25 x 4 x 64 blocks

/// A tile of a tensor kernel, as its name tells.
struct Tile {
  std::string name;   // "128x128x64"
  int64_t m = 0;      // pixels
  int64_t n = 0;      // filters
  int64_t k = 0;      // channels of a step
  int64_t count = 1;  // warpgroups that share a tile (wgmma), CTAs an SM holds (mma.sync)
};

/// Kernels on wgmma with the image through TMA: sm90_xmma_fprop_implicit_gemm.
struct WgmmaTable {
  std::vector<Tile> half;
  std::vector<Tile> tf32;
  Duration fixed;
  double tensor_share = 1;
  double step_floor = 0;    // clocks of a step beside its work: one warpgroup waits for each
  double tf32_row = 0;      // clocks a row of the image tile, whose operand goes through registers
  double partial_rate = 0;  // bytes a clock of boxes that hold less than a step's channels
  double tile = 0;          // clocks of a tile's first step and epilogue
  double epilogue = 0;      // warp instructions an element
  Duration segment_fixed;   // of a product cut along K: workspace and reduction
};

/// Kernels on mma.sync: cutlass_tensorop_*fprop_optimized, sm80_xmma_fprop_implicit_gemm.
struct MmaTable {
  std::vector<Tile> half;
  std::vector<Tile> tf32;
  Duration fixed;
  double tensor_share = 1;
  double step_floor = 0;  // clocks
  double step = 0;        // further clocks a step of 64 K multiply-adds
  double tile = 0;        // clocks
  double epilogue = 0;    // warp instructions an element
  double unaligned = 0;   // clocks an element of a step that is copied in pieces of 2 or 4 bytes
};

/// Kernels on fp32 lanes, 32 pixels x 32 filters a CTA: implicit_convolve_sgemm,
/// convolve_common_engine.
struct DirectTable {
  Duration fixed;
  double step = 0;          // clocks of a step of one channel of one tap
  double instructions = 0;  // warp instructions of it
};

/// Depthwise kernels.
struct DepthwiseTable {
  double native_error = 0;
  double error = 0;               // of cuDNN's, which it chooses among by a heuristic of its own
  double native_output = 0;       // PyTorch's: thread instructions an output
  double native_tap = 0;          // and a tap
  double native_chain = 0;        // clocks of a block
  double plain_tap = 0;           // cuDNN's conv2d_c1_k1_nhwc: clocks a tap of a CTA
  double plain_chain_half = 0;    // the same where it waits: 16-bit
  double plain_chain_single = 0;  // fp32
  double special_output = 0;      // conv2d_c1_k1_nhwc_specialized: clocks of a CTA
  double special_tap = 0;
  double special_chain = 0;
  double special_chain_tap = 0;
  double tiled_output = 0;  // conv2d_c1_k1_nchw_shmem_tiling: thread instructions an output
  double tiled_tap = 0;
};

/// Kernels that move data: transposes, padding, conversion.
struct LayoutTable {
  double error = 0;
  double to_channels_last = 0;  // warp instructions of a block of 32 x 32
  double to_channels_first = 0;
  double block_chain = 0;      // clocks a block waits
  double pad = 0;              // thread instructions an element written
  double transform = 0;        // tensorTransformGeneric: thread instructions an element
  double transform_chain = 0;  // clocks
};

struct Table {
  WgmmaTable wgmma;
  MmaTable mma;
  DirectTable direct;
  DepthwiseTable depthwise;
  LayoutTable layout;
  double error = 0;  // of a product
};

/// A convolution with what follows from it. `c` and `k` are those of one group.
struct Problem {
  const ConvCall& call;
  const Table& table;
  const machine::Chip& chip;
  int64_t p = 0;  // rows of the result
  int64_t q = 0;  // its columns
  int64_t c = 0;
  int64_t k = 0;
  double element = 2;  // bytes
  bool half = true;    // bf16, f16; else fp32, multiplied as tf32

  int64_t pixels() const { return call.batch * p * q; }

  int64_t taps() const { return call.r * call.s; }

  int64_t piece() const { return half ? 8 : 4; }  // channels of 16 bytes

  bool channels_last() const { return call.layout == ImageLayout::Nhwc; }

  double image() const { return product(call.batch, call.c, call.h, call.w, element); }

  double filters() const { return product(call.k, c, taps(), element); }

  double result() const { return product(call.batch, call.k, p, q, element); }
};

using Sequence = std::vector<kernel::Profile>;

/// A profile of the family; `error` is half an 80 % interval, relative.
kernel::Profile named(std::string name, double error);

/// What a tensor kernel multiplies: `products` independent ones of pixels x filters over
/// taps x channels.
struct Product {
  double products = 1;
  int64_t pixels = 0;
  int64_t filters = 0;
  int64_t channels = 0;
  int64_t taps = 1;
  int64_t piece = 0;  // channels that one copy moves; 0: 16 bytes
  double image = 0;   // bytes read of the image
  double weights = 0;
  double result = 0;
  bool converted = false;  // both operands were just written by kernels that convert them
};

Product product_of(const Problem& problem);

/// Every tensor kernel that may take `product`; one candidate a tile.
std::vector<kernel::Profile> tensor_kernels(const Problem& problem, const Product& product);
/// The mma.sync kernels alone: products whose rows are not whole 16-byte pieces.
std::vector<kernel::Profile> mma_kernels(const Problem& problem, const Product& product);
kernel::Profile direct_kernel(const Problem& problem);
/// One pixel: the filters by a vector.
kernel::Profile vector_kernel(const Problem& problem);

/// The depthwise kernel that serves the call.
kernel::Profile depthwise_kernel(const Problem& problem);
/// conv2d_grouped_direct_kernel: groups of few channels, channels first, a thread an output as in
/// PyTorch's depthwise kernel.
kernel::Profile grouped_direct_kernel(const Problem& problem);

/// A batch of `images` matrices of pixels x channels, transposed to (or from) channels last.
struct Transpose {
  double images = 1;
  int64_t pixels = 1;
  int64_t channels = 1;
  bool recent = true;  // its operand was just written
};

kernel::Profile to_channels_last(const Problem& problem, const Transpose& transpose);
kernel::Profile to_channels_first(const Problem& problem, const Transpose& transpose);
/// Copies of `read` elements into rows that are padded to `written` elements.
kernel::Profile pad_rows(const Problem& problem, double read, double written);
kernel::Profile clear(const Problem& problem, double bytes);
kernel::Profile transform(const Problem& problem, double elements);

}  // namespace orrery::library::conv
