// PyTorch's kernels that take or add rows by index.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/gather.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orrery/library/counts.h"
#include "orrery/library/launch.h"
#include "orrery/library/warp_counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using machine::NumberFile;

struct GatherTable {
  CountTable counts;  // issue slots of a warp
  double row = 0;
  double restart = 0;
  double few_row = 0;
  double few_unit = 0;
  double odd = 0;
  double add_slots = 0;
  double add_slots_wide = 0;
  double add_drain = 0;
  double error = 0;
};

// Indexing.cu: up to 16 indices, blocks own columns and walk the indices one after the other.
constexpr int64_t kFewIndices = 16;
// Grids of index kernels: at most 8 blocks of 128 threads an SM.
constexpr int64_t kBlocksPerSm = 8;

// What a gather of rows moves.
struct Rows {
  double size = 2;       // bytes of a value
  double row = 0;        // bytes of a row
  double moved = 0;      // bytes of all rows taken
  double different = 1;  // share of them that are the first of their row
  double indices = 0;    // bytes of the indices
};

Rows rows_of(const RowsCall& call) {
  Rows rows;
  rows.size = element_size(call.dtype).value();
  rows.row = product(call.cols, rows.size);
  rows.moved = product(call.rows) * rows.row;
  const auto draws = static_cast<double>(call.rows);
  const double table = call.op == "embedding" ? kEmbeddingRows : draws;
  rows.different = different_rows(draws, table) / draws;
  rows.indices = 8 * draws;
  return rows;
}

// A repeated row comes from L2 if what is taken in between fits: blocks sweep all rows' first 4
// KiB, then their next.
double drawn_again(const Rows& rows, const RowsCall& call, const machine::Chip& chip) {
  const double swept = product(call.rows) * std::min(rows.row, 4096.0);
  return (1 - rows.different) * rows.moved * (1 - machine::resident_share(swept, chip.l2));
}

// indexSelectSmallIndex: index, then row, one index after the other.
Profile few_rows(const RowsCall& call, const GatherTable& table, const machine::Chip& chip) {
  const Rows rows = rows_of(call);
  const int64_t threads = std::clamp<int64_t>(32 * ceil_div(call.cols, 32), 32, 128);
  const int64_t most = kBlocksPerSm * chip.core.count;
  const auto warps = static_cast<double>(threads) / 32;
  Profile profile = profile_of(
      {.kernel = "indexSelectSmallIndex",
       .family = "gather",
       .blocks = static_cast<double>(std::min(ceil_div(call.cols, threads), most)),
       .threads = threads,
       .phases = {phase({.name = "rows",
                         .trips = static_cast<double>(call.rows),
                         .warps = warps,
                         .slots = table.counts.of("few").issue,
                         .l2_read = static_cast<double>(threads) * rows.size,
                         .l2_write = static_cast<double>(threads) * rows.size,
                         .memory = 2,
                         .fixed = table.few_row},
                        chip),
                  phase({.name = "unit", .fixed = table.few_unit}, chip)},
       .moved = {.read = rows.different * rows.moved + rows.indices, .write = rows.moved},
       .error = table.error},
      chip);
  profile.reasons.emplace_back(
      "Indexing.cu, index_select: at most 16 indices, walked one after the other");
  return profile;
}

// vectorized_gather_kernel: min(256, row / 16 bytes) threads, one block a row and 4 KiB of it; rows
// that are no multiple of 16 bytes go element by element, 8 a thread, each with its index.
Profile gather_rows(const RowsCall& call, const GatherTable& table, const machine::Chip& chip) {
  const Rows rows = rows_of(call);
  const bool whole_vectors = std::fmod(rows.row, 16) == 0;
  const double pieces = whole_vectors ? std::ceil(rows.row / 4096) : rows.row / rows.size / 1024;
  const double threads =
      whole_vectors ? std::clamp(32 * std::ceil(rows.row / 16 / 32), 32.0, 256.0) : 128;
  const double bytes = rows.row / pieces;
  Profile profile = profile_of(
      {.kernel = whole_vectors ? "vectorized_gather_kernel" : "_scatter_gather_elementwise_kernel",
       .family = "gather",
       .blocks = product(call.rows) * pieces,
       .threads = static_cast<int64_t>(threads),
       .phases = {phase({.name = "row",
                         .warps = threads / 32,
                         .slots = table.counts.of(whole_vectors ? "row" : "odd").issue,
                         .l2_read = bytes,
                         .l2_write = bytes,
                         .memory = whole_vectors ? 2.0 : 8.0,
                         .fixed = whole_vectors ? table.row : table.odd},
                        chip)},
       .moved = {.read = rows.different * rows.moved + rows.indices,
                 .write = rows.moved,
                 .reread = drawn_again(rows, call, chip)},
       .overlap = chip.overlap.streaming,
       .restart = table.restart,
       .error = table.error},
      chip);
  profile.reasons.emplace_back(
      whole_vectors ? "IndexKernelUtils.cu, vectorized_gather_kernel: a block a row and 4 KiB"
                    : "ScatterGatherKernel.cu: rows are no multiple of 16 bytes, one by one");
  return profile;
}

