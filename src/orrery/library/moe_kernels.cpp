// Fused layers of experts: tiles, and what the kernels of a layer count.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/moe_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "orrery/library/counts.h"
#include "orrery/library/gemm_types.h"
#include "orrery/library/moe_tiles.h"
#include "orrery/library/moe_types.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using machine::NumberFile;
using machine::Range;
using machine::Unit;

constexpr double kElement = 2;      // bytes of a result
constexpr double kPassOverlap = 2;  // of the small kernels' L2 and DRAM traffic
constexpr double kPipeOverlap = 4;  // of tensor work and loads within a step
constexpr int64_t kThreads = 256;

/// What an engine's kernels take for one kind of operands.
struct Precision {
  std::string types;      // moe_types.h
  Duration fixed;         // of the small kernels, beyond their launches
  Duration per_row;       // of routing, a token and expert
  double unit = 0;        // clocks of a tile beside its steps
  double step = 0;        // least clocks of a step
  double load_share = 1;  // of the L2 port that loads reach
  double dram_share = 1;  // of products
  double pass_share = 1;  // the same of the small kernels
  double overlap = 1;     // exponent
  double error = 0;
  std::vector<std::pair<std::string, double>> tensor;  // share of the rate, by architecture
};

struct Table {
  MoeTileRules tiles;
  bool permutes = false;   // copies rows before the products
  bool all_rows = false;   // small kernels see rows of experts held elsewhere
  double launches = 0;     // small kernels beside activation and sum
  double unaligned = 1;    // how much longer a step takes whose rows are not whole 16 bytes
  double dense_error = 0;  // half an 80 % interval of a product that is no layer of experts
  std::vector<Precision> precisions;
};

/// A layer, counted.
struct Layer {
  const MoeCall& call;
  const Precision& precision;
  const machine::Chip& chip;
  double unaligned = 1;
  double share = 1;   // of the tensor rate
  double rows = 0;    // of the experts held here
  double every = 0;   // that the small kernels see
  double active = 0;  // experts with rows
  double weight = 0;  // bytes of one
  double input = 0;   // bytes of an activation as a product reads it
};

const Precision* find(const std::vector<Precision>& precisions, const std::string& types) {
  const auto found = std::find_if(precisions.begin(), precisions.end(), [&](const Precision& each) {
    return each.types == types;
  });
  return found != precisions.end() ? &*found : nullptr;
}

/// A kernel that streams: no tile, no tensor work.
Profile stream(std::string name, double read, double write, const Layer& layer) {
  Profile profile;
  profile.kernel = std::move(name);
  profile.family = "moe";
  profile.threads = kThreads;
  profile.traffic = streamed(read, write);
  profile.traffic.recent_read = Bytes(0.0);
  profile.traffic.scratch_read = Bytes(read);
  profile.traffic.l2_read = Bytes(read);
  profile.traffic.l2_write = Bytes(write);
  if (write < layer.chip.l2.effective.value()) {
    profile.traffic.dram_write = Bytes(0.0);  // the next kernel reads it from L2
  }
  profile.behaviour.overlap = kPassOverlap;
  profile.behaviour.dram_share = layer.precision.pass_share;
  profile.behaviour.relative_error = layer.precision.error;
  return profile;
}

Profile routing(const Layer& layer, const Table& table) {
  const MoeCall& call = layer.call;
  const double tokens = product(call.tokens, call.hidden);
  const double copied = table.permutes              ? layer.rows * static_cast<double>(call.hidden)
                        : call.dtype == DType::BF16 ? 0
                                                    : tokens;
  Profile profile = stream("routing", tokens * kElement, copied * layer.input, layer);
  profile.behaviour.dram_share = 1;
  profile.extra_nodes = table.launches;
  profile.fixed =
      layer.precision.fixed + Duration::from(Seconds(layer.precision.per_row.seconds().value() *
                                                     product(call.tokens, call.topk)));
  return profile;
}

