// DeepEP: bytes and blocks of dispatch and combine.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/expert_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Range;
using machine::Unit;

constexpr std::string_view kNormal = "deepep";
constexpr std::string_view kLowLatency = "deepep-low-latency";

/// What one kernel costs; expert_exchange.h has the formula.
struct Cost {
  Duration fixed;
  Duration expert;   // per expert of the layer
  Duration element;  // per feature of a token
  double token = 0;  // clocks of an SM per token
  double copy = 0;   // and per copy
  BytesPerCycle rate;
  double own = 0;    // bytes of the rank's own tokens, in copies
  double share = 1;  // of the link's achieved rate
};

struct Generation {
  std::string architecture;
  Cost normal[2];  // by phase
  Cost low_latency[2];
};

struct Table {
  std::vector<Generation> generations;
  int64_t sms = 0;     // of normal kernels
  double overlap = 0;  // exponent of SMs with the link
  double error = 0;
};

/// What crosses the link for one copy of a token.
double copy_bytes(const ExpertExchangeCall& call, bool low_latency) {
  const auto hidden = static_cast<double>(call.hidden);
  constexpr double kScale = 4.0 / 128;  // an fp32 per 128 features
  constexpr double kHeader = 16;        // where the token comes from
  const bool scaled = call.dtype == DType::F8E4M3;
  const double bytes = hidden * (element_size(call.dtype).value() + (scaled ? kScale : 0));
  return bytes + (low_latency && call.phase == ExchangePhase::Dispatch ? kHeader : 0);
}

/// Copies of a token that leave it, those to its own rank included.
double copies_of(const ExpertExchangeCall& call, bool low_latency) {
  return low_latency ? static_cast<double>(call.topk)
                     : distinct_ranks(call.experts, call.topk, call.gpus);
}

Result<void> check(const ExpertExchangeCall& call, const machine::Chip& chip) {
  const auto refuse = [&](ErrorCode code, const std::string& what) {
    return make_error(code, "[library.expert_exchange] {}: {}", name(call.phase), what);
  };
  if (call.gpus < 2 || call.gpus > chip.link.gpus) {
    return refuse(ErrorCode::Unsupported,
                  fmt::format("got {} GPUs, need 2 to the {} of a node of {}: networks between "
                              "nodes are not described",
                              call.gpus,
                              chip.link.gpus,
                              chip.id));
  }
  if (call.experts % call.gpus != 0 || call.topk > call.experts) {
    return refuse(
        ErrorCode::InvalidInput,
        fmt::format("got {} experts, topk {} on {} GPUs, need a multiple of the GPUs, and "
                    "topk of at most the experts",
                    call.experts,
                    call.topk,
                    call.gpus));
  }
  const bool fp8 = call.phase == ExchangePhase::Dispatch && call.dtype == DType::F8E4M3;
  if (!fp8 && call.dtype != DType::BF16) {
    return refuse(ErrorCode::Unsupported,
                  fmt::format("got dtype {}, need bf16{}",
                              name(call.dtype),
                              call.phase == ExchangePhase::Dispatch ? " or fp8" : ""));
  }
  return {};
}

class DeepEp final : public Family {
 public:
  explicit DeepEp(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* exchange = std::get_if<ExpertExchangeCall>(&call);
    return exchange != nullptr && (exchange->backend.empty() || exchange->backend == kNormal ||
                                   exchange->backend == kLowLatency);
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& exchange = std::get<ExpertExchangeCall>(call);
    ORR_TRY_VOID(check(exchange, chip));
    for (const Generation& generation : table_.generations) {
      if (chip.architecture.rfind(generation.architecture, 0) == 0) {
        return Candidates{{profile_of(exchange, generation, chip)}};
      }
    }
    return make_error(
        ErrorCode::Unsupported,
        "[library.expert_exchange] {}: got architecture {}, need one that is measured",
        name(exchange.phase),
        chip.architecture);
  }

 private:
  int64_t blocks_of(const ExpertExchangeCall& call,
                    bool low_latency,
                    const machine::Chip& chip) const {
    if (!low_latency) {
      return std::min(call.sms > 0 ? call.sms : table_.sms, chip.core.count);
    }
    const int64_t groups = ceil_div(call.experts, chip.core.count);
    return ceil_div(call.experts, groups);
  }

