// PyTorch's kernels over rows: pointwise, norms, softmax, gather.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/library_internal.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

int64_t whole(double value) {
  return static_cast<int64_t>(std::min(9e15, value));
}

kernel::Traffic streamed(double read, double write) {
  return {.unique_read = Bytes(read),
          .recent_read = Bytes(read),
          .unique_write = Bytes(write),
          .dram_read = Bytes(read),
          .dram_write = Bytes(write),
          .l2_read = Bytes(read),
          .l2_write = Bytes(write)};
}

// What an operator costs: its own entry, or that of the kind it is like.
double entry(const std::map<std::string, double, std::less<>>& table, std::string_view op) {
  const std::string_view kind = op == "sigmoid" ? "tanh" : op == "gelu_tanh" ? "gelu" : op;
  const auto at = table.find(kind);
  return at != table.end() ? at->second : table.find("simple")->second;
}

// vectorized_elementwise_kernel: 128 threads of 8 elements each (87 of 87 launches);
// elementwise_kernel<128, 4> for operands that are not contiguous: 4 elements a thread, 2 of 4
// bytes.
Result<Candidates> pointwise(const RowsCall& call,
                             const PointwiseTable& table,
                             const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double elements = product(call.rows, call.cols);
  const bool broadcast = call.op == "bias_add" || call.op == "broadcast_mul";
  const bool strided = call.strided || broadcast;
  const int reads = table.reads.find(call.op)->second;
  const double each = strided ? (size >= 4 ? 2 : 4) : call.op == "cast_fp32" ? 4 : 8;
  const std::string_view kind = strided ? std::string_view("strided") : call.op;
  const double thread =
      entry(table.instructions, kind) * each + (strided ? table.strided_thread : 0);
  const double warps = 4;
  Profile profile;
  profile.kernel = strided             ? "elementwise_kernel"
                   : call.op == "copy" ? "memcpy"
                                       : "vectorized_elementwise_kernel";
  profile.family = "pointwise";
  profile.threads = 128;
  profile.units = whole(std::ceil(elements / (128 * each)));
  profile.ctas = profile.units;
  profile.ctas_per_sm = occupancy(chip.core, profile.threads, 32, 0);
  ProfilePhase phase;
  phase.name = "elements";
  phase.work.issue = Instructions(warps * thread);
  phase.work.l2_read = Bytes(128 * each * size * reads);
  phase.work.l2_write = Bytes(128 * each * (call.op == "cast_fp32" ? 4 : size));
  phase.chain.memory = reads > 0 ? 1 : 0;
  phase.chain.fixed = Cycles(entry(table.chain, kind));
  profile.kinds.push_back({static_cast<double>(profile.units), {phase}});
  const double write = elements * (call.op == "cast_fp32" ? 4 : size);
  profile.traffic =
      streamed(elements * size * reads + (broadcast ? product(call.cols, size) : 0), write);
  profile.behaviour.overlap = chip.overlap.streaming;
  return Candidates{{std::move(profile)}};
}

