// PyTorch's pointwise kernels: launch geometry from ATen/native/cuda, counts from the library file.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/pointwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "orrery/library/counts.h"
#include "orrery/library/warp_counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

// How a kernel deals elements to threads (CUDALoops.cuh, thread_constants.h): blocks of 128 threads
// of 8 elements where all operands are dense and of one type (vectorized_elementwise_kernel), 4
// where types are converted at run time (unrolled_elementwise_kernel), 4 or, of 4-byte results, 2
// where an operand is strided or broadcast (elementwise_kernel<128, 4 or 2>).
enum class Shape { Vectorized, Converting, Strided, Memcpy, Dropout, Cat };

// One kernel of an operator; bytes per element in units of the element's size, plus whole bytes.
struct Step {
  std::string_view counts;  // name in the list of the library file
  Shape shape = Shape::Vectorized;
  double reads = 1;   // operands of the call's type
  double passed = 0;  // of them or beside them: what the kernel before has touched, in elements
  double mask = 0;    // bytes read that the kernel before has written (a mask)
  double writes = 1;
  double bytes_written = 0;  // further bytes, whatever the type
  double elements = 1;       // of rows x cols
};

struct Operator {
  std::string_view name;
  std::vector<Step> steps;
};

const std::vector<Operator>& operators() {
  static const std::vector<Operator> kAll = {
      {"fill", {{.counts = "fill", .reads = 0}}},
      {"copy", {{.counts = "copy", .shape = Shape::Memcpy}}},
      {"neg", {{.counts = "scale"}}},
      {"scale", {{.counts = "scale"}}},
      {"add", {{.counts = "add", .reads = 2}}},
      {"sub", {{.counts = "add", .reads = 2}}},
      {"mul", {{.counts = "mul", .reads = 2}}},
      {"div", {{.counts = "div", .reads = 2}}},
      {"exp", {{.counts = "exp"}}},
      {"relu", {{.counts = "relu"}}},
      {"clamp", {{.counts = "clamp"}}},
      {"sigmoid", {{.counts = "sigmoid"}}},
      {"tanh", {{.counts = "tanh"}}},
      {"gelu", {{.counts = "gelu"}}},
      {"gelu_tanh", {{.counts = "gelu_tanh"}}},
      {"silu", {{.counts = "silu"}}},
      {"silu_mul", {{.counts = "silu", .reads = 2}}},
      {"static_quantize_fp8", {{.counts = "scale", .writes = 0, .bytes_written = 1}}},
      {"softplus", {{.counts = "softplus"}}},
      {"gelu_backward", {{.counts = "gelu_backward", .reads = 2}}},
      {"silu_backward", {{.counts = "silu_backward", .reads = 2}}},
      {"cast_fp32",
       {{.counts = "cast", .shape = Shape::Converting, .writes = 0, .bytes_written = 4}}},
      {"bias_add", {{.counts = "bias", .shape = Shape::Strided}}},
      {"broadcast_mul", {{.counts = "broadcast", .shape = Shape::Strided}}},
      {"strided_copy", {{.counts = "strided", .shape = Shape::Strided, .elements = 0.5}}},
      {"where",
       {{.counts = "compare", .writes = 0, .bytes_written = 1},
        {.counts = "where", .reads = 1, .passed = 1, .mask = 1}}},
      {"quantize_fp8",
       {{.counts = "scale"},
        {.counts = "to_fp8", .reads = 0, .passed = 1, .writes = 0, .bytes_written = 1}}},
      {"dropout", {{.counts = "dropout", .shape = Shape::Dropout, .bytes_written = 1}}},
      {"cat", {{.counts = "cat", .shape = Shape::Cat}}},
  };
  return kAll;
}