// indexFuncLargeIndex: a grid of at most 8 blocks an SM strides over the elements: index, element,
// atomic addition; indexFuncSmallIndex for few indices. The kernel ends when the last addition has.
Profile index_add(const RowsCall& call, const GatherTable& table, const machine::Chip& chip) {
  const Rows rows = rows_of(call);
  const bool few = call.rows <= kFewIndices;
  const double slots = rows.size >= 4 ? table.add_slots_wide : table.add_slots;
  const double elements = product(call.rows, call.cols);
  const double wanted = std::ceil((few ? static_cast<double>(call.cols) : elements) / 128);
  const double blocks = std::min(wanted, product(kBlocksPerSm, chip.core.count));
  const double added = rows.different * rows.moved;
  Profile profile =
      profile_of({.kernel = few ? "indexFuncSmallIndex" : "indexFuncLargeIndex",
                  .family = "gather",
                  .blocks = blocks,
                  .threads = 128,
                  .phases = {phase({.name = "add",
                                    .trips = few ? static_cast<double>(call.rows)
                                                 : std::ceil(elements / (128 * blocks)),
                                    .warps = 4,
                                    .slots = slots,
                                    .l2_read = 128 * rows.size,
                                    .l2_write = 128 * rows.size,
                                    .memory = 2,
                                    .instructions = few ? 0 : slots,
                                    .fixed = few ? table.few_row : 0},
                                   chip),
                             phase({.name = "drain", .fixed = table.add_drain}, chip)},
                  .moved = {.read = rows.moved + added + rows.indices, .write = added},
                  .error = table.error},
                 chip);
  profile.reasons.push_back(
      fmt::format("Indexing.cu, index_add: {} indices, {}",
                  call.rows,
                  few ? "walked one after the other" : "a stride over all elements"));
  return profile;
}

class Gather final : public Family {
 public:
  explicit Gather(GatherTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr &&
           (rows->op == "embedding" || rows->op == "gather_rows" || rows->op == "index_add");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    ORR_TRY_VOID(check_value_size(rows, "gather"));
    if (rows.op == "index_add") {
      return Candidates{{index_add(rows, table_, chip)}};
    }
    const bool few = rows.rows <= kFewIndices;
    Profile profile = few ? few_rows(rows, table_, chip) : gather_rows(rows, table_, chip);
    profile.traffic.recent_read = Bytes(0.0);  // a table of weights
    return Candidates{{std::move(profile)}};
  }

 private:
  GatherTable table_;
};

}  // namespace

double different_rows(double draws, double rows) {
  return draws > 1 ? rows * -std::expm1(-draws / rows) : draws;
}

std::unique_ptr<Family> read_gather(NumberFile& file) {
  return std::make_unique<Gather>(
      GatherTable{.counts = CountTable(file, "gather.counts", {"few", "row", "odd"}),
                  .row = cycles(file, "gather.row"),
                  .restart = cycles(file, "gather.restart"),
                  .few_row = cycles(file, "gather.few_row"),
                  .few_unit = cycles(file, "gather.few_unit"),
                  .odd = cycles(file, "gather.odd"),
                  .add_slots = one(file, "gather.add_slots"),
                  .add_slots_wide = one(file, "gather.add_slots_wide"),
                  .add_drain = cycles(file, "gather.add_drain"),
                  .error = error_of(file, "reduction")});
}

}  // namespace orrery::library
