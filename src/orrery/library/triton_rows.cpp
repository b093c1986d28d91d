// Triton kernels of TorchInductor: launch geometry by its heuristics, counts per element.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/triton_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/warp_counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

struct Table {
  CountTable counts;
  double reduce = 0;  // clocks of one reduction across a block
  double reread = 0;  // clocks until a row's second walk has its first values, from L1
  double registers = 0;
  double error = 0;
};

int64_t power_of_two(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, value))));
}

// What a block does: so many threads on so many rows of so many columns at a time.
struct Geometry {
  double threads = 128;
  double blocks = 1;
  double each = 1;   // elements of a thread in a trip
  double trips = 1;  // along a row
};

// pointwise() and triton_config() of torch/_inductor/runtime/triton_heuristics.py: blocks of
// max(256, min(n / 128, 1024)) elements, 256 elements a warp, but 4 warps from 128 elements on.
Geometry pointwise_geometry(double elements) {
  const int64_t n = power_of_two(whole(elements));
  const int64_t block = std::min(n, std::clamp<int64_t>(n / 128, 256, 1024));
  Geometry geometry;
  const int64_t warps = block >= 128 ? 4 : 1;
  geometry.threads = static_cast<double>(32 * warps);
  geometry.blocks = std::ceil(elements / static_cast<double>(block));
  geometry.each = std::max(1.0, static_cast<double>(block) / geometry.threads);
  return geometry;
}

// persistent_reduction() up to 1024 columns: a row a block, r / 128 warps. Beyond,
// _reduction_configs() also offers one block for the whole row while it has at most 8 loads and
// reductions, and 2048 columns at a time in up to 16 warps (32 beyond 8192 columns); of up to 2048
// columns a block has two rows.
Geometry reduction_geometry(const FusedCall& call) {
  const int64_t r = power_of_two(call.cols);
  const auto loads = static_cast<int64_t>(call.reads.size());
  const bool one_trip = r <= 32768 && loads + call.reductions <= 8;
  const int64_t block = r <= 1024 || one_trip ? r : std::min<int64_t>(r, 2048);
  const int64_t warps = std::clamp<int64_t>(block / 128, 2, block <= 8192 ? 16 : 32);
  const int64_t rows = block == r && r == 2048 ? 2 : 1;  // of a block
  Geometry geometry;
  geometry.threads = static_cast<double>(32 * warps);
  geometry.blocks = std::ceil(product(call.rows) / static_cast<double>(rows));
  geometry.trips = std::ceil(product(call.cols) / static_cast<double>(block));
  geometry.each = std::max(1.0, product(rows, call.cols) / geometry.trips / geometry.threads);
  return geometry;
}

double bytes_of(const std::vector<FusedOperand>& operands) {
  double bytes = 0;
  for (const FusedOperand& operand : operands) {
    bytes += product(operand.elements) * element_size(operand.dtype).value();
  }
  return bytes;
}

double recent_bytes(const FusedCall& call) {
  double bytes = 0;
  for (const FusedOperand& operand : call.reads) {
    bytes += operand.resident ? 0 : product(operand.elements) * element_size(operand.dtype).value();
  }
  return bytes;
}

// Instructions of a warp for one element of each lane.
WarpCounts element_counts(const FusedCall& call, const Table& table, bool reads, bool writes) {
  WarpCounts counts;
  if (reads) {
    counts = product(call.reads.size()) * table.counts.of("load") + counts;
  }
  if (writes) {
    counts = product(call.writes.size()) * table.counts.of("store") + counts;
    for (const std::string& op : call.ops) {
      counts = table.counts.of(table.counts.has(op) ? op : "other") + counts;
    }
  }
  return counts;
}

// Of a warp, once.
WarpCounts warp_counts(const FusedCall& call, const Table& table) {
  return table.counts.of("warp") +
         product(call.reads.size() + call.writes.size()) * table.counts.of("operand");
}

ProfilePhase pointwise_phase(const FusedCall& call, const Table& table, const Geometry& geometry) {
  const double warps = geometry.threads / 32;
  const WarpCounts each = element_counts(call, table, true, true);
  ProfilePhase phase;
  phase.name = "elements";
  phase.work = work_of(warp_counts(call, table) + geometry.each * each, warps);
  phase.work.l2_read = Bytes(bytes_of(call.reads) / geometry.blocks);
  phase.work.l2_write = Bytes(bytes_of(call.writes) / geometry.blocks);
  // A look-up waits for its index.
  const bool indexed = std::find(call.ops.begin(), call.ops.end(), "embedding") != call.ops.end();
  phase.chain.memory = indexed ? 2 : 1;
  phase.chain.fixed = Cycles(each.chain);
  return phase;
}

