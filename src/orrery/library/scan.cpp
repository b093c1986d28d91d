// PyTorch's scan along rows: tensor_kernel_scan_innermost_dim, and CUB's scan for a single row.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/launch.h"
#include "orrery/library/warp_counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using machine::NumberFile;

struct ScanTable {
  CountTable counts;  // issue slots of a warp
  double chunk_slots = 0;
  double level_slots = 0;
  double wide_saves = 0;
  double tile = 0;
  double look_back = 0;
  double error = 0;
};

// A block of x * y = 512 threads walks y rows in chunks of 2 x: load two values a thread,
// Sklansky's scan in shared memory in log2(x) + 1 levels with a barrier each, store. A chunk waits
// for the one before it, and so do the other blocks of an SM: they started together.
Profile scan_rows(const RowsCall& call, const ScanTable& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const int64_t log_x = log_threads_x(call.rows, call.cols);
  const int64_t x = int64_t{1} << log_x;
  const int64_t y = 512 / x;
  const auto levels = static_cast<double>(log_x + 1);
  const double bytes = product(call.rows, call.cols, size);
  const double slots = table.chunk_slots + table.level_slots * static_cast<double>(log_x) -
                       (size >= 4 ? table.wide_saves : 0);
  Profile profile =
      profile_of({.kernel = "tensor_kernel_scan_innermost_dim",
                  .family = "scan",
                  .blocks = static_cast<double>(ceil_div(call.rows, y)),
                  .threads = 512,
                  .registers = 32,
                  .shared = 1024 * size,
                  .phases = {phase({.name = "chunk",
                                    .trips = static_cast<double>(ceil_div(call.cols, 2 * x)),
                                    .warps = 16,
                                    .slots = slots,
                                    .l2_read = 1024 * size,
                                    .l2_write = 1024 * size,
                                    .memory = 1,
                                    .shared = 2 * levels + 2,
                                    .barriers = levels + 2,
                                    .instructions = 7 * levels,  // addresses, conversions, addition
                                    .in_step = true},
                                   chip)},
                  .moved = {.read = bytes, .write = bytes},
                  .overlap = 1,
                  .error = table.error},
                 chip);
  profile.reasons.push_back(fmt::format(
      "ScanUtils.cuh, get_log_num_threads_x_inner_scan: {} threads along a row, {} rows a block{}",
      x,
      y,
      log_x == 9 && call.cols < x ? "; the unsigned difference wrapped" : ""));
  return profile;
}

// cub::DeviceScan: an init kernel, then blocks of 128 threads and 15 words a thread that look back
// at their predecessors' sums; 2-byte sums do not fit a word with their flag and take a fence more.
std::vector<Profile> scan_row(const RowsCall& call,
                              const ScanTable& table,
                              const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double tile = 128 * 15 * 4 / size;
  const double bytes = product(call.cols, size);
  const double blocks = std::max(1.0, bytes / (tile * size));
  const double look_back = blocks > 1 ? table.look_back * (size < 4 ? 2 : 1) : 0;
  const Launch like{.kernel = "", .family = "scan", .error = table.error};
  Profile profile =
      profile_of({.kernel = "cub::DeviceScanKernel",
                  .family = "scan",
                  .blocks = blocks,
                  .threads = 128,
                  .registers = size < 4 ? 80 : 48,
                  .shared = 7696,
                  .phases = {phase({.name = "tile",
                                    .warps = 4,
                                    .slots = table.counts.of("device", call.dtype).issue,
                                    .l2_read = tile * size,
                                    .l2_write = tile * size,
                                    .memory = 1,
                                    .fixed = table.tile + look_back},
                                   chip)},
                  .moved = {.read = bytes, .write = bytes},
                  .error = table.error},
                 chip);
  profile.reasons.emplace_back("ScanUtils.cuh, scan_dim: a single row is cub::DeviceScan's");
  return {small_node("cub::DeviceScanInitKernel", like, chip), std::move(profile)};
}

class Scan final : public Family {
 public:
  explicit Scan(ScanTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && rows->op == "cumsum";
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    ORR_TRY_VOID(check_value_size(rows, "scan"));
    if (rows.rows == 1) {
      return Candidates{scan_row(rows, table_, chip)};
    }
    return Candidates{{scan_rows(rows, table_, chip)}};
  }

 private:
  ScanTable table_;
};

int64_t log_2_up(int64_t value) {
  return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(value) - 1));
}

}  // namespace

int64_t log_threads_x(int64_t rows, int64_t row_size) {
  const int64_t difference = 9 + log_2_up(row_size) - log_2_up(rows);
  return difference < 0 ? 9 : std::clamp<int64_t>(difference / 2, 4, 9);
}

std::unique_ptr<Family> read_scan(NumberFile& file) {
  return std::make_unique<Scan>(ScanTable{.counts = CountTable(file, "scan.counts", {"device"}),
                                          .chunk_slots = one(file, "scan.chunk_slots"),
                                          .level_slots = one(file, "scan.level_slots"),
                                          .wide_saves = one(file, "scan.wide_saves"),
                                          .tile = cycles(file, "scan.tile"),
                                          .look_back = cycles(file, "scan.look_back"),
                                          .error = error_of(file, "reduction")});
}

}  // namespace orrery::library