/// Tiles of all experts, whole ones.
double tiles_of(const std::vector<int64_t>& rows, int64_t tile) {
  double tiles = 0;
  for (const int64_t each : rows) {
    tiles += static_cast<double>(ceil_div(each, tile));
  }
  return tiles;
}

kernel::UnitKind tile_work(const Layer& layer, const MoeTile& tile, double units, int64_t k) {
  const Precision& precision = layer.precision;
  kernel::ProfilePhase loop;
  loop.name = "main loop";
  loop.trips = static_cast<double>(ceil_div(k, tile.depth));
  loop.work.tensor = Flops(2 * product(tile.rows, tile.columns, tile.depth));
  loop.work.tensor_type = layer.call.dtype;
  const double row = static_cast<double>(k) * layer.input;  // bytes
  const bool aligned = std::fmod(row, 16) == 0;             // what one load instruction takes
  const double slower = aligned ? 1 : layer.unaligned;
  loop.work.tensor_share = layer.share / slower;
  const double loads = (static_cast<double>(tile.rows) * layer.input +
                        static_cast<double>(tile.columns) * layer.weight) *
                       static_cast<double>(tile.depth);
  loop.work.l2_read = Bytes(loads / precision.load_share * slower);
  loop.chain.fixed = Cycles(precision.step);
  kernel::ProfilePhase rest;
  rest.name = "first operands, epilogue";
  rest.chain.fixed = Cycles(precision.unit);
  return {units, {loop, rest}};
}

/// One of the two products: columns and depth, and the bytes of its activations.
struct Shape {
  std::string_view name;
  int64_t n = 0;
  int64_t k = 0;
  double input = 0;
};

Profile product_of(const Shape& shape, const Layer& layer, const MoeTile& tile) {
  Profile profile;
  profile.kernel = fmt::format("{} {}x{}x{}", shape.name, tile.rows, tile.columns, tile.depth);
  profile.family = "moe";
  profile.threads = kThreads;
  profile.ctas_per_sm = tile.resident;
  const double units =
      tiles_of(layer.call.rows, tile.rows) * static_cast<double>(ceil_div(shape.n, tile.columns));
  set_units(profile, {tile_work(layer, tile, units, shape.k)});
  const double weights = layer.active * product(shape.n, shape.k) * layer.weight;
  const double output = layer.rows * static_cast<double>(shape.n) * kElement;
  profile.traffic = streamed(weights + shape.input, output);
  profile.traffic.recent_read = Bytes(0.0);
  profile.traffic.scratch_read = Bytes(shape.input);
  const auto& loop = profile.kinds.front().phases.front();
  profile.traffic.l2_read =
      Bytes(units * loop.trips * loop.work.l2_read.value() * layer.precision.load_share);
  profile.traffic.l2_write = Bytes(0.0);
  if (output < layer.chip.l2.effective.value()) {
    profile.traffic.dram_write = Bytes(0.0);
  }
  profile.behaviour.overlap = layer.precision.overlap;
  profile.behaviour.pipe_overlap = kPipeOverlap;
  profile.behaviour.dram_share = layer.precision.dram_share;
  profile.behaviour.relative_error = layer.precision.error;
  profile.reasons.push_back(fmt::format("{} of {} experts have rows; tiles of {} rows: {}",
                                        layer.active,
                                        layer.call.rows.size(),
                                        tile.rows,
                                        tile.why));
  return profile;
}

