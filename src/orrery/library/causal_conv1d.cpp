// Causal convolutions: launch geometry from causal_conv1d_fwd.cu and causal_conv1d_update.cu.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/causal_conv1d.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/library/counts.h"
#include "orrery/library/triton_kernel.h"

namespace orrery::library {
namespace {

using kernel::Profile;

struct ConvTable {
  TritonTable code;
  double starts = 1;  // of two-warp blocks, as a share of the machine's interval
};

// Compiled without fast math, the division of the activation is a subroutine.
bool precise(const Conv1dCall& call) {
  return call.backend == "sglang";
}

// A block of 128 threads walks the tokens of one channel, 8 a thread; sequences that are no
// multiple of 8 tokens take loads of single elements, exchanged in shared memory.
Profile whole_sequence(const Conv1dCall& call, const ConvTable& table, const machine::Chip& chip) {
  const double size = element_size(call.dtype).value();
  const double tile = 128 * 16 / size;
  const auto tokens = static_cast<double>(call.seq);
  const double trips = std::ceil(tokens / tile);
  const auto elements = static_cast<int64_t>(16 / size);
  const bool single = call.seq % elements != 0;
  const double rows = product(call.batch, call.channels);
  const double state = static_cast<double>(call.taps - 1) * size;
  const double weights = static_cast<double>(call.taps + 1) * size;
  const double sector = chip.l2.sector.value();
  Profile profile = triton_profile(
      {.code =
           precise(call) ? (single ? "precise_single" : "precise") : (single ? "single" : "whole"),
       .kernel = "causal_conv1d_fwd_kernel",
       .programs = rows,
       .trips = trips,
       .l2_read = std::max(sector, tokens / trips * size),
       .l2_write = std::max(sector, tokens / trips * size),
       .first_waits = 1,
       .moved = {.read = rows * tokens * size + static_cast<double>(call.channels) * weights,
                 .write = rows * (tokens * size + state)}},
      table.code,
      chip);
  for (auto& phase : profile.kinds.front().phases) {
    phase.chain.barriers = phase.name == "trip" ? 3 : 0;
  }
  profile.reasons.emplace_back(
      single ? "tokens are no multiple of 8: loads of single elements (causal_conv1d_fwd.cu)"
             : "a block of 128 threads walks a channel, 8 tokens a thread "
               "(causal_conv1d_fwd.cu)");
  return profile;
}

// A thread a channel, 64 a block: shifts the channel's state, adds the token.
Profile one_token(const Conv1dCall& call, const ConvTable& table, const machine::Chip& chip) {
  constexpr double kThreads = 64;
  const double size = element_size(call.dtype).value();
  const auto state = static_cast<double>(call.taps - 1) * size;
  const auto weights = static_cast<double>(call.taps + 1) * size;
  const double rows = product(call.batch, call.channels);
  Profile profile = triton_profile(
      {.code = precise(call) ? "precise_update" : "update",
       .kernel = "causal_conv1d_update_kernel",
       .programs = static_cast<double>(call.batch) *
                   std::ceil(static_cast<double>(call.channels) / kThreads),
       .l2_read = kThreads * (state + weights + size),
       .l2_write = kThreads * (state + size),
       .first_waits = 1,
       .apart = true,
       .moved = {.read = rows * (state + size) + static_cast<double>(call.channels) * weights,
                 .write = rows * (state + size)}},
      table.code,
      chip);
  profile.behaviour.start_share = table.starts;
  profile.reasons.emplace_back("one token: a thread a channel (causal_conv1d_update.cu)");
  return profile;
}

class CausalConv1d final : public Family {
 public:
  explicit CausalConv1d(ConvTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override { return std::holds_alternative<Conv1dCall>(call); }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& conv = std::get<Conv1dCall>(call);
    const double size = element_size(conv.dtype).value();
    if (size != 2 && size != 4) {
      return make_error(ErrorCode::Unsupported,
                        "[library.causal_conv1d] dtype: got {}, need bf16, fp16 or fp32",
                        name(conv.dtype));
    }
    if (conv.taps < 2 || conv.taps > 4) {
      return make_error(
          ErrorCode::Unsupported, "[library.causal_conv1d] taps: got {}, need 2 to 4", conv.taps);
    }
    return Candidates{
        {conv.step ? one_token(conv, table_, chip) : whole_sequence(conv, table_, chip)}};
  }

 private:
  ConvTable table_;
};

}  // namespace

std::unique_ptr<Family> read_causal_conv1d(machine::NumberFile& file) {
  ConvTable table;
  table.code =
      TritonTable(file,
                  "causal_conv1d",
                  {"whole", "single", "update", "precise", "precise_single", "precise_update"});
  table.starts = one(file, "causal_conv1d.starts");
  return std::make_unique<CausalConv1d>(std::move(table));
}

}  // namespace orrery::library
