// PyTorch's reductions: reduce_kernel, with its geometry from source and its counts from counters.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/launch.h"
#include "orrery/library/reduction_config.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using machine::NumberFile;

// Issue slots of a warp: for a whole block, and for each of its loads.
struct Slots {
  double unit = 0;
  double load = 0;
};

struct ReductionTable {
  std::map<std::string, Slots, std::less<>> slots;  // "sum 2": of values of 2 bytes
  double unit = 0;
  Duration last;
  Duration partial;
  double in_step = 0;
  double restart = 0;
  double error = 0;
};

// How an operator instantiates reduce_kernel.
struct Operator {
  std::string_view name;
  std::string_view slots;  // whose instruction counts it has
  bool along_columns = false;
  bool everything = false;
  int64_t vector = 0;    // values of a load; 0: of 16 bytes
  int64_t unrolled = 4;  // vt0
  double words = 1;      // of an accumulator, exchanged one by one
  double result = 0;     // bytes; 0: of an element
};

// ReduceSumProdKernel.cu and ReduceMomentKernel.cu: 16 bytes a load for sums and means, two values
// at a time for Welford's variance; ReduceMaxValuesKernel.cu, ReduceArgMaxKernel.cu: 4 values. An
// argmax is a value and a 64-bit index; a variance a mean, a sum of squares and two counts.
constexpr Operator kOperators[] = {
    {.name = "sum_rows", .slots = "sum"},
    {.name = "mean_rows", .slots = "sum"},
    {.name = "sum_all", .slots = "sum", .everything = true},
    {.name = "sum_cols", .slots = "columns", .along_columns = true},
    {.name = "mean_cols", .slots = "columns", .along_columns = true},
    {.name = "max_rows", .slots = "max", .vector = 4},
    {.name = "argmax", .slots = "argmax", .vector = 4, .words = 2, .result = 8},
    {.name = "var_rows", .slots = "variance", .vector = 2, .unrolled = 2, .words = 2},
};

const Operator* find_operator(std::string_view name) {
  const auto* end = std::end(kOperators);
  const auto* found = std::find_if(
      std::begin(kOperators), end, [name](const Operator& op) { return op.name == name; });
  return found == end ? nullptr : found;
}

// One launch: what it reduces and how.
struct Work {
  const Operator& op;
  ReductionShape shape;
  ReductionConfig config;
  double size = 2;  // bytes of a value

  double blocks() const { return product(config.blocks, config.blocks_per_output); }

  double bytes() const { return product(shape.outputs, shape.inputs, size); }

  // A block narrower than a warp still issues as one.
  double warps() const { return std::max(1.0, static_cast<double>(config.threads()) / 32); }
};

double log_2(int64_t value) {
  return static_cast<double>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(1, value)))) -
         1;
}

Slots slots_of(const Work& work, const ReductionTable& table) {
  const bool narrow = work.op.along_columns && work.config.output_vector == 1;
  const std::string key = fmt::format("{}{} {}", work.op.slots, narrow ? "1" : "", work.size);
  Slots slots = table.slots.find(key)->second;
  if (work.shape.contiguous && !work.config.input_vector) {
    slots.load *= static_cast<double>(work.shape.unrolled) / static_cast<double>(work.shape.vector);
  }
  return slots;
}

// A thread's loads, one after the other: the loop is not unrolled further, so each waits for its
// data; the warps of a block run in step.
kernel::ProfilePhase load_phase(const Work& work, const Slots& slots, const machine::Chip& chip) {
  const int64_t each = work.config.input_vector ? work.shape.vector : work.shape.unrolled;
  const auto trips = static_cast<double>(ceil_div(work.config.values, each));
  const double own = work.warps() * slots.load / static_cast<double>(chip.core.schedulers);
  const double alone = slots.load * chip.launch.dependent_issue.value();
  return phase({.name = "load",
                .trips = trips,
                .warps = work.warps(),
                .slots = slots.load,
                .l2_read = work.bytes() / work.blocks() / trips,
                .memory = 1,
                .fixed = std::max(0.0, alone - own),
                .in_step = true},
               chip);
}

// Across lanes by shuffles, across warps through shared memory, a barrier each time the number
// halves.
kernel::ProfilePhase combine_phase(const Work& work,
                                   const Slots& slots,
                                   const ReductionTable& table,
                                   const machine::Chip& chip) {
  const ReductionConfig& config = work.config;
  const double along_x = config.across_x ? log_2(config.block_x) : 0;
  const double lanes = std::min(5.0, along_x);
  // A shuffle takes as long as an access to shared memory; conversion, addition and the like
  // follow.
  const double exchange =
      chip.launch.shared_latency.value() + 6 * chip.launch.dependent_issue.value();
  const double halvings = along_x - lanes + (config.across_y ? log_2(config.block_y) : 0);
  return phase({.name = "combine",
                .warps = work.warps(),
                .slots = slots.unit,
                .shared = 2 * halvings * work.op.words,
                .barriers = halvings,
                .fixed = table.unit + exchange * (lanes + halvings) * work.op.words,
                .in_step = true},
               chip);
}