// vectorized_layer_norm_kernel: 1 row = 1 block of 32x4 threads (28 of 28 launches), 16 blocks an
// SM (12 for fp32 layer_norm: 39 registers). It walks the row in dependent rounds of 4 elements a
// thread, twice.
Result<Candidates> norm(const RowsCall& call, const NormTable& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const bool layer = call.op == "layer_norm";
  const double row = product(call.cols, size);
  Profile profile;
  profile.kernel = "vectorized_layer_norm_kernel";
  profile.family = "row_norm";
  profile.threads = 128;
  profile.units = call.rows;
  profile.ctas = call.rows;
  profile.ctas_per_sm = occupancy(chip.core, 128, layer && size >= 4 ? 39 : 32, 0);
  const double resident =
      std::min(static_cast<double>(profile.ctas_per_sm),
               std::ceil(product(call.rows) / static_cast<double>(chip.core.count)));
  // L1 is what shared memory leaves of the SM's 256 KiB; a whole SM's rows have to fit.
  const bool beyond = resident * row > chip.core.shared_capacity.value();
  ProfilePhase walk;
  walk.name = "walk";
  walk.trips = std::ceil(static_cast<double>(call.cols) / 512);
  walk.work.issue =
      Instructions(4 * (table.instructions + (layer ? table.layer_norm_instructions : 0)));
  walk.work.l2_read = Bytes(512 * size * (beyond ? 2 : 1));
  walk.work.l2_write = Bytes(512 * size);
  walk.chain.memory = 1;
  walk.chain.fixed = Cycles((beyond ? table.beyond_l1 : 0) + (layer ? table.layer_norm : 0));
  ProfilePhase rest;
  rest.name = "statistics";
  rest.work.issue = Instructions(4 * table.instructions_unit);
  rest.chain.fixed = Cycles(table.unit);
  profile.kinds.push_back({static_cast<double>(call.rows), {walk, rest}});
  const double bytes = product(call.rows) * row;
  profile.traffic = streamed(bytes, bytes);
  // The second pass finds its row in L2 unless all rows in flight exceed it.
  const double in_flight = resident * static_cast<double>(chip.core.count) * row;
  if (in_flight > chip.l2.capacity.value()) {
    profile.traffic.dram_read = Bytes(2 * bytes);
  }
  return Candidates{{std::move(profile)}};
}

// softmax_warp_forward up to 2048 columns: one warp a row (two rows for at most 128 columns), 4
// warps a block. Beyond: a block of 1024 threads a row, issue-bound, so a second resident block
// does not help.
Result<Candidates> softmax(const RowsCall& call,
                           const SoftmaxTable& table,
                           const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double bytes = product(call.rows, call.cols, size);
  Profile profile;
  profile.family = "softmax";
  profile.traffic = streamed(bytes, bytes);
  ProfilePhase phase;
  phase.name = "row";
  phase.chain.memory = 1;
  if (call.cols <= 2048) {
    const int64_t width = int64_t{1}
                          << static_cast<int>(std::ceil(std::log2(static_cast<double>(call.cols))));
    const int64_t lanes = std::min<int64_t>(32, width);
    const int64_t rows = width <= 128 ? 2 : 1;  // of a warp
    profile.kernel = "softmax_warp_forward";
    profile.threads = 128;
    profile.units = ceil_div(call.rows, 4 * (32 / lanes) * rows);
    profile.ctas_per_sm = occupancy(chip.core, 128, width <= 128 ? 24 : 40 + width / 64, 0);
    phase.work.issue = Instructions(4 * static_cast<double>(rows) *
                                    (40 + table.instructions * static_cast<double>(width / lanes)));
    phase.chain.fixed = Cycles(table.chain * static_cast<double>(width / lanes));
  } else {
    profile.kernel = "cunn_SoftMaxForward";
    profile.threads = 1024;
    profile.units = call.rows;
    profile.ctas_per_sm = 1;
    phase.chain.fixed = Cycles(table.unit + table.trip * static_cast<double>(call.cols) / 1024);
  }
  phase.work.l2_read = Bytes(bytes / static_cast<double>(profile.units));
  phase.work.l2_write = phase.work.l2_read;
  profile.ctas = profile.units;
  profile.kinds.push_back({static_cast<double>(profile.units), {phase}});
  return Candidates{{std::move(profile)}};
}

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

}  // namespace

Result<Candidates> rows_candidates(const RowsCall& call,
                                   const Library::Tables& tables,
                                   const machine::Chip& chip) {
  if (tables.pointwise.reads.find(call.op) != tables.pointwise.reads.end()) {
    return pointwise(call, tables.pointwise, chip);
  }
  if (call.op == "rms_norm" || call.op == "layer_norm") {
    return norm(call, tables.norm, chip);
  }
  if (call.op == "softmax") {
    return softmax(call, tables.softmax, chip);
  }
  if (call.op == "embedding" || call.op == "gather_rows") {
    return gather(call, tables.gather, chip);
  }
  return make_error(ErrorCode::Unsupported,
                    "[library.rows] {} has no rule for the operator '{}'",
                    tables.id,
                    call.op);
}

}  // namespace orrery::library
