// PyTorch's layer and RMS norm: ATen/native/cuda/layer_norm_kernel.cu.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/row_norm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/row_norm_internal.h"

namespace orrery::library {

using kernel::Profile;
using kernel::ProfilePhase;

double Walk::trips() const {
  return std::ceil(cols / (each * threads));
}

double Walk::warp_trips() const {
  return std::ceil(cols / (each * 32));
}

double Walk::busy_warps() const {
  return std::min(threads / 32, warp_trips());
}

InFlight in_flight(const Profile& profile,
                   double rows,
                   double row_bytes,
                   const machine::Chip& chip) {
  const auto sms = static_cast<double>(chip.core.count);
  const double resident = std::min(static_cast<double>(profile.ctas_per_sm), std::ceil(rows / sms));
  InFlight flight;
  flight.chip = std::min(rows, resident * sms) * row_bytes;
  // A row that is alone on its SM walks over what it left; of several, the others' loads and stores
  // come in between.
  const double between = resident * row_bytes * (resident > 1 ? 2 : 1);
  flight.beyond_l1 = between > chip.core.l1.value();
  flight.lost = flight.beyond_l1 ? 1 - machine::resident_share(2 * flight.chip, chip.l2) : 0;
  return flight;
}

namespace {

// vectorized_layer_norm_kernel: a row is a block of 32 x 4 threads, which walks it twice, 4
// elements a thread: statistics, then normalisation. Of 2-byte elements each trip waits for its own
// load; of fp32 rms_norm the compiler unrolls the first walk by four trips and loads them together
// (machine code, nvcc 13.0). The second walk finds its row in L1 as far as the rows of an SM fit,
// then in L2, then in DRAM.
Profile vectorized(const RowsCall& call, const NormTable& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const bool layer = call.op == "layer_norm";
  const std::string name = layer ? "layer" : "rms";
  const double rows = product(call.rows);
  const double row = product(call.cols, size);
  const Walk walk{.cols = product(call.cols)};
  Profile profile = resident_kernel(
      "vectorized_layer_norm_kernel", "row_norm", chip, {128, layer && size >= 4 ? 39 : 32});
  const InFlight flight = in_flight(profile, rows, row, chip);

  const WarpCounts busy = table.counts.of(name + "_row", call.dtype);
  const WarpCounts idle = table.counts.of(name + "_idle", call.dtype);
  const WarpCounts trip = table.counts.of(name + "_trip", call.dtype);
  const double idle_warps = 4 - walk.busy_warps();
  ProfilePhase unit;
  unit.name = "row";
  unit.work = work_of(walk.busy_warps() * busy + idle_warps * idle, 1);
  unit.chain.fixed = Cycles(table.chain.at(name + "_row"));
  ProfilePhase trips;
  trips.name = "walk";
  trips.trips = walk.trips();
  trips.work = work_of((walk.warp_trips() / walk.trips()) * trip, 1);
  trips.work.l2_read = Bytes(row / walk.trips() * (flight.beyond_l1 ? 2 : 1));
  trips.work.l2_write = Bytes(row / walk.trips());
  const double n = walk.trips();
  const double waits = !layer && size >= 4 ? std::floor(n / 4) + std::fmod(n, 4) : n;
  trips.chain.memory = waits / n + flight.lost;
  trips.chain.l2 = flight.beyond_l1 ? 1 - flight.lost : 0;
  trips.chain.fixed = Cycles(table.chain.at(name + "_trip"));

  set_units(profile, {{rows, {trips, unit}}});
  profile.traffic = streamed(rows * row, rows * row);
  profile.traffic.dram_read = Bytes(rows * row * (1 + flight.lost));
  profile.traffic.l2_read = Bytes(rows * row * (flight.beyond_l1 ? 2 : 1));
  profile.reasons = {"columns in fours: one block of 128 threads a row (layer_norm_kernel.cu)"};
  return profile;
}

// Rows that are not multiples of 4 take two kernels of scalar accesses: moments (512 threads a
// row), then normalisation (256 threads).
std::vector<Profile> scalar(const RowsCall& call,
                            const NormTable& table,
                            const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double rows = product(call.rows);
  const double row = product(call.cols, size);
  const double cols = product(call.cols);
  const auto walk = [&](const char* kernel, const char* base, const char* trip, double threads) {
    Profile profile =
        resident_kernel(kernel, "row_norm", chip, {static_cast<int64_t>(threads), 28});
    const double trips = std::ceil(cols / threads);
    const WarpCounts unit = table.counts.of(base, call.dtype);
    const WarpCounts each = table.counts.of(trip, call.dtype);
    ProfilePhase phase;
    phase.name = "row";
    phase.work = work_of(unit + trips * each, threads / 32);
    phase.work.l2_read = Bytes(row);
    phase.chain.memory = trips;
    phase.chain.fixed = Cycles(table.chain.at("rms_row") + trips * table.chain.at("rms_trip"));
    set_units(profile, {{rows, {phase}}});
    profile.traffic = streamed(rows * row, 0);
    profile.reasons = {"columns not in fours: moments, then normalisation (layer_norm_kernel.cu)"};
    return profile;
  };
  Profile moments = walk("RowwiseMomentsCUDAKernel", "moments", "moments_trip", 512);
  moments.traffic.unique_write = moments.traffic.dram_write = Bytes(8 * rows);
  const bool layer = call.op == "layer_norm";
  Profile apply = walk("LayerNormForwardCUDAKernel",
                       layer ? "layer_apply" : "rms_apply",
                       layer ? "layer_apply_trip" : "rms_apply_trip",
                       256);
  apply.traffic = streamed(rows * row, rows * row);
  apply.traffic.scratch_read = apply.traffic.unique_read;
  apply.traffic.recent_read = Bytes(0.0);
  return {moments, apply};
}

class Norm final : public Family {
 public:
  explicit Norm(NormTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr &&
           (rows->op == "rms_norm" || rows->op == "layer_norm" || rows->op == "group_norm" ||
            rows->op == "batch_norm" || rows->op == "layer_norm_backward" ||
            rows->op == "rms_norm_backward");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    ORR_TRY_VOID(floating_point(rows));
    auto sequence = rows.op == "group_norm"          ? group_norm(rows, table_, chip)
                    : rows.op == "batch_norm"        ? batch_norm(rows, table_, chip)
                    : rows.op.ends_with("_backward") ? layer_norm_backward(rows, table_, chip)
                                                     : layer_norm_forward(rows, table_, chip);
    for (Profile& profile : sequence) {
      profile.behaviour.relative_error = table_.error;
    }
    return Candidates{std::move(sequence)};
  }