// Blocks that share an output leave partial results, fence, and count themselves in memory; the
// last adds them: dependent rounds of reads from L2. A memset clears the counters.
void add_sharing(Profile& profile, const Work& work, const ReductionTable& table) {
  const ReductionConfig& config = work.config;
  const int64_t readers = config.across_x ? config.threads() : config.block_y;
  const auto rounds = static_cast<double>(ceil_div(config.blocks_per_output, readers));
  profile.extra_nodes = 1;
  profile.fixed = table.last + table.partial * rounds;
  profile.reasons.push_back(fmt::format(
      "Reduce.cuh, global_reduce: {} blocks share an output and the last one adds their partial "
      "results in {} rounds",
      config.blocks_per_output,
      rounds));
}

Profile reduce_kernel(const Work& work, const ReductionTable& table, const machine::Chip& chip) {
  const ReductionConfig& config = work.config;
  const Slots slots = slots_of(work, table);
  const bool wide = config.output_vector > 1;
  const double result = work.op.result > 0 ? work.op.result : work.size;
  // Blocks that start together wait, load and combine at the same time, so memory is idle in
  // between; the more rounds of them there are, the more they are out of step.
  const double rounds = work.blocks() / static_cast<double>(chip.core.count);
  Profile profile = profile_of(
      {.kernel = fmt::format("reduce_kernel<{}, {}>", wide ? 128 : 512, config.output_vector),
       .family = "reduction",
       .blocks = work.blocks(),
       .threads = config.threads(),
       .registers = wide ? 54 : 32,
       .shared = 2064,
       .phases = {load_phase(work, slots, chip), combine_phase(work, slots, table, chip)},
       .moved = {.read = work.bytes(), .write = product(work.shape.outputs, result)},
       .overlap = 1 + table.in_step * std::log1p(rounds),
       .restart = table.restart,
       .error = table.error},
      chip);
  profile.reasons.push_back(fmt::format(
      "Reduce.cuh, setReduceConfig: blocks of {} x {} threads, {} values a thread, {} x {} blocks",
      config.block_x,
      config.block_y,
      config.values,
      config.blocks,
      config.blocks_per_output));
  if (config.blocks_per_output > 1) {
    add_sharing(profile, work, table);
  }
  return profile;
}

Result<Candidates> reduction(const RowsCall& call,
                             const ReductionTable& table,
                             const machine::Chip& chip) {
  ORR_TRY_VOID(check_value_size(call, "reduction"));
  const Operator& op = *find_operator(call.op);
  const double size = element_size(call.dtype).value();
  // TensorIterator::with_32bit_indexing halves what exceeds 2^31 bytes. No chip holds 64 such
  // parts.
  constexpr int64_t kMostParts = 64;
  int64_t parts = 1;
  while (parts < kMostParts &&
         product(call.rows, call.cols, size) / static_cast<double>(parts) > 0x1p31) {
    parts *= 2;
  }
  const int64_t rows = std::max<int64_t>(1, call.rows / parts);
  const int64_t outputs = op.everything ? 1 : op.along_columns ? call.cols : rows;
  const double inputs = op.everything ? product(rows, call.cols)
                                      : static_cast<double>(op.along_columns ? rows : call.cols);
  Work work{.op = op,
            .shape = {.outputs = outputs,
                      .inputs = whole(inputs),
                      .contiguous = !op.along_columns || outputs == 1,
                      .vector = op.vector > 0 ? op.vector : static_cast<int64_t>(16 / size),
                      .unrolled = op.unrolled},
            .config = {},
            .size = size};
  work.config = reduction_config(work.shape, chip.core.count, chip.core.max_threads);
  return Candidates{
      std::vector<Profile>(static_cast<size_t>(parts), reduce_kernel(work, table, chip))};
}

class Reduction final : public Family {
 public:
  explicit Reduction(ReductionTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && find_operator(rows->op) != nullptr;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    return reduction(std::get<RowsCall>(call), table_, chip);
  }

 private:
  ReductionTable table_;
};

void read_slots(NumberFile& file, ReductionTable& table) {
  for (const std::string_view kind : {"sum", "columns", "columns1", "max", "argmax", "variance"}) {
    for (const std::string_view size : {"2", "4"}) {
      const std::string key = fmt::format("reduction.{}.", kind);
      table.slots[fmt::format("{} {}", kind, size)] = {
          one(file, fmt::format("{}unit_{}", key, size)),
          one(file, fmt::format("{}load_{}", key, size))};
    }
  }
}

}  // namespace

std::unique_ptr<Family> read_reduction(NumberFile& file) {
  ReductionTable table;
  read_slots(file, table);
  table.unit = cycles(file, "reduction.unit");
  table.last = duration(file, "reduction.last");
  table.partial = duration(file, "reduction.partial");
  table.in_step = one(file, "reduction.in_step");
  table.restart = cycles(file, "reduction.restart");
  table.error = error_of(file, "reduction");
  return std::make_unique<Reduction>(std::move(table));
}

}  // namespace orrery::library