const Operator* find(std::string_view name) {
  const auto& all = operators();
  const auto found = std::find_if(
      all.begin(), all.end(), [name](const Operator& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

struct Table {
  CountTable counts;
  Duration dropout_fixed;
  double lone_sector = 0;  // bytes of the port that a sector occupies which comes alone
  double tail = 0;         // dependent clocks per element of a thread in a block with a remainder
  double error = 0;
};

std::string_view kernel_name(Shape shape) {
  switch (shape) {
    case Shape::Vectorized:
      return "vectorized_elementwise_kernel";
    case Shape::Converting:
      return "unrolled_elementwise_kernel";
    case Shape::Strided:
      return "elementwise_kernel";
    case Shape::Memcpy:
      return "memcpy";
    case Shape::Dropout:
      return "fused_dropout_kernel_vec";
    case Shape::Cat:
      return "CatArrayBatchedCopy_vectorized";
  }
  ORR_UNREACHABLE();
}

kernel::Traffic traffic_of(const Step& step, double elements, double size, double broadcast) {
  const double passed = elements * (step.passed * size + step.mask);
  const double read = elements * step.reads * size + passed + broadcast;
  const double written = elements * (step.writes * size + step.bytes_written);
  kernel::Traffic traffic = streamed(read, written);
  traffic.scratch_read = Bytes(passed);
  traffic.recent_read = Bytes(read - passed);
  return traffic;
}

// Geometry of a step: threads of a block, elements of a thread per trip, blocks.
struct Geometry {
  int64_t threads = 128;
  int64_t registers = 32;
  double each = 8;
  double blocks = 0;
  double trips = 1;
};

// fused_dropout_kernel_vec (Dropout.cu): 256 threads, at most 8 blocks a multiprocessor, each
// thread 4 elements per trip of a grid-stride loop, all of them every trip: they meet at its end.
// CatArrayBatchedCopy_vectorized (Shape.cu): 128 threads of 16 bytes per trip, at most 32 blocks a
// multiprocessor.
Geometry geometry_of(Shape shape, double elements, double size, const machine::Chip& chip) {
  const auto sms = static_cast<double>(chip.core.count);
  Geometry geometry;
  switch (shape) {
    case Shape::Vectorized:
      break;
    case Shape::Converting:
      geometry.each = 4;
      break;
    case Shape::Strided:
      geometry.each = size >= 4 ? 2 : 4;
      geometry.registers = 18;
      break;
    case Shape::Memcpy:
      geometry.each = 16 / size;
      break;
    case Shape::Dropout:
      geometry = {.threads = 256, .registers = 55, .each = 4};
      geometry.blocks = std::min(8 * sms, std::ceil(elements / 256));
      geometry.trips = std::ceil(elements / (geometry.blocks * 1024));
      return geometry;
    case Shape::Cat:
      geometry = {.registers = 18, .each = 16 / size};
      geometry.blocks = std::min(2 * 32 * sms, std::ceil(elements / (128 * geometry.each)));
      geometry.trips = std::max(1.0, elements / (geometry.blocks * 128 * geometry.each));
      return geometry;
  }
  geometry.blocks = std::ceil(elements / (static_cast<double>(geometry.threads) * geometry.each));
  return geometry;
}

// What an operator costs in elementwise_kernel: that kernel's own counts (a copy, or a product of
// two operands), and its arithmetic beyond these.
WarpCounts strided_counts(const Step& step, const CountTable& table, DType dtype, double each) {
  if (step.shape == Shape::Strided) {
    return table.of(step.counts, dtype);
  }
  const bool two = step.reads + step.passed > 1;
  const WarpCounts dense = table.of(two ? "mul" : "scale", dtype);
  const WarpCounts own = table.of(step.counts, dtype);
  WarpCounts counts = table.of(two ? "broadcast" : "strided", dtype);
  const double share = each / 8;
  counts.issue += share * std::max(0.0, own.issue - dense.issue);
  counts.integer += share * std::max(0.0, own.integer - dense.integer);
  counts.special += share * std::max(0.0, own.special - dense.special);
  counts.chain += share * std::max(0.0, own.chain - dense.chain);
  return counts;
}

ProfilePhase elements_phase(const Step& step,
                            const WarpCounts& counts,
                            const Geometry& geometry,
                            double size,
                            bool strided) {
  const double each = static_cast<double>(geometry.threads) * geometry.each;
  ProfilePhase phase;
  phase.name = "elements";
  phase.trips = geometry.trips;
  phase.work = work_of(counts, static_cast<double>(geometry.threads) / 32);
  phase.work.l2_read = Bytes(each * ((step.reads + step.passed) * size + step.mask));
  phase.work.l2_write = Bytes(each * (step.writes * size + step.bytes_written));
  // Loads whose addresses or types are found element by element wait for each other: each stands in
  // a branch of its own (machine code of elementwise_kernel).
  const bool serial = strided || step.shape == Shape::Converting;
  const bool reads = step.reads + step.passed > 0;
  phase.chain.memory = !reads ? 0 : serial ? geometry.each : 1;
  phase.chain.fixed = Cycles(counts.chain);
  phase.chain.barriers = step.shape == Shape::Dropout ? 1 : 0;  // after each trip
  return phase;
}

// The last block of a vectorised kernel, if it is not full, takes a loop of predicated scalar
// accesses: its chain grows with the elements of a thread.
void add_remainder(const ProfilePhase& full, double elements, double tail, Profile& profile) {
  const double whole_blocks = std::floor(elements / 1024);
  const double rest = std::ceil((elements - 1024 * whole_blocks) / 128);
  ProfilePhase last = full;
  last.name = "remainder";
  const double chain = full.chain.fixed.value() * (whole_blocks > 0 ? 1 : rest / 8);
  last.chain.fixed = Cycles(chain + tail * rest);
  std::vector<kernel::UnitKind> kinds;
  if (whole_blocks > 0) {
    kinds.push_back({whole_blocks, {full}});
  }
  kinds.push_back({1, {last}});
  set_units(profile, std::move(kinds));
}

Profile step_profile(const Step& step,
                     const RowsCall& call,
                     const Table& table,
                     const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double elements = product(call.rows, call.cols) * step.elements;
  const bool strided = call.strided && step.shape != Shape::Dropout && step.shape != Shape::Cat;
  const Shape shape = strided ? Shape::Strided : step.shape;
  const Geometry geometry = geometry_of(shape, elements, size, chip);
  const WarpCounts counts = strided ? strided_counts(step, table.counts, call.dtype, geometry.each)
                                    : table.counts.of(step.counts, call.dtype);
  const bool wide = size < 4 && (step.counts == "add" || step.counts == "mul");
  Profile profile = resident_kernel(kernel_name(shape),
                                    "pointwise",
                                    chip,
                                    {geometry.threads, wide && !strided ? 40 : geometry.registers});
  profile.behaviour.single_pass = true;
  profile.behaviour.relative_error = table.error;
  const bool row = step.counts == "bias" || step.counts == "broadcast";
  profile.traffic = traffic_of(step, elements, size, row ? product(call.cols, size) : 0);
  if (shape == Shape::Dropout) {
    profile.fixed = table.dropout_fixed;
    profile.behaviour.streams = 8;
  }
  const ProfilePhase phase = elements_phase(step, counts, geometry, size, shape == Shape::Strided);
  if (shape == Shape::Vectorized && std::fmod(elements, 1024) != 0) {
    add_remainder(phase, elements, phase.chain.memory > 0 ? table.tail : 0, profile);
  } else {
    set_units(profile, {{geometry.blocks, {phase}}});
  }
  return profile;
}

std::string reason_of(Shape shape) {
  switch (shape) {
    case Shape::Vectorized:
      return "dense operands of one type: 8 elements a thread (CUDALoops.cuh)";
    case Shape::Converting:
      return "types are converted at run time: 4 elements a thread, loaded one by one "
             "(CUDALoops.cuh)";
    case Shape::Strided:
      return "an operand is strided or broadcast: offsets by integer division (CUDALoops.cuh)";
    case Shape::Memcpy:
      return "a copy of dense memory is a memcpy node";
    case Shape::Dropout:
      return "training mode: random numbers and a mask (Dropout.cu)";
    case Shape::Cat:
      return "dense operands: one launch for all of them (Shape.cu)";
  }
  ORR_UNREACHABLE();
}

// Rows that are no multiple of 16 bytes (Shape.cu, CatArrayBatchedCopy_alignedK_contig): a thread
// loads 4 elements at once and stores them one by one, so that a warp's store draws 4 times the
// sectors of its bytes (counters: 4.4).
void store_apart(const RowsCall& call, const Table& table, Profile& profile) {
  constexpr double kEach = 4;
  const double size = element_size(call.dtype).value();
  const double elements = product(call.rows, call.cols);  // of each of two operands
  ProfilePhase phase = profile.kinds[0].phases[0];
  phase.trips = 1;
  phase.work = work_of(table.counts.of("cat_apart", call.dtype), 4);
  phase.work.l2_read = Bytes(128 * kEach * size);
  phase.work.l2_write = Bytes(128 * kEach * size / 32 * kEach * table.lone_sector);
  set_units(profile, {{2 * std::ceil(elements / (128 * kEach)), {phase}}});
  profile.kernel = "CatArrayBatchedCopy_alignedK_contig";
}

class Pointwise final : public Family {
 public:
  explicit Pointwise(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* rows = std::get_if<RowsCall>(&call);
    return rows != nullptr && find(rows->op) != nullptr;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& rows = std::get<RowsCall>(call);
    const bool moves =
        rows.op == "copy" || rows.op == "fill" || rows.op == "cat" || rows.op == "strided_copy";
    if (!moves) {
      ORR_TRY_VOID(floating_point(rows));
    }
    const auto size = static_cast<int64_t>(element_size(rows.dtype).value());
    std::vector<Profile> sequence;
    for (const Step& step : find(rows.op)->steps) {
      sequence.push_back(step_profile(step, rows, table_, chip));
      sequence.back().reasons = {reason_of(rows.strided ? Shape::Strided : step.shape)};
      if (step.shape == Shape::Cat && rows.cols * size % 16 != 0) {
        store_apart(rows, table_, sequence.back());
        sequence.back().reasons.emplace_back(
            "rows are no multiple of 16 bytes: stored element by element");
      }
    }
    return Candidates{std::move(sequence)};
  }

 private:
  Table table_;
};

}  // namespace

std::unique_ptr<Family> read_pointwise(machine::NumberFile& file) {
  Table table;
  table.counts = CountTable(
      file,
      "pointwise.counts",
      {"fill", "copy",      "scale",     "add",           "mul",           "div",       "exp",
       "relu", "clamp",     "sigmoid",   "tanh",          "gelu",          "gelu_tanh", "silu",
       "cast", "bias",      "broadcast", "strided",       "compare",       "where",     "to_fp8",
       "cat",  "cat_apart", "dropout",   "gelu_backward", "silu_backward", "softplus"});
  table.dropout_fixed = duration(file, "pointwise.dropout_fixed");
  table.lone_sector = file.number("transpose.lone_sector", machine::Unit::Bytes);
  table.tail = cycles(file, "pointwise.tail");
  table.error = error_of(file, "pointwise");
  return std::make_unique<Pointwise>(std::move(table));
}

}  // namespace orrery::library
