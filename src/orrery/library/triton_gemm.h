// Triton's tiled products: what a kernel of given tile, stages and warps does.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "orrery/library/family.h"

namespace orrery::library {

// A product as the tutorials of Triton write it, C = A B^T with both operands contiguous along k,
// for chips with wgmma, without warp specialisation. Three kinds:
//
//     ptr      loads through pointers: cp.async, 16 bytes a lane, masked along k; stores through
//              pointers, masked
//     tma      loads and stores through tensor descriptors: one instruction, no traffic beyond
//     edges persist  the same in one loop over tiles and k (flatten): a CTA an SM, loads run ahead
//     over
//              the end of a tile, so the tile of C has shared memory of its own
//
// The name tells the rest, of which registers, spills and shared memory may be left out:
//
//     triton_ptr_128x256x64_4_w8_g8_r183_s0_b196608
//                rows x columns of C x k-step, stages, warps, tile rows of a group of the raster,
//                registers of a thread, bytes of them spilled, bytes of shared memory
//
// `stages` buffers of A and B: the product of a step runs while those of stages - 1 later ones are
// on their way. A warp group multiplies 64 rows by up to 256 columns at a time; of 8 warps both
// groups take rows if there are 128, else columns (Triton 3.6: warpsPerTileV3, getMMAVersion 3).

enum class TritonLoads { Pointers, Descriptors, Persistent };

struct TritonGemm {
  TritonLoads loads = TritonLoads::Pointers;
  int64_t m = 0;
  int64_t n = 0;
  int64_t step = 0;
  int64_t stages = 0;
  int64_t warps = 0;
  int64_t group = 1;
  int64_t registers = 0;
  int64_t spills = 0;
  int64_t shared = 0;

  bool operator==(const TritonGemm&) const = default;
};

/// The kernel of such a name, with registers and shared memory by rule where the name has none.
std::optional<TritonGemm> parse_triton_gemm(std::string_view name);
std::string to_text(const TritonGemm& kernel);

/// Section "triton_gemm": calls of backend "triton" that name such a kernel.
std::unique_ptr<Family> read_triton_gemm(machine::NumberFile& file);

}  // namespace orrery::library