 private:
  NormTable table_;
};

}  // namespace

std::vector<Profile> layer_norm_forward(const RowsCall& call,
                                        const NormTable& table,
                                        const machine::Chip& chip) {
  if (call.cols % 4 != 0) {
    return scalar(call, table, chip);
  }
  return {vectorized(call, table, chip)};
}

std::unique_ptr<Family> read_norm(machine::NumberFile& file) {
  NormTable table;
  table.counts = CountTable(file,
                            "norm.counts",
                            {"layer_row",
                             "layer_idle",
                             "layer_trip",
                             "rms_row",
                             "rms_idle",
                             "rms_trip",
                             "moments",
                             "moments_trip",
                             "layer_apply",
                             "layer_apply_trip",
                             "rms_apply",
                             "rms_apply_trip",
                             "layer_backward",
                             "layer_backward_trip",
                             "rms_backward",
                             "rms_backward_trip",
                             "backward_scalar_trip",
                             "gamma_beta",
                             "gamma_beta_trip",
                             "gamma",
                             "gamma_trip",
                             "group",
                             "group_element",
                             "group_apply",
                             "batch",
                             "batch_row",
                             "batch_update",
                             "batch_apply",
                             "batch_apply_row"});
  for (const std::string name : {"layer_row",
                                 "layer_trip",
                                 "rms_row",
                                 "rms_trip",
                                 "backward_row",
                                 "backward_trip",
                                 "backward_scalar_trip",
                                 "batch_apply",
                                 "gamma_trip",
                                 "group_unit",
                                 "group_element",
                                 "batch_unit",
                                 "batch_row"}) {
    table.chain[name] = cycles(file, "norm.chain." + name);
  }
  table.error = error_of(file, "norm");
  return std::make_unique<Norm>(std::move(table));
}

}  // namespace orrery::library
