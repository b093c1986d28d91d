// Recurrent layers: which kernels run, and the update of the states in decode.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/state_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/library/chunk_delta.h"
#include "orrery/library/chunk_scan.h"
#include "orrery/library/counts.h"
#include "orrery/library/triton_kernel.h"

namespace orrery::library {
namespace {

using kernel::Profile;

// One kernel of decode: a program holds `columns` of a head's v_dim, all of k_dim.
struct Update {
  std::string_view code;
  std::string_view kernel;
  double columns = 8;
  const char* reason = "";
};

Update update_of(const StateMixCall& call, const machine::Chip& chip) {
  switch (call.kind) {
    case StateMix::GatedDelta:
      if (call.backend == "flydsl" || chip.vendor == machine::Vendor::Amd) {
        return {chip.architecture == "gfx950" ? "flydsl_950" : "flydsl",
                "gdr_decode",
                16,
                "decode: a block holds 16 columns of a state (AITER)"};
      }
      [[fallthrough]];
    case StateMix::KimiDelta:
      return {"recurrent",
              "fused_recurrent_gated_delta_rule_fwd_kernel",
              8,
              "decode: a warp holds 8 columns of a state (fla fused_recurrent)"};
    case StateMix::Lightning:
      return {"recurrent",
              "_linear_attn_decode_kernel",
              32,
              "decode: a program holds 32 columns of a state (vLLM linear_decode)"};
    case StateMix::Mamba1:
      return {"update_wide",
              "_selective_scan_update_kernel",
              32,
              "decode: a program holds 32 channels (mamba_ssm selective_state_update)"};
    case StateMix::Mamba2:
      return {"update",
              "_selective_scan_update_kernel",
              512 / static_cast<double>(std::clamp<int64_t>(call.k_dim, 16, 128)),
              "decode: a program holds 4 rows of a state of 128 (mamba_ssm "
              "selective_state_update)"};
  }
  ORR_UNREACHABLE();
}

// AITER's kernel, tuned apart for each architecture.
struct Flydsl {
  double waits = 0;  // dependent accesses of a block
  double dram = 1;   // of the achieved DRAM bandwidth
  Duration fixed;
};

struct MixTable {
  TritonTable code;
  Flydsl gfx942;
  Flydsl gfx950;
};

Profile update_states(const StateMixCall& call, const MixTable& table, const machine::Chip& chip) {
  const Update update = update_of(call, chip);
  const double size = element_size(call.dtype).value();
  const double old = element_size(call.state).value();
  const double written = call.fresh_state ? 4 : old;
  const auto k = static_cast<double>(call.k_dim);
  const bool one = call.kind == StateMix::Mamba1;  // heads are channels: v_dim 1
  const double heads = one ? 1 : static_cast<double>(call.v_heads);
  const double v = one ? product(call.v_heads, call.v_dim) : static_cast<double>(call.v_dim);
  const double sequences = static_cast<double>(call.batch);
  const double columns = std::min(update.columns, v);
  const double states = sequences * heads * k * v;
  // Rows of the state that are shorter than a sector draw whole sectors.
  const double sector = chip.l2.sector.value();
  const bool across = call.kind == StateMix::GatedDelta || call.kind == StateMix::KimiDelta;
  const auto drawn = [&](double bytes) {
    return across ? k * std::max(sector, columns * bytes) : k * columns * bytes;
  };
  const double gates = call.kind == StateMix::KimiDelta ? 4 * k : one ? 4 * k * columns : 0;
  const double keys = sequences * static_cast<double>(call.k_heads) * k * size;
  TritonLaunch launch{.code = update.code,
                      .kernel = update.kernel,
                      .programs = sequences * heads * std::ceil(v / columns),
                      .l2_read = drawn(old) + 2 * k * size + columns * size + gates,
                      .l2_write = drawn(written) + columns * size,
                      .size = k * columns / 1024,
                      .apart = true,
                      .moved = {.read = states * old + 2 * keys + sequences * heads * v * size,
                                .write = states * written + sequences * heads * v * size}};
  if (update.code != "recurrent") {
    launch.size = 1;
  }
  const bool flydsl = update.code.starts_with("flydsl");
  const Flydsl& own = update.code == "flydsl" ? table.gfx942 : table.gfx950;
  launch.waits = flydsl ? own.waits : 2;
  Profile profile = triton_profile(launch, table.code, chip);
  profile.behaviour.single_pass = true;
  if (flydsl) {
    profile.behaviour.dram_share = own.dram;
    profile.fixed = own.fixed;
  }
  profile.reasons.emplace_back(update.reason);
  return profile;
}

class StateMixing final : public Family {
 public:
  explicit StateMixing(MixTable table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    return std::holds_alternative<StateMixCall>(call);
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& mix = std::get<StateMixCall>(call);
    if (element_size(mix.dtype).value() != 2) {
      return make_error(ErrorCode::Unsupported,
                        "[library.state_mix] dtype: got {}, need bf16 or fp16",
                        name(mix.dtype));
    }
    if (mix.v_heads % mix.k_heads != 0) {
      return make_error(ErrorCode::InvalidInput,
                        "[library.state_mix] v_heads: got {} with k_heads {}, need a multiple",
                        mix.v_heads,
                        mix.k_heads);
    }
    if (mix.step) {
      return Candidates{{update_states(mix, table_, chip)}};
    }
    switch (mix.kind) {
      case StateMix::GatedDelta:
      case StateMix::KimiDelta:
        return Candidates{chunk_delta(mix, table_.code, chip)};
      case StateMix::Lightning:
        return Candidates{lightning_scan(mix, table_.code, chip)};
      case StateMix::Mamba1:
        return Candidates{selective_scan(mix, table_.code, chip)};
      case StateMix::Mamba2:
        return Candidates{mamba2_scan(mix, table_.code, chip)};
    }
    ORR_UNREACHABLE();
  }

 private:
  MixTable table_;
};

}  // namespace

std::unique_ptr<Family> read_state_mix(machine::NumberFile& file) {
  MixTable table;
  table.code = TritonTable(file,
                           "state_mix",
                           {"cumsum",
                            "kkt",
                            "solve",
                            "merge",
                            "wu",
                            "state",
                            "output",
                            "recurrent",
                            "flydsl",
                            "flydsl_950",
                            "ssd_cumsum",
                            "ssd_state",
                            "ssd_pass",
                            "ssd_bmm",
                            "ssd_scan",
                            "update",
                            "update_wide",
                            "lightning_diagonal",
                            "lightning_state",
                            "lightning_output",
                            "selective_scan"});
  const auto flydsl = [&file](const std::string& name) {
    return Flydsl{.waits = one(file, "state_mix." + name + "_waits"),
                  .dram = one(file, "state_mix." + name + "_dram"),
                  .fixed = duration(file, "state_mix." + name + "_fixed")};
  };
  table.gfx942 = flydsl("flydsl");
  table.gfx950 = flydsl("flydsl_950");
  return std::make_unique<StateMixing>(std::move(table));
}

}  // namespace orrery::library
