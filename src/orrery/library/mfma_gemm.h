// Products on matrix cores of CDNA chips: hipBLASLt, composable_kernel, AITER, by their tiles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/library/family.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

// A workgroup of four waves owns a tile of C (rocm-libraries calls it MT0 x MT1 x DepthU) and walks
// k in steps: rows of A and columns of B go from L2 to LDS, from there to registers, and MFMA
// instructions multiply them. Where registers and LDS leave room for a second workgroup on the
// compute unit, one multiplies while the other waits; large tiles are alone:
//
//     bf16 8192^3 on an MI300X, tile 256x256, steps of 64 (128 bytes a row)
//       matrix   2*256*256*64 FLOP / (2048 FLOP/clk * share)    = 4096 clk / share
//       LDS      64 KiB written, 128 KiB read, 128 B/clk        = 1536 clk
//       fill     64 KiB / (fill B/clk)
//       step     the pipes combined, and `wait`: barriers, and latencies that prefetching leaves
//       waves    1024 tiles / 304 compute units                 = 4
//
// A flat tile gives all four waves to its longer side. Few tiles and a deep k are cut along k into
// slices that add to C by atomics or by a second kernel.
//
// Scales of 128-blocks are applied by the vector lanes, which read every sum out of the matrix
// accumulators, scale and add it (the promotion).
//
// A grouped product (experts) is one launch over the tiles of all groups; a group without rows has
// none, and its B is not read.
//
// The libraries choose by estimates of their own (origami, in rocm-libraries) or by measured
// tables (AITER's tuner). Both find about the fastest of a list of tiles, so this rule takes those
// that are fastest by the formula above.

/// What the kernels of one library file have in common.
struct MfmaConstants {
  double tensor_share = 1;  // of the matrix rate
  double pipe_overlap = 1;  // exponent of the pipes within a step
  double wait = 0;          // clocks of a step beside its pipes
  double fill = 1;          // bytes per clock that one workgroup draws from L2
  double load_issue = 0;    // vector instructions of a wave per KiB of operands
  double promotion = 0;     // vector instructions per element of C and 128 of k
  double epilogue = 0;      // vector instructions per element of C
  double prologue = 0;      // clocks of a tile
  double overlap = 1;       // exponent of core work with memory traffic
  Duration split;           // of cutting along k
  double error = 0;
};

/// One way to compute a product.
struct MfmaOption {
  int64_t tile_m = 0;
  int64_t tile_n = 0;
  int64_t step_bytes = 0;  // of a row of A
  int64_t slices = 1;
};

/// The lists of a library file.
struct MfmaTable {
  std::vector<std::string> types;    // of single products, as with_types() takes them
  std::vector<std::string> grouped;  // of grouped products
  std::vector<MfmaOption> tiles;     // uncut
  std::vector<int64_t> slices;
  MfmaConstants constants;
};

/// A product on a chip. One of groups has m = the sum of `groups`, and a B for each.
struct MfmaProblem {
  const GemmCall& call;
  const machine::Chip& chip;
  std::span<const int64_t> groups = {};  // rows of each; none: a single product
  double in = 2;                         // bytes of an element of A and B
  double scaled = 2;                     // the same with its share of the scales
  double out = 2;                        // of C
};

MfmaProblem mfma_problem(const GemmCall& call,
                         const machine::Chip& chip,
                         std::span<const int64_t> groups = {});

/// k-steps of one slice.
double mfma_steps(const MfmaOption& option, const MfmaProblem& problem);

/// Workgroups: tiles of C with the batch, times slices.
double mfma_units(const MfmaOption& option, const MfmaProblem& problem);

/// Workgroups that a compute unit holds.
int64_t mfma_residents(const MfmaOption& option, const MfmaProblem& problem);

/// The main loop's work in one step.
kernel::PipeWork mfma_step(const MfmaOption& option,
                           const MfmaProblem& problem,
                           const MfmaConstants& constants);

/// The fastest few by the formula above, fastest first; empty if nothing fits into LDS.
std::vector<MfmaOption> mfma_choice(const MfmaTable& table, const MfmaProblem& problem);

kernel::Profile mfma_profile(const MfmaOption& option,
                             const MfmaProblem& problem,
                             const MfmaConstants& constants);

/// The tile, k-step and slices of a name such as a profile's ("bf16_MT256x128x64_split4") or
/// hipBLASLt's ("..._MT256x128x64_MI..."), where an element of A has `in` bytes; none in others.
std::optional<MfmaOption> parse_mfma(std::string_view name, double in);

/// Section "mfma".
std::unique_ptr<Family> read_mfma(machine::NumberFile& file);

}  // namespace orrery::library
