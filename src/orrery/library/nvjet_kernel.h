// nvjet kernels: which of them exist, and what their names tell.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/library/call.h"

namespace orrery::library {

// cuBLAS has an nvjet kernel for every tile that the hardware allows, not a short list:
//
//     nvjet_sm90_tst_192x144_64x5_2x1_v_bz_coopB_TNT
//                    |       |    |        |     ||+ C: wgmma's M side along n (T) or along m (N)
//                    |       |    |        |     |+- A: k contiguous (N) or not (T)
//                    |       |    |        |     +-- B: k contiguous (T) or not (N)
//                    |       |    |        + both consumer warpgroups share a tile, split along N
//                    |       |    + cluster n x m, rastered down (v) or along (h)
//                    |       + k-step x stages
//                    + tile n x m
//
// The side along which wgmma's M runs is a multiple of 64, the other of 8. Up to 22,528 elements
// the two consumer warpgroups work on tiles of their own (ping-pong); larger tiles, up to 40,960,
// they share: along M if it has an even number of 64-row blocks (coopA), else along N (coopB).
// Where both sides are multiples of 64, M is the longer. Stages are as many as 216,000 bytes hold,
// at most 16. These rules give name and stages of all but 12 of the 2,516 kernels that cuBLAS 13.0
// took for 2,516 shapes (names by a profiler, k contiguous; the others have tiles of 384 to 512 x
// 64).

/// Whether the two consumer warpgroups share a tile, and along which side they split it.
enum class Sharing { PingPong, CoopA, CoopB };

struct NvjetTile {
  int64_t n = 0;
  int64_t m = 0;
  bool rows_along_n = true;  // wgmma's M side lies along n
  Sharing sharing = Sharing::PingPong;

  bool operator==(const NvjetTile&) const = default;
};

struct NvjetKernel {
  NvjetTile tile;
  int64_t step = 0;  // along k
  int64_t stages = 0;
  int64_t cluster_n = 1;
  int64_t cluster_m = 1;
  bool split = false;  // the product is cut along k, a second kernel adds

  bool operator==(const NvjetKernel&) const = default;
};

/// Every tile, in a fixed order.
std::vector<NvjetTile> nvjet_tiles();

/// Stages that fit into shared memory; `bytes` of an element. Operands whose k is not contiguous
/// are padded to whole rows of a swizzle.
int64_t nvjet_stages(const NvjetTile& tile, int64_t step, int64_t bytes, GemmLayout layout);

/// "nvjet_192x144_64x5_2x1_coopB_TNT".
std::string to_text(const NvjetKernel& kernel, GemmLayout layout);

/// The kernel of such a name; none if it is no name of an nvjet kernel.
std::optional<NvjetKernel> parse_nvjet(std::string_view name);

}  // namespace orrery::library
