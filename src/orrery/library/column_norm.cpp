// PyTorch's group and batch norm: group_norm_kernel.cu and Normalization.cuh of ATen/native/cuda.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "orrery/library/counts.h"
#include "orrery/library/row_norm_internal.h"

namespace orrery::library {

using kernel::Profile;
using kernel::ProfilePhase;

namespace {

// RowwiseMomentsCUDAKernel: one block a group, of one warp for fewer than 512 elements, else of 16.
Profile group_moments(const RowsCall& call,
                      double groups,
                      const NormTable& table,
                      const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double units = product(call.rows) * groups;
  const double each = product(call.cols) / groups;
  const double threads = each < 512 ? 32 : 512;
  Profile profile = resident_kernel(
      "RowwiseMomentsCUDAKernel", "group_norm", chip, {static_cast<int64_t>(threads), 27});
  const double elements = std::ceil(each / threads);
  const WarpCounts per = table.counts.of("group_element", call.dtype);
  ProfilePhase phase;
  phase.name = "group";
  phase.work = work_of(table.counts.of("group", call.dtype) + elements * per, threads / 32);
  phase.work.l2_read = Bytes(each * size);
  phase.chain.memory = elements;
  phase.chain.fixed =
      Cycles(table.chain.at("group_unit") + elements * table.chain.at("group_element"));
  set_units(profile, {{units, {phase}}});
  profile.traffic = streamed(units * each * size, 2 * units * size);
  profile.reasons = {"moments of each group (group_norm_kernel.cu)"};
  return profile;
}

// The normalisation itself is an elementwise_kernel of five operands, four of them broadcast.
Profile group_apply(const RowsCall& call, const NormTable& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double elements = product(call.rows, call.cols);
  const double each = size >= 4 ? 2 : 4;
  Profile profile = resident_kernel("elementwise_kernel", "group_norm", chip, {128, 26});
  const WarpCounts counts = table.counts.of("group_apply", call.dtype);
  ProfilePhase phase;
  phase.name = "elements";
  phase.work = work_of(counts, 4);
  phase.work.l2_read = Bytes(128 * each * size);
  phase.work.l2_write = phase.work.l2_read;
  phase.chain.memory = each;
  phase.chain.fixed = Cycles(counts.chain);
  set_units(profile, {{std::ceil(elements / (128 * each)), {phase}}});
  profile.traffic = streamed(elements * size, elements * size);
  profile.traffic.scratch_read = Bytes(elements * size);
  profile.traffic.recent_read = Bytes(0.0);
  profile.reasons = {"normalisation with broadcast operands (CUDALoops.cuh)"};
  return profile;
}

// Channels-last kernels of batch norm (flexible_launch_configs in Normalization.cuh): blocks of 512
// threads over columns x rows, 16 rows a thread at most where the grid can have up to 128 blocks of
// rows.
struct ColumnGrid {
  double wide = 32;
  double high = 16;
  double blocks = 1;  // along the rows
  double rows = 0;    // of a thread
};

// lastPow2: the largest power of two that is no larger.
double last_power(double value) {
  return std::exp2(std::floor(std::log2(value)));
}

ColumnGrid column_grid(const RowsCall& call, bool all_or_one) {
  ColumnGrid grid;
  const double rows = product(call.rows);
  const double power = last_power(product(call.cols));
  grid.wide = std::min(power, 32.0);
  grid.high = std::min(last_power(std::ceil(rows / 16)), 512 / grid.wide);
  if (grid.wide * grid.high < 512) {
    grid.wide = std::min(power, 512 / grid.high);
  }
  grid.blocks = std::min(128.0, std::ceil(rows / (grid.high * 16)));
  if (all_or_one && grid.blocks < 8) {
    grid.blocks = 1;  // too few to be worth a hand-over between blocks
  }
  grid.rows = std::ceil(rows / (grid.high * grid.blocks));
  return grid;
}

Profile batch_walk(const RowsCall& call,
                   const NormTable& table,
                   const machine::Chip& chip,
                   bool statistics) {
  const double size = element_size(call.dtype).value();
  const ColumnGrid grid = column_grid(call, statistics);
  const double elements = product(call.rows, call.cols);
  Profile profile =
      resident_kernel(statistics ? "batch_norm_collect_statistics_channels_last_kernel"
                                 : "batch_norm_transform_input_channels_last_kernel",
                      "batch_norm",
                      chip,
                      {static_cast<int64_t>(grid.wide * grid.high), statistics ? 40 : 32});
  profile.behaviour.streams = 8;
  const char* unit = statistics ? "batch" : "batch_apply";
  const char* row = statistics ? "batch_row" : "batch_apply_row";
  ProfilePhase phase;
  phase.name = "rows";
  phase.work =
      work_of(table.counts.of(unit, call.dtype) + grid.rows * table.counts.of(row, call.dtype),
              grid.wide * grid.high / 32);
  phase.work.l2_read = Bytes(grid.wide * grid.high * grid.rows * size);
  phase.work.l2_write = Bytes(statistics ? 0.0 : phase.work.l2_read.value());
  phase.chain.memory = std::ceil(grid.rows / 4);  // four rows are loaded together
  phase.chain.fixed = Cycles(table.chain.at(statistics ? "batch_unit" : "batch_apply") +
                             grid.rows * (statistics ? table.chain.at("batch_row") : 0));
  set_units(profile, {{std::ceil(product(call.cols) / grid.wide) * grid.blocks, {phase}}});
  profile.traffic = streamed(elements * size, statistics ? 0 : elements * size);
  if (!statistics) {
    profile.traffic.scratch_read = profile.traffic.unique_read;
    profile.traffic.recent_read = Bytes(0.0);
  } else if (grid.blocks > 1) {
    profile.extra_nodes = 1;  // zeroes the counters with which blocks hand over
  }
  profile.reasons = {"channels-last kernels (Normalization.cuh)"};
  return profile;
}

// Mean, inverse deviation and running statistics: one value a column.
Profile batch_update(const RowsCall& call, const NormTable& table, const machine::Chip& chip) {
  Profile profile = resident_kernel("unrolled_elementwise_kernel", "batch_norm", chip, {128, 30});
  const WarpCounts counts = table.counts.of("batch_update", call.dtype);
  ProfilePhase phase;
  phase.name = "columns";
  phase.work = work_of(counts, 4);
  phase.chain.memory = 1;
  phase.chain.fixed = Cycles(counts.chain);
  set_units(profile, {{std::ceil(product(call.cols) / 512), {phase}}});
  profile.traffic = streamed(16 * product(call.cols), 12 * product(call.cols));
  profile.traffic.scratch_read = profile.traffic.unique_read;
  profile.traffic.recent_read = Bytes(0.0);
  profile.reasons = {"running statistics (Normalization.cuh)"};
  return profile;
}

}  // namespace

std::vector<Profile> group_norm(const RowsCall& call,
                                const NormTable& table,
                                const machine::Chip& chip) {
  const double groups = call.cols % 32 == 0 ? 32 : 1;
  return {group_moments(call, groups, table, chip), group_apply(call, table, chip)};
}

std::vector<Profile> batch_norm(const RowsCall& call,
                                const NormTable& table,
                                const machine::Chip& chip) {
  return {batch_walk(call, table, chip, true),
          batch_update(call, table, chip),
          batch_walk(call, table, chip, false)};
}

}  // namespace orrery::library