  kernel::Profile profile_of(const ExpertExchangeCall& call,
                             const Generation& generation,
                             const machine::Chip& chip) const;

  Table table_;
};

/// What one block does: its share of the tokens, copy by copy.
kernel::ProfilePhase block_phase(const Cost& cost, double tokens, double copies, double bytes) {
  kernel::ProfilePhase phase;
  phase.name = "blocks";
  phase.chain.fixed = Cycles(
      tokens * (cost.token + copies * cost.copy + (copies + cost.own) * bytes / cost.rate.value()));
  return phase;
}

kernel::Profile DeepEp::profile_of(const ExpertExchangeCall& call,
                                   const Generation& generation,
                                   const machine::Chip& chip) const {
  const bool low_latency = call.backend == kLowLatency;
  const bool combine = call.phase == ExchangePhase::Combine;
  const Cost& cost = (low_latency ? generation.low_latency : generation.normal)[combine ? 1 : 0];
  const double copies = copies_of(call, low_latency);
  const double bytes = copy_bytes(call, low_latency);
  const auto tokens = static_cast<double>(call.tokens);
  const auto gpus = static_cast<double>(call.gpus);
  kernel::Profile profile;
  profile.kernel = fmt::format(
      "deep_ep {}{}", combine ? "combine" : "dispatch", low_latency ? " low latency" : "");
  profile.family = "expert_exchange";
  profile.units = profile.ctas = blocks_of(call, low_latency, chip);
  profile.threads = low_latency ? 1024 : 768;  // csrc/kernels/internode_ll.cu, intranode.cu
  const auto blocks = static_cast<double>(profile.units);
  profile.kinds.push_back({blocks, {block_phase(cost, tokens / blocks, copies, bytes)}});
  const double one = tokens * bytes;
  profile.traffic = streamed(combine ? copies * one : one, combine ? one : copies * one);
  profile.link.sent = Bytes(copies * one * (gpus - 1) / gpus);
  profile.link.share = cost.share;
  profile.fixed = cost.fixed +
                  Duration::from(cost.expert.seconds() * static_cast<double>(call.experts)) +
                  Duration::from(cost.element.seconds() * static_cast<double>(call.hidden));
  profile.behaviour.overlap = table_.overlap;
  profile.behaviour.relative_error = table_.error;
  profile.reasons.push_back(fmt::format(
      "{} blocks; {:.3g} copies of a token, {:.0f} bytes each", profile.units, copies, bytes));
  return profile;
}

Cost read_cost(NumberFile& file, const std::string& key) {
  const auto some = [&](const char* name, Unit unit) {
    return file.number_or(key + name, unit, 0, Range::NotNegative);
  };
  const auto time = [&](const char* name) {
    return Duration::from(Seconds(some(name, Unit::Seconds)));
  };
  return {.fixed = time(".fixed"),
          .expert = time(".expert"),
          .element = time(".element"),
          .token = some(".token", Unit::Cycles),
          .copy = some(".copy", Unit::Cycles),
          .rate = BytesPerCycle(file.number(key + ".rate", Unit::BytesPerCycle)),
          .own = some(".own", Unit::One),
          .share = file.number(key + ".share", Unit::One)};
}

}  // namespace

std::unique_ptr<Family> read_deepep(NumberFile& file) {
  Table table;
  for (const std::string& architecture : file.list("deepep.architectures")) {
    const std::string key = fmt::format("deepep.{}.", architecture);
    table.generations.push_back(
        {architecture,
         {read_cost(file, key + "dispatch"), read_cost(file, key + "combine")},
         {read_cost(file, key + "low_latency_dispatch"),
          read_cost(file, key + "low_latency_combine")}});
  }
  table.sms = static_cast<int64_t>(file.number("deepep.sms", Unit::One, Range::Count));
  table.overlap = file.number("deepep.overlap", Unit::One);
  table.error = error_of(file, "deepep");
  return std::make_unique<DeepEp>(std::move(table));
}

}  // namespace orrery::library