std::vector<Profile> sequence_of(const Layer& layer, const MoeTile& tile, const Table& table) {
  const MoeCall& call = layer.call;
  const int64_t both = (call.gated ? 2 : 1) * call.inter;
  const auto hidden = static_cast<double>(call.hidden);
  const auto tokens = static_cast<double>(call.tokens);
  std::vector<Profile> sequence;
  sequence.push_back(routing(layer, table));
  const double into = (table.permutes ? layer.rows : tokens) * hidden * layer.input;
  sequence.push_back(product_of({"up", both, call.hidden, into}, layer, tile));
  const double other = layer.every - layer.rows;
  if (other > 0) {  // rows of experts held elsewhere: zeros, so that the sum may add them
    Profile zeros =
        stream("zeros", 0, other * (hidden + static_cast<double>(both)) * kElement, layer);
    zeros.programmatic_launch = true;  // blocks of the products write them
    sequence.push_back(std::move(zeros));
  }
  sequence.push_back(stream("activation",
                            layer.every * static_cast<double>(both) * kElement,
                            layer.every * static_cast<double>(call.inter) * layer.input,
                            layer));
  const double middle = layer.rows * static_cast<double>(call.inter) * layer.input;
  sequence.push_back(product_of({"down", call.hidden, call.inter, middle}, layer, tile));
  Profile sum = stream("sum", layer.every * hidden * kElement, tokens * hidden * kElement, layer);
  sum.traffic.dram_write = sum.traffic.unique_write;
  sequence.push_back(std::move(sum));
  return sequence;
}

/// Weights of 8 bits pass through the same steps as those of 4.
std::string constants_of(const MoeCall& call) {
  return call.quantisation == Quantisation::Int8Weights ? "w4a16" : types_name(call);
}

Result<Layer> layer_of(const MoeCall& call, const Table& table, const machine::Chip& chip) {
  const Precision* precision = find(table.precisions, constants_of(call));
  if (precision == nullptr) {
    std::vector<std::string> known;
    for (const Precision& each : table.precisions) {
      known.push_back(each.types);
    }
    return make_error(ErrorCode::Unsupported,
                      "[library.moe] types of backend {}: got {}, need one of {}",
                      call.backend,
                      types_name(call),
                      fmt::join(known, ", "));
  }
  Layer layer{.call = call, .precision = *precision, .chip = chip, .unaligned = table.unaligned};
  layer.share = 0;
  std::vector<std::string> architectures;
  for (const auto& [architecture, share] : precision->tensor) {
    architectures.push_back(architecture);
    layer.share = chip.architecture.rfind(architecture, 0) == 0 ? share : layer.share;
  }
  if (layer.share <= 0 || chip.core.tensor.count(call.dtype) == 0) {
    return make_error(ErrorCode::Unsupported,
                      "[library.moe] {} by backend {}: got a chip of {}, need one of {}",
                      types_name(call),
                      call.backend,
                      chip.architecture,
                      fmt::join(architectures, ", "));
  }
  for (const int64_t rows : call.rows) {
    layer.rows += static_cast<double>(rows);
    layer.active += rows > 0 ? 1 : 0;
  }
  layer.every = table.all_rows ? std::max(layer.rows, product(call.tokens, call.topk)) : layer.rows;
  layer.weight = weight_bytes(call);
  layer.input = activation_bytes(call);
  return layer;
}

/// Whether Marlin multiplies it: activations of 16 bits, weights of 4 or 8.
bool widens(const GemmCall& call) {
  return call.quantisation == Quantisation::Int4Weights ||
         call.quantisation == Quantisation::Int8Weights;
}

/// A dense product as a layer of one expert, whose constants are those of 4-bit weights.
MoeCall one_expert(const GemmCall& call) {
  return {.tokens = call.m,
          .hidden = call.k,
          .inter = call.n,
          .rows = {call.m},
          .gated = false,
          .dtype = call.input,
          .quantisation = Quantisation::Int4Weights,
          .backend = call.backend};
}

