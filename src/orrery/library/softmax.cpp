// PyTorch's softmax: which kernel (SoftMax.cu, PersistentSoftmax.cuh of ATen/native/cuda), counted.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/softmax.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/softmax_internal.h"

namespace orrery::library {

using kernel::Profile;
using kernel::ProfilePhase;

namespace {

// softmax_warp_forward, _backward (up to 2048 columns): a warp holds a row of the next power of
// two, or two rows of at most 128; 4 warps a block.
struct WarpRows {
  double lanes = 32;
  double rows = 1;      // of a warp
  double elements = 0;  // of a lane, all its rows
  double blocks = 0;
};

WarpRows warp_rows(const RowsCall& call) {
  WarpRows warp;
  const double width = std::exp2(std::ceil(std::log2(product(call.cols))));
  warp.lanes = std::min(32.0, width);
  warp.rows = width <= 128 ? 2 : 1;
  warp.elements = warp.rows * width / warp.lanes;
  warp.blocks = std::ceil(product(call.rows) / (4 * (32 / warp.lanes) * warp.rows));
  return warp;
}

Profile warp_kernel(const RowsCall& call,
                    const std::string& counts,
                    const SoftmaxTable& table,
                    const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const bool backward = counts.find("backward") != std::string::npos;
  const bool divides = counts == "warp";
  const WarpRows warp = warp_rows(call);
  // Registers hold the row: 48, 72 and 96 of the three kernels at 32 elements a lane, 24 at least.
  const double held = backward ? 2 * warp.elements + 32 : warp.elements + (divides ? 16 : 40);
  const auto registers = static_cast<int64_t>(std::clamp(held, 24.0, 128.0));
  Profile profile = resident_kernel(backward ? "softmax_warp_backward" : "softmax_warp_forward",
                                    "softmax",
                                    chip,
                                    {128, registers});
  ProfilePhase phase;
  phase.name = "row";
  phase.work = work_of(table.counts.of(counts, call.dtype) +
                           warp.elements * table.counts.of(counts + "_element", call.dtype),
                       4);
  const double bytes = product(call.rows, call.cols, size);
  phase.work.l2_read = Bytes((backward ? 2 : 1) * bytes / warp.blocks);
  phase.work.l2_write = Bytes(bytes / warp.blocks);
  phase.chain.memory = 1;
  // Four warps on four schedulers: each runs through its row alone, dependent step by step.
  const double slots =
      phase.work.issue.value() / 4 + chip.core.integer_slots * phase.work.integer / 128;
  phase.chain.fixed = Cycles(table.row + table.dependent * slots);
  set_units(profile, {{warp.blocks, {phase}}});
  profile.traffic = streamed((backward ? 2 : 1) * bytes, bytes);
  profile.behaviour.single_pass = true;
  profile.reasons = {"at most 2048 columns: a warp holds the row (SoftMax.cu)"};
  return profile;
}

// Beyond 2048 columns a block holds a row: in registers up to 9216 columns
// (cunn_SoftMaxForwardReg), in shared memory up to 48 KiB (..Smem: aligned rows), else it reads the
// row three times.
struct BlockRow {
  const char* kernel = "cunn_SoftMaxForwardReg";
  std::string counts = "reg";
  double chain = 0;
  double threads = 1024;
  double vectors = 0;  // of a thread: elements of Reg, 16 bytes of the others
  double shared = 128;
  double reads = 1;  // of the row, from L1 or L2 beyond the first
  int64_t registers = 32;
};

BlockRow forward_row(const RowsCall& call, double size) {
  const double cols = product(call.cols);
  BlockRow row;
  row.vectors = std::ceil(cols / 1024);
  if (row.vectors < 10) {
    row.registers = row.vectors > 4 ? 37 : 30;
    return row;
  }
  row.vectors = std::ceil(cols * size / 16 / 32) / 32;  // whole warps
  const bool aligned = std::fmod(cols * size, 16) == 0;
  if (aligned && cols < (49152 - 128) / size) {
    row.kernel = "cunn_SoftMaxForwardSmem";
    row.counts = "smem";
    row.shared = cols * size + 128;
    return row;
  }
  row.kernel = "cunn_SoftMaxForward";
  row.counts = "plain";
  row.reads = 3;
  return row;
}

// SoftMax_getBlockSize: a power of two, at least half of the vectors of the row, up to 512 threads.
BlockRow backward_row(const RowsCall& call, double size) {
  const double cols = product(call.cols);
  BlockRow row;
  const double most = std::min(1024.0, std::floor(cols * size / 16)) / 2;
  row.threads = std::max(32.0, std::exp2(std::ceil(std::log2(std::max(1.0, most)))));
  row.vectors = std::ceil(cols * size / 16 / 32) / (row.threads / 32);  // whole warps
  const bool aligned = std::fmod(cols * size, 16) == 0;
  row.kernel = "cunn_SoftMaxBackwardSmem";
  row.counts = "backward";
  row.shared = cols * size + 64;
  row.registers = size < 4 ? 29 : 23;
  if (!aligned || row.shared > 49152) {
    row.kernel = "cunn_SoftMaxBackward";
    row.shared = 4 * row.threads;
    row.reads = 2;
    row.registers = 40;
  }
  return row;
}

Profile block_kernel(const RowsCall& call,
                     const BlockRow& row,
                     const SoftmaxTable& table,
                     const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const bool backward = row.counts.ends_with("backward");
  const double operands = backward ? 2 : 1;
  const double bytes = product(call.cols, size);
  Profile profile = resident_kernel(
      row.kernel, "softmax", chip, {static_cast<int64_t>(row.threads), row.registers, row.shared});
  const double resident =
      std::min(static_cast<double>(profile.ctas_per_sm),
               std::ceil(product(call.rows) / static_cast<double>(chip.core.count)));
  const double sm_bytes = resident * operands * bytes;
  const bool beyond_l1 = row.reads > 1 && sm_bytes > chip.core.shared_capacity.value();
  ProfilePhase phase;
  phase.name = "row";
  phase.work = work_of(table.counts.of(row.counts, call.dtype) +
                           row.vectors * table.counts.of(row.counts + "_vector", call.dtype),
                       row.threads / 32);
  phase.work.l2_read = Bytes(operands * bytes * (beyond_l1 ? row.reads : 1));
  phase.work.l2_write = Bytes(bytes);
  phase.chain.memory = 1;
  phase.chain.fixed = Cycles(row.chain);
  set_units(profile, {{product(call.rows), {phase}}});
  const double all = product(call.rows) * bytes;
  profile.traffic = streamed(operands * all, all);
  if (beyond_l1) {
    const double flight = sm_bytes * static_cast<double>(chip.core.count);
    const double lost = 1 - machine::resident_share(2 * flight, chip.l2);
    profile.traffic.dram_read = Bytes(operands * all * (1 + (row.reads - 1) * lost));
  }
  profile.reasons = {"more columns than a warp holds: a block a row (SoftMax.cu)"};
  return profile;
}

// softmax_backward_cuda_out first writes gradient * output.
Profile gradient_times_output(const RowsCall& call,
                              const SoftmaxTable& table,
                              const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double bytes = product(call.rows, call.cols, size);
  Profile profile =
      resident_kernel("vectorized_elementwise_kernel", "softmax", chip, {128, size < 4 ? 40 : 32});
  const WarpCounts counts = table.counts.of("product", call.dtype);
  ProfilePhase phase;
  phase.name = "elements";
  phase.work = work_of(counts, 4);
  phase.work.l2_read = Bytes(2 * 1024 * size);
  phase.work.l2_write = Bytes(1024 * size);
  phase.chain.memory = 1;
  phase.chain.fixed = Cycles(counts.chain);
  set_units(profile, {{std::ceil(product(call.rows, call.cols) / 1024), {phase}}});
  profile.traffic = streamed(2 * bytes, bytes);
  profile.behaviour.single_pass = true;
  profile.reasons = {"gradient times output first (SoftMax.cu)"};
  return profile;
}

std::vector<Profile> backward(const RowsCall& call,
                              bool logarithm,
                              const SoftmaxTable& table,
                              const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const std::string log = logarithm ? "log_" : "";
  std::vector<Profile> sequence;
  const bool warps = call.cols <= 1024 && product(call.cols) * size <= 4096;
  BlockRow row = backward_row(call, size);
  row.counts = log + "backward";
  row.chain = table.backward;
  Profile last = warps ? warp_kernel(call, log + "warp_backward", table, chip)
                       : block_kernel(call, row, table, chip);
  if (!logarithm) {
    last.traffic.scratch_read = last.traffic.unique_read;
    last.traffic.recent_read = Bytes(0.0);
    sequence.push_back(gradient_times_output(call, table, chip));
  }
  sequence.push_back(std::move(last));
  return sequence;
}

class Softmax final : public Family {
 public:
  explicit Softmax(SoftmaxTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr &&
           (rows->op == "softmax" || rows->op == "log_softmax" || rows->op == "softmax_backward" ||
            rows->op == "log_softmax_backward");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    ORR_TRY_VOID(floating_point(rows));
    const bool logarithm = rows.op.starts_with("log_");
    auto sequence = rows.op.ends_with("_backward")
                        ? backward(rows, logarithm, table_, chip)
                        : std::vector{softmax_forward(rows, logarithm, table_, chip)};
    for (Profile& profile : sequence) {
      profile.behaviour.relative_error = table_.error;
    }
    return Candidates{std::move(sequence)};
  }

