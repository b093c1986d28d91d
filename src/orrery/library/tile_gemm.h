// Tiled products of any instruction class: what one kernel does, for chips whose library's own rule
// is not known.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "orrery/library/call.h"
#include "orrery/library/family.h"
#include "orrery/library/split_sum.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// A library file lists *sets* of kernels: the tiles that exist, what they multiply, whose they are.
// A kernel of a set walks k in steps of so many bytes a row; a step brings its rows of A and B from
// L2 through a ring of stages and multiplies them:
//
//     128x128x64_4 128 230 2x2      128 rows by 128 columns of C, k-steps of 64 bytes, 4 stages;
//     128 threads of 230 registers, 2 x 2 warps
//
//     mma      mma.sync, operands to registers by ldmatrix: every warp reads its rows and columns.
//              CTAs fill an SM as far as registers and shared memory allow, and come in waves.
//     wgmma    Hopper: slices of 64 rows read all columns; one CTA an SM walks tile after tile.
//     tcgen05  Blackwell: the accumulator lies in tensor memory, twice, so the epilogue of a tile
//              hides behind the next; CTAs of a pair read half of the columns each.
//
// Which of them the library takes is not known, so all are candidates, whole or cut along k into
// slices that a second kernel adds; the estimator takes the least with its correction. A rough
// estimate thins them first: the waves times the longest pipe of a step.

enum class TileEngine { Mma, Wgmma, Tcgen05 };

struct TileKernel {
  int64_t m = 0;     // rows of C
  int64_t n = 0;     // columns
  int64_t step = 0;  // bytes of a row of A or B
  int64_t stages = 0;
  int64_t threads = 0;
  int64_t registers = 0;
  int64_t warps_m = 1;
  int64_t warps_n = 1;
};

struct TileCluster {
  int64_t m = 1;
  int64_t n = 1;
};

/// Sets of a file share a rule's numbers unless they state their own.
struct TileSet {
  std::string name;
  std::vector<std::string> serves;    // names of operand types, gemm_types.h
  std::vector<std::string> backends;  // of GemmCall; "default" is ""
  int64_t rows_to = 0;  // the largest m that it serves; 0: any. A framework's rule by m
                        // is a row of sets
  TileEngine engine = TileEngine::Mma;
  std::vector<TileKernel> tiles;
  std::vector<TileCluster> clusters;
  std::vector<int64_t> slices;
  double tensor_share = 1;
  double step_floor = 0;             // clocks: barriers and issue of a step
  double cluster_floor = 0;          // more, of a cluster of 8: with the square of its size
  double epilogue_instructions = 0;  // warp-lane instructions per element of a tile
  double cta = 0;                    // clocks of a unit of work beside its steps and its epilogue
  double conversions = 0;            // lane operations per element of B that a step converts
  double pitch_32 = 1;               // L2 bytes per byte of rows that are not multiples of 32 bytes
  double pitch_128 = 1;              // of 128 bytes
  double dram_share = 1;
  double overlap = 1;
  Duration fixed;
  Duration row;  // more for each row of A: where the scales of rows are laid out one by one
  double error = 0;
};

/// One way to launch a kernel of a set.
struct TileLaunch {
  const TileKernel* kernel = nullptr;
  TileCluster cluster = {};
  int64_t slices = 1;
  double rough = 0;  // clocks
};

/// The most promising launches for `call`, at least one.
std::vector<TileLaunch> tile_launches(const TileSet& set,
                                      const GemmCall& call,
                                      const machine::Chip& chip);

/// The kernels of one launch.
std::vector<kernel::Profile> tile_profiles(const TileSet& set,
                                           const TileLaunch& launch,
                                           const GemmCall& call,
                                           const machine::Chip& chip,
                                           const SplitSum& sum);

/// CTAs of `kernel` that an SM holds.
int64_t tile_residents(const TileSet& set, const TileKernel& kernel, const machine::Core& core);

/// Section "tile_gemm".
std::unique_ptr<Family> read_tile_gemm(machine::NumberFile& file);

}  // namespace orrery::library
