// PyTorch's cross entropy (SoftMax.cu, Loss.cu) and fused AdamW (FusedAdamWKernel.cu,
// MultiTensorApply.cuh).
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/softmax_internal.h"

namespace orrery::library {

using kernel::Profile;
using kernel::ProfilePhase;

namespace {

struct Table {
  SoftmaxTable softmax;
  CountTable counts;
  double loss_unit = 0;
  double loss_row = 0;
  double optimizer_unit = 0;
  double optimizer_trip = 0;
  double error = 0;
};

// nll_loss_forward_reduce_cuda_kernel_2d: one block, 32 threads or a power of two near a sixteenth
// of the rows (nll_loss_threads in Loss.cu); each thread loads a target, then the row's value
// there.
Profile loss(const RowsCall& call, const Table& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double rows = product(call.rows);
  const double threads =
      std::clamp(std::exp2(std::round(std::log2(std::max(1.0, rows / 16)))), 32.0, 1024.0);
  Profile profile = resident_kernel("nll_loss_forward_reduce_cuda_kernel_2d",
                                    "cross_entropy",
                                    chip,
                                    {static_cast<int64_t>(threads), 32});
  ProfilePhase walk;
  walk.name = "rows";
  walk.trips = std::ceil(rows / threads);
  walk.work = work_of(table.counts.of("loss_row", call.dtype), threads / 32);
  walk.chain.memory = 2;
  walk.chain.fixed = Cycles(table.loss_row);
  ProfilePhase sum;
  sum.name = "sum";
  sum.work = work_of(table.counts.of("loss", call.dtype), threads / 32);
  sum.chain.fixed = Cycles(table.loss_unit);
  set_units(profile, {{1, {walk, sum}}});
  // A sector of each row and a target; whether they are in L2, the whole of the rows decides.
  const double all = rows * product(call.cols) * size;
  profile.traffic = streamed(all, 8);
  profile.traffic.scratch_read = Bytes(all);
  profile.traffic.recent_read = Bytes(0.0);
  profile.traffic.dram_read = Bytes(std::min(all, rows * 72));
  profile.traffic.l2_read = profile.traffic.dram_read;
  profile.reasons = {"one block gathers the rows' losses (Loss.cu)"};
  return profile;
}

// multi_tensor_apply_kernel: chunks of 65,536 elements a block of 512 threads, 4 elements a thread
// per trip, at most 320 blocks a launch; before it a kernel that counts the step.
std::vector<Profile> adamw(const RowsCall& call, const Table& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double elements = product(call.rows, call.cols);
  const double chunks = std::ceil(elements / 65536);
  const double per_chunk = std::min(elements, 65536.0);
  const WarpCounts trip = table.counts.of("adamw_trip", call.dtype);
  const auto launch = [&](double blocks) {
    Profile profile = resident_kernel("multi_tensor_apply_kernel", "adamw", chip, {512, 61});
    ProfilePhase phase;
    phase.name = "chunk";
    phase.trips = std::ceil(per_chunk / 2048);
    phase.work = work_of(trip, 16 * std::min(1.0, per_chunk / 2048));
    phase.work.l2_read = Bytes(4 * size * per_chunk / phase.trips);
    phase.work.l2_write = Bytes(3 * size * per_chunk / phase.trips);
    phase.chain.memory = 1;
    phase.chain.fixed = Cycles(table.optimizer_trip);
    ProfilePhase start;
    start.name = "bias correction";
    start.chain.fixed = Cycles(table.optimizer_unit);
    set_units(profile, {{blocks, {phase, start}}});
    const double share = elements * blocks / chunks;
    profile.traffic = streamed(4 * share * size, 3 * share * size);
    profile.reasons = {
        "fused, 65,536 elements a block, 320 blocks a launch (MultiTensorApply.cuh)"};
    return profile;
  };
  Profile step = resident_kernel("multi_tensor_apply_kernel", "adamw", chip, {512, 32});
  ProfilePhase one_value;
  one_value.name = "step";
  one_value.chain.memory = 1;
  set_units(step, {{1, {one_value}}});
  step.traffic = streamed(4, 4);
  step.reasons = {"counts the step (_foreach_add)"};
  std::vector<Profile> sequence{step};
  // Thousands of launches of a huge tensor are alike: one profile stands for the full ones.
  const double full = std::floor(chunks / 320);
  const double rest = chunks - 320 * full;
  for (double i = 0; i < std::min(full, 64.0); ++i) {
    sequence.push_back(launch(full <= 64 ? 320 : 320 * full / 64));
  }
  if (rest > 0) {
    sequence.push_back(launch(rest));
  }
  return sequence;
}

class Training final : public Family {
 public:
  explicit Training(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && (rows->op == "cross_entropy" || rows->op == "adamw");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    ORR_TRY_VOID(floating_point(rows));
    std::vector<Profile> sequence;
    if (rows.op == "adamw") {
      sequence = adamw(rows, table_, chip);
    } else {
      sequence = {softmax_forward(rows, true, table_.softmax, chip), loss(rows, table_, chip)};
    }
    for (Profile& profile : sequence) {
      profile.behaviour.relative_error = table_.error;
    }
    return Candidates{std::move(sequence)};
  }

 private:
  Table table_;
};

}  // namespace

std::unique_ptr<Family> read_training(machine::NumberFile& file) {
  Table table;
  table.softmax = read_softmax_table(file);
  table.counts = CountTable(file, "training.counts", {"loss", "loss_row", "adamw_trip"});
  table.loss_unit = cycles(file, "training.loss_unit");
  table.loss_row = cycles(file, "training.loss_row");
  table.optimizer_unit = cycles(file, "training.optimizer_unit");
  table.optimizer_trip = cycles(file, "training.optimizer_trip");
  table.error = error_of(file, "training");
  return std::make_unique<Training>(std::move(table));
}

}  // namespace orrery::library