 private:
  SoftmaxTable table_;
};

}  // namespace

Profile softmax_forward(const RowsCall& call,
                        bool logarithm,
                        const SoftmaxTable& table,
                        const machine::Chip& chip) {
  const std::string log = logarithm ? "log_" : "";
  if (call.cols <= 2048) {
    return warp_kernel(call, log + "warp", table, chip);
  }
  BlockRow row = forward_row(call, element_size(call.dtype).value());
  row.counts = log + row.counts;
  row.chain = table.block;
  return block_kernel(call, row, table, chip);
}

SoftmaxTable read_softmax_table(machine::NumberFile& file) {
  SoftmaxTable table;
  table.counts = CountTable(file,
                            "softmax.counts",
                            {"warp",
                             "warp_element",
                             "log_warp",
                             "log_warp_element",
                             "reg",
                             "reg_vector",
                             "log_reg",
                             "log_reg_vector",
                             "smem",
                             "smem_vector",
                             "log_smem",
                             "log_smem_vector",
                             "plain",
                             "plain_vector",
                             "log_plain",
                             "log_plain_vector",
                             "warp_backward",
                             "warp_backward_element",
                             "log_warp_backward",
                             "log_warp_backward_element",
                             "backward",
                             "backward_vector",
                             "log_backward",
                             "log_backward_vector",
                             "product"});
  table.row = cycles(file, "softmax.row");
  table.dependent = cycles(file, "softmax.dependent");
  table.block = cycles(file, "softmax.block");
  table.backward = cycles(file, "softmax.backward");
  table.error = error_of(file, "softmax");
  return table;
}

std::unique_ptr<Family> read_softmax(machine::NumberFile& file) {
  return std::make_unique<Softmax>(read_softmax_table(file));
}

}  // namespace orrery::library
