// PyTorch's gathers of rows.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/rows.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::NumberFile;

struct GatherTable {
  double unit = 0;
  double error = 0;
};

// vectorized_gather_kernel: blocks of min(256, row / 16 bytes) threads in whole warps, one block
// per row and 4 KiB of it (14 of 14 launches); the row's address depends on an index that is loaded
// first.
Result<Candidates> gather(const RowsCall& call,
                          const GatherTable& table,
                          const machine::Chip& chip) {
  const double row = product(call.cols, element_size(call.dtype).value());
  Profile profile;
  profile.kernel = "vectorized_gather_kernel";
  profile.family = "gather";
  profile.behaviour.relative_error = table.error;
  profile.threads = static_cast<int64_t>(std::clamp(32 * std::ceil(row / 16 / 32), 32.0, 256.0));
  const double pieces = std::ceil(row / 4096);
  profile.units = whole(product(call.rows) * pieces);
  profile.ctas = profile.units;
  profile.ctas_per_sm = occupancy(chip.core, profile.threads, 32, 0);
  ProfilePhase phase;
  phase.name = "row";
  phase.work.l2_read = Bytes(row / pieces);
  phase.work.l2_write = Bytes(row / pieces);
  phase.work.issue = Instructions(40 * static_cast<double>(profile.threads) / 32);
  phase.chain.memory = 2;
  phase.chain.fixed = Cycles(table.unit);
  profile.kinds.push_back({static_cast<double>(profile.units), {phase}});
  const double bytes = product(call.rows) * row;
  // Random rows of a table of as many rows: 1 - 1/e of them are different ones. An embedding picks
  // few of many.
  const double different = call.op == "gather_rows" && call.rows > 1 ? 1 - std::exp(-1.0) : 1.0;
  profile.traffic = streamed(different * bytes, bytes);
  profile.traffic.recent_read = Bytes(0.0);  // a table of weights
  return Candidates{{std::move(profile)}};
}

class Gather final : public Family {
 public:
  explicit Gather(GatherTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && (rows->op == "embedding" || rows->op == "gather_rows");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    return gather(std::get<RowsCall>(call), table_, chip);
  }

 private:
  GatherTable table_;
};

}  // namespace

std::unique_ptr<Family> read_gather(NumberFile& file) {
  return std::make_unique<Gather>(
      GatherTable{.unit = cycles(file, "gather.unit"), .error = error_of(file, "gather")});
}

}  // namespace orrery::library
