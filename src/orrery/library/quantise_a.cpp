// Quantising kernels: bytes read and written, and what a launch costs beside them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/quantise_a.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

constexpr double kSource = 2;  // bytes of an element of A before

// Bytes of an element of A after, its share of a scale included.
double written_bytes(QuantiseA kind) {
  switch (kind) {
    case QuantiseA::None:
    case QuantiseA::Static:
    case QuantiseA::Tensor:
    case QuantiseA::Token:
      return 1;
    case QuantiseA::Group128:
      return 1 + 4.0 / 128;
    case QuantiseA::Group16:
      return 0.5 + 1.0 / 16;
  }
  return 1;
}

class QuantiseRows final : public Family {
 public:
  explicit QuantiseRows(machine::NumberFile& file)
      : fixed_(duration(file, "quantise_a.fixed")),
        search_(duration(file, "quantise_a.search")),
        share_(one(file, "quantise_a.dram_share")),
        instructions_(one(file, "quantise_a.instructions")),
        row_instructions_(one(file, "quantise_a.row_instructions")),
        error_(error_of(file, "quantise_a")) {}

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->quantise != QuantiseA::None;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& gemm = std::get<GemmCall>(call);
    std::vector<Profile> sequence;
    if (gemm.quantise == QuantiseA::Tensor) {
      sequence.push_back(pass(gemm, "find scale", 0, chip));
      sequence.back().fixed = search_;
    }
    sequence.push_back(pass(gemm, "quantise", written_bytes(gemm.quantise), chip));
    return Candidates{std::move(sequence)};
  }

 private:
  // Blocks of 4096 elements, or of one row where the scale is known (vLLM's kernel).
  Profile pass(const GemmCall& call,
               std::string_view what,
               double written,
               const machine::Chip& chip) const {
    constexpr double kWarp = 32;
    constexpr double kMost = 4096;
    const bool by_row = call.quantise == QuantiseA::Static;
    const double block = by_row ? product(call.k) : kMost;
    const double elements = product(call.batch, call.m, call.k);
    Profile profile;
    profile.kernel = fmt::format("{} {}", what, name(call.quantise));
    profile.family = "quantize";
    profile.threads = 256;
    profile.ctas_per_sm = std::max<int64_t>(1, chip.core.max_threads / profile.threads);
    ProfilePhase phase;
    phase.name = "row";
    phase.chain.memory = 1;
    phase.work.issue =
        Instructions(block / kWarp * instructions_ + (by_row ? row_instructions_ : 0));
    phase.work.l2_read = Bytes(block * kSource);
    phase.work.l2_write = Bytes(block * written);
    set_units(profile, {{std::max(1.0, elements / block), {phase}}});
    profile.traffic = streamed(elements * kSource, elements * written);
    profile.fixed = fixed_;
    profile.behaviour.dram_share = share_;
    profile.behaviour.overlap = chip.overlap.streaming;
    profile.behaviour.relative_error = error_;
    return profile;
  }

  Duration fixed_;
  Duration search_;  // of finding one scale: clearing, a pass, its end
  double share_ = 1;
  double instructions_ = 0;      // of a lane and element
  double row_instructions_ = 0;  // warp instructions of a block that takes one row: Static
  double error_ = 0;
};

}  // namespace

std::unique_ptr<Family> read_quantise_a(machine::NumberFile& file) {
  return std::make_unique<QuantiseRows>(file);
}

}  // namespace orrery::library
