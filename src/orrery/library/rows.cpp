// PyTorch's kernels over rows: pointwise, norms, softmax, gather.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/rows.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::NumberFile;

struct PointwiseTable {
  std::map<std::string, int, std::less<>> reads;            // tensors read, by operator
  std::map<std::string, double, std::less<>> instructions;  // per element, by kind of operator
  std::map<std::string, double, std::less<>> chain;         // dependent clocks of a thread, by kind
  double strided_thread = 0;  // instructions of a thread beside those of its elements
  double error = 0;
};

struct NormTable {
  double unit = 0;
  double beyond_l1 = 0;
  double layer_norm = 0;
  double instructions = 0;
  double layer_norm_instructions = 0;
  double instructions_unit = 0;
  double error = 0;
};

struct SoftmaxTable {
  double instructions = 0;
  double chain = 0;
  double unit = 0;
  double trip = 0;
  double error = 0;
};

struct GatherTable {
  double unit = 0;
  double error = 0;
};

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
  profile.behaviour.relative_error = table.error;
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
  profile.behaviour.relative_error = table.error;
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
  profile.behaviour.relative_error = table.error;
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

PointwiseTable read_pointwise_table(NumberFile& file) {
  PointwiseTable table;
  for (const auto& text : file.list("pointwise.operators")) {
    const auto space = text.find(' ');
    const std::string count = space == std::string::npos ? "" : text.substr(space + 1);
    if (count.size() != 1 || count[0] < '0' || count[0] > '9') {
      file.complain("pointwise.operators",
                    fmt::format("got '{}', need a name and how many tensors it reads", text));
      continue;
    }
    table.reads[text.substr(0, space)] = count[0] - '0';
  }
  for (const auto& kind : file.keys_under("pointwise.instructions")) {
    table.instructions[kind] = one(file, "pointwise.instructions." + kind);
  }
  for (const auto& kind : file.keys_under("pointwise.chain")) {
    table.chain[kind] = cycles(file, "pointwise.chain." + kind);
  }
  for (const std::string_view kind : {"simple", "strided"}) {
    if (table.instructions.find(kind) == table.instructions.end() ||
        table.chain.find(kind) == table.chain.end()) {
      file.complain(fmt::format("pointwise, kind {}", kind), "needs instructions and a chain");
    }
  }
  table.strided_thread = one(file, "pointwise.strided_thread");
  table.error = error_of(file, "pointwise");
  return table;
}

NormTable read_norm_table(NumberFile& file) {
  return {.unit = cycles(file, "norm.unit"),
          .beyond_l1 = cycles(file, "norm.beyond_l1"),
          .layer_norm = cycles(file, "norm.layer_norm"),
          .instructions = one(file, "norm.instructions"),
          .layer_norm_instructions = one(file, "norm.layer_norm_instructions"),
          .instructions_unit = one(file, "norm.instructions_unit"),
          .error = error_of(file, "norm")};
}

class Pointwise final : public Family {
 public:
  explicit Pointwise(PointwiseTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && table_.reads.find(rows->op) != table_.reads.end();
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    return pointwise(std::get<RowsCall>(call), table_, chip);
  }

 private:
  PointwiseTable table_;
};

class Norm final : public Family {
 public:
  explicit Norm(NormTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && (rows->op == "rms_norm" || rows->op == "layer_norm");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    return norm(std::get<RowsCall>(call), table_, chip);
  }

 private:
  NormTable table_;
};

class Softmax final : public Family {
 public:
  explicit Softmax(SoftmaxTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && rows->op == "softmax";
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    return softmax(std::get<RowsCall>(call), table_, chip);
  }

 private:
  SoftmaxTable table_;
};

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

std::unique_ptr<Family> read_pointwise(NumberFile& file) {
  return std::make_unique<Pointwise>(read_pointwise_table(file));
}

std::unique_ptr<Family> read_norm(NumberFile& file) {
  return std::make_unique<Norm>(read_norm_table(file));
}

std::unique_ptr<Family> read_softmax(NumberFile& file) {
  return std::make_unique<Softmax>(SoftmaxTable{.instructions = one(file, "softmax.instructions"),
                                                .chain = cycles(file, "softmax.chain"),
                                                .unit = cycles(file, "softmax.unit"),
                                                .trip = cycles(file, "softmax.trip"),
                                                .error = error_of(file, "softmax")});
}

std::unique_ptr<Family> read_gather(NumberFile& file) {
  return std::make_unique<Gather>(
      GatherTable{.unit = cycles(file, "gather.unit"), .error = error_of(file, "gather")});
}

}  // namespace orrery::library