/// Marlin cuts all steps of all tiles into equal stripes, one for each resident block (Frantar et
/// al., MARLIN, arXiv 2408.11743, section 3.4), so few tiles still occupy every SM.
void stripe(Profile& profile, const MoeTile& tile, const machine::Chip& chip) {
  kernel::UnitKind kind = profile.kinds.front();
  const double slots = product(tile.resident, chip.core.count);
  const double steps = kind.count * kind.phases.front().trips;
  const double units = std::min(slots, steps);
  if (kind.count < slots) {
    kind.phases.front().trips = steps / units;
    kind.count = units;
    set_units(profile, {std::move(kind)});
  }
}

class Moe final : public Family {
 public:
  explicit Moe(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    if (const auto* gemm = std::get_if<GemmCall>(&call)) {
      return !gemm->backend.empty() && table_.tiles.knows(gemm->backend) && widens(*gemm);
    }
    const auto* moe = std::get_if<MoeCall>(&call);
    return moe != nullptr && table_.tiles.knows(moe->backend);
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    if (const auto* gemm = std::get_if<GemmCall>(&call)) {
      return dense(*gemm, chip);
    }
    const auto& moe = std::get<MoeCall>(call);
    ORR_TRY(const Layer layer, layer_of(moe, table_, chip));
    return Candidates{sequence_of(layer, table_.tiles.of(moe), table_)};
  }

 private:
  Result<Candidates> dense(const GemmCall& call, const machine::Chip& chip) const {
    const MoeCall moe = one_expert(call);
    ORR_TRY(Layer layer, layer_of(moe, table_, chip));
    layer.weight = weight_bytes(call).value() / product(call.n, call.k);
    const MoeTile tile = table_.tiles.of(moe);
    const double input = product(call.m, call.k) * layer.input;
    Profile profile = product_of({call.backend, call.n, call.k, input}, layer, tile);
    profile.family = "gemm";
    profile.behaviour.relative_error = std::max(layer.precision.error, table_.dense_error);
    profile.reasons = {fmt::format("tiles of {} rows, all steps in stripes", tile.rows),
                       "constants of layers of experts: no dense product was measured"};
    stripe(profile, tile, chip);
    return Candidates{{std::move(profile)}};
  }

  Table table_;
};

constexpr std::array<std::string_view, 7> kTypes = {
    "bf16", "fp8", "fp8_block", "nvfp4", "w4a16", "w4a16_mxfp4", "w4a8_mxfp4_mxfp8"};

Precision read_precision(NumberFile& file, std::string_view types) {
  const std::string key = fmt::format("moe.{}.", types);
  Precision precision{.types = std::string(types),
                      .fixed = duration(file, key + "fixed"),
                      .per_row = duration(file, key + "per_row"),
                      .unit = cycles(file, key + "unit"),
                      .step = cycles(file, key + "step"),
                      .load_share = file.number(key + "load_share", Unit::One),
                      .dram_share = file.number(key + "dram_share", Unit::One),
                      .pass_share = file.number(key + "pass_share", Unit::One),
                      .overlap = file.number(key + "overlap", Unit::One),
                      .error = file.number(key + "error", Unit::One),
                      .tensor = {}};
  for (const std::string& architecture : file.keys_under(key + "tensor_share")) {
    precision.tensor.emplace_back(
        architecture, file.number(fmt::format("{}tensor_share.{}", key, architecture), Unit::One));
  }
  return precision;
}

}  // namespace

std::unique_ptr<Family> read_moe(NumberFile& file) {
  Table table{.tiles = MoeTileRules::read(file),
              .permutes = one(file, "moe.permutes") == 1,
              .all_rows = one(file, "moe.all_rows") == 1,
              .launches = one(file, "moe.launches"),
              .unaligned = file.number("moe.unaligned", Unit::One),
              .dense_error = file.number_or("moe.dense_error", Unit::One, 0),
              .precisions = {}};
  for (const std::string_view types : kTypes) {
    if (file.has_under(fmt::format("moe.{}", types))) {
      table.precisions.push_back(read_precision(file, types));
    }
  }
  return std::make_unique<Moe>(std::move(table));
}

}  // namespace orrery::library
