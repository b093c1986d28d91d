// Calls of recurrent layers and of sparse attention: their names, texts and sizes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/mixer_calls.h"

#include <fmt/format.h>

#include <array>

#include "orrery/base/text.h"

namespace orrery::library {

namespace {

struct MixName {
  StateMix kind;
  std::string_view name;
};

constexpr std::array kMixNames = {
    MixName{StateMix::GatedDelta, "gated_delta"},
    MixName{StateMix::KimiDelta, "kimi_delta"},
    MixName{StateMix::Lightning, "lightning"},
    MixName{StateMix::Mamba1, "mamba1"},
    MixName{StateMix::Mamba2, "mamba2"},
};

std::string backend_text(const std::string& backend) {
  return backend.empty() ? "" : " backend=" + backend;
}

std::string_view phase_of(bool step) {
  return step ? "decode" : "prefill";
}

}  // namespace

std::string_view name(StateMix kind) {
  for (const MixName& each : kMixNames) {
    if (each.kind == kind) {
      return each.name;
    }
  }
  return "";
}

Result<StateMix> parse_state_mix(std::string_view text) {
  std::vector<std::string> names;
  for (const MixName& each : kMixNames) {
    if (each.name == text) {
      return each.kind;
    }
    names.emplace_back(each.name);
  }
  return make_error(ErrorCode::InvalidInput,
                    "[library.state_mix] kind: got '{}', need one of {}{}",
                    text,
                    fmt::join(names, ", "),
                    did_you_mean(text, names));
}

std::string text_of(const StateMixCall& c) {
  return fmt::format(
      "state_mix kind={} phase={} batch={} seq={} k_heads={} k_dim={} v_heads={} v_dim={} "
      "dtype={} state_dtype={}{}{}",
      name(c.kind),
      phase_of(c.step),
      c.batch,
      c.seq,
      c.k_heads,
      c.k_dim,
      c.v_heads,
      c.v_dim,
      name(c.dtype),
      name(c.state),
      c.fresh_state ? " fresh_state=1" : "",
      backend_text(c.backend));
}

std::string text_of(const Conv1dCall& c) {
  return fmt::format("causal_conv1d phase={} batch={} seq={} channels={}{} dtype={}{}",
                     phase_of(c.step),
                     c.batch,
                     c.seq,
                     c.channels,
                     c.taps == 4 ? "" : fmt::format(" taps={}", c.taps),
                     name(c.dtype),
                     backend_text(c.backend));
}

std::string text_of(const IndexerCall& c) {
  return fmt::format("indexer batch={} seq_q={} seq_kv={} heads={} head_dim={} topk={}{} dtype={}",
                     c.batch,
                     c.seq_q,
                     c.seq_kv,
                     c.heads,
                     c.head_dim,
                     c.topk,
                     c.compress == 1 ? "" : fmt::format(" compress={}", c.compress),
                     name(c.dtype));
}

std::string text_of(const SparseAttentionCall& c) {
  std::string extra;
  if (c.window > 0) {
    extra += fmt::format(" window={}", c.window);
  }
  if (c.compress != 1) {
    extra += fmt::format(" compress={}", c.compress);
  }
  return fmt::format(
      "sparse_attention batch={} heads={} seq_q={} seq_kv={} head_dim={} head_dim_v={} topk={}{} "
      "dtype={} kv_dtype={}",
      c.batch,
      c.heads,
      c.seq_q,
      c.seq_kv,
      c.head_dim,
      c.head_dim_v,
      c.topk,
      extra,
      name(c.dtype),
      name(c.kv_dtype));
}

std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const StateMixCall& c) {
  return {{"batch", c.batch},
          {"seq", c.seq},
          {"k_heads", c.k_heads},
          {"k_dim", c.k_dim},
          {"v_heads", c.v_heads},
          {"v_dim", c.v_dim}};
}

std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const Conv1dCall& c) {
  return {{"batch", c.batch}, {"seq", c.seq}, {"channels", c.channels}, {"taps", c.taps}};
}

std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const IndexerCall& c) {
  return {{"batch", c.batch},
          {"seq_q", c.seq_q},
          {"seq_kv", c.seq_kv},
          {"heads", c.heads},
          {"head_dim", c.head_dim},
          {"topk", c.topk},
          {"compress", c.compress}};
}

std::vector<std::pair<std::string_view, int64_t>> positive_sizes(const SparseAttentionCall& c) {
  return {{"batch", c.batch},
          {"heads", c.heads},
          {"seq_q", c.seq_q},
          {"seq_kv", c.seq_kv},
          {"head_dim", c.head_dim},
          {"head_dim_v", c.head_dim_v},
          {"compress", c.compress}};
}

}  // namespace orrery::library