// A row: loads and statistics, the exchange across the block, and the walk that applies them, whose
// operands are in L1 by then.
std::vector<ProfilePhase> reduction_phases(const FusedCall& call,
                                           const Table& table,
                                           const Geometry& geometry) {
  const double warps = geometry.threads / 32;
  const WarpCounts loads = element_counts(call, table, true, false);
  const WarpCounts rest = element_counts(call, table, geometry.trips > 1, true);
  ProfilePhase walk;
  walk.name = "statistics";
  walk.trips = geometry.trips;
  walk.work = work_of(geometry.each * loads, warps);
  walk.work.l2_read = Bytes(bytes_of(call.reads) / geometry.blocks / geometry.trips);
  walk.chain.memory = 1;
  ProfilePhase exchange;
  exchange.name = "reduction";
  const double rounds = product(call.reductions);
  exchange.work = work_of(warp_counts(call, table) + rounds * table.counts.of("exchange"), warps);
  exchange.chain.fixed = Cycles(rounds * table.reduce);
  exchange.chain.barriers = 2 * rounds;
  ProfilePhase apply;
  apply.name = "apply";
  apply.trips = geometry.trips;
  apply.work = work_of(geometry.each * rest, warps);
  apply.work.l2_write = Bytes(bytes_of(call.writes) / geometry.blocks / geometry.trips);
  apply.chain.fixed = Cycles(rest.chain + (geometry.trips > 1 ? table.reread : 0));
  return {walk, exchange, apply};
}

// Inside of a neighbour's kernel: what it moves besides.
Profile absorbed(const FusedCall& call) {
  Profile profile;
  profile.kernel = "absorbed_" + call.ops.front();
  profile.family = "fused";
  profile.programmatic_launch = true;
  profile.ctas_per_sm = 1;
  const double read = bytes_of(call.reads);
  profile.traffic = streamed(read, bytes_of(call.writes));
  profile.traffic.recent_read = Bytes(recent_bytes(call));
  profile.behaviour.overlap = 1;
  profile.reasons = {"runs inside of the products and attentions beside it"};
  return profile;
}

Profile generated(const FusedCall& call, const Table& table, const machine::Chip& chip) {
  const bool reduces = call.reductions > 0;
  const Geometry geometry =
      reduces ? reduction_geometry(call) : pointwise_geometry(product(call.rows, call.cols));
  Profile profile = resident_kernel(
      fmt::format("triton_{}_fused_{}", reduces ? "red" : "poi", fmt::join(call.ops, "_")),
      "fused",
      chip,
      {static_cast<int64_t>(geometry.threads), static_cast<int64_t>(table.registers)});
  profile.behaviour.single_pass = !reduces;
  profile.traffic = streamed(bytes_of(call.reads), bytes_of(call.writes));
  profile.traffic.recent_read = Bytes(recent_bytes(call));
  if (reduces) {
    set_units(profile, {{geometry.blocks, reduction_phases(call, table, geometry)}});
    profile.reasons = {
        fmt::format("blocks of {} threads, {} trip{} along a row (triton_heuristics.py: reduction)",
                    geometry.threads,
                    geometry.trips,
                    geometry.trips > 1 ? "s" : "")};
  } else {
    set_units(profile, {{geometry.blocks, {pointwise_phase(call, table, geometry)}}});
    profile.reasons = {
        fmt::format("blocks of {} threads, {} elements each (triton_heuristics.py: "
                    "pointwise)",
                    geometry.threads,
                    geometry.each)};
  }
  return profile;
}

class TritonRows final : public Family {
 public:
  explicit TritonRows(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override { return std::holds_alternative<FusedCall>(call); }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& fused = std::get<FusedCall>(call);
    Profile profile = fused.absorbed ? absorbed(fused) : generated(fused, table_, chip);
    profile.behaviour.relative_error = table_.error;
    return Candidates{{std::move(profile)}};
  }

 private:
  Table table_;
};

}  // namespace

std::unique_ptr<Family> read_triton_rows(machine::NumberFile& file) {
  Table table;
  table.counts = CountTable(
      file,
      "triton.counts",
      {"warp", "operand", "load", "store", "exchange", "add", "mul", "silu", "rms_norm", "other"});
  table.reduce = cycles(file, "triton.reduce");
  table.reread = cycles(file, "triton.reread");
  table.registers = file.number("triton.registers", machine::Unit::One, machine::Range::Count);
  table.error = error_of(file, "triton");
  return std::make_unique<TritonRows>(std::move(table));
}

}  // namespace orrery::library
