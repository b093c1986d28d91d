// PyTorch's transposing copy: elementwise_kernel, whose lanes read one column.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/transpose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "orrery/library/counts.h"
#include "orrery/library/launch.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using machine::NumberFile;

struct TransposeTable {
  double slots = 0;
  double slots_wide = 0;
  double lone_sector = 0;
  double wait = 0;
  double error = 0;
};

// x.t().contiguous() is Copy.cu's elementwise_kernel<128, 4> (2 elements a thread of 4 bytes),
// threads in the order of the result: neighbours read neighbouring rows, so each element draws a
// sector of its own from L2, alone in its line, which occupies an SM's port for longer than its 32
// bytes. Within a block a sector is used again only if a column of the result is shorter than the
// block. The same data are read by 16 (8) other blocks soon after: they come from L2.
Profile transpose(const RowsCall& call, const TransposeTable& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const bool wide = size >= 4;
  const double elements = wide ? 256 : 512;  // of a block
  const double sectors = elements * std::min(1.0,
                                             std::max(static_cast<double>(call.rows) / elements,
                                                      size / chip.l2.sector.value()));
  const double bytes = product(call.rows, call.cols, size);
  Profile profile =
      profile_of({.kernel = wide ? "elementwise_kernel<128, 2>" : "elementwise_kernel<128, 4>",
                  .family = "transpose",
                  .blocks = bytes / size / elements,
                  .threads = 128,
                  .registers = 18,
                  .phases = {phase({.name = "wait", .memory = 1, .fixed = table.wait}, chip),
                             phase({.name = "sectors",
                                    .warps = 4,
                                    .slots = wide ? table.slots_wide : table.slots,
                                    .l2_read = sectors * table.lone_sector,
                                    .l2_write = elements * size},
                                   chip)},
                  .moved = {.read = bytes, .write = bytes},
                  .overlap = chip.overlap.streaming,
                  .error = table.error},
                 chip);
  profile.reasons.push_back(fmt::format(
      "Copy.cu: lanes read a column, {:.0f} sectors of {:.0f} bytes for {:.0f} elements",
      sectors,
      chip.l2.sector.value(),
      elements));
  return profile;
}

class Transpose final : public Family {
 public:
  explicit Transpose(TransposeTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && rows->op == "transpose";
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    ORR_TRY_VOID(check_value_size(rows, "transpose"));
    return Candidates{{transpose(rows, table_, chip)}};
  }

 private:
  TransposeTable table_;
};

}  // namespace

std::unique_ptr<Family> read_transpose(NumberFile& file) {
  return std::make_unique<Transpose>(
      TransposeTable{.slots = one(file, "transpose.slots"),
                     .slots_wide = one(file, "transpose.slots_wide"),
                     .lone_sector = file.number("transpose.lone_sector", machine::Unit::Bytes),
                     .wait = cycles(file, "transpose.wait"),
                     .error = error_of(file, "reduction")});
}

}  // namespace orrery::library
