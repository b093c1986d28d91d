// Calls: their names, texts and sizes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/call.h"

#include <fmt/format.h>

#include "orrery/base/check.h"
#include "orrery/library/gemm_types.h"
#include "orrery/library/moe_types.h"

namespace orrery::library {

namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::string text_of(const GemmCall& c) {
  const std::string batch = c.batch == 1 ? "" : fmt::format(" batch={}", c.batch);
  const std::string layout =
      c.layout == GemmLayout::NT ? "" : fmt::format(" layout={}", name(c.layout));
  const std::string backend = c.backend.empty() ? "" : " backend=" + c.backend;
  const std::string quantise =
      c.quantise == QuantiseA::None ? "" : fmt::format(" quantise={}", name(c.quantise));
  return fmt::format("gemm{} m={} n={} k={} dtype={}{}{}{}",
                     batch,
                     c.m,
                     c.n,
                     c.k,
                     types_name(c),
                     layout,
                     backend,
                     quantise);
}

std::string text_of(const AttentionCall& c) {
  std::string extra;
  if (c.head_dim_v > 0 && c.head_dim_v != c.head_dim) {
    extra += fmt::format(" head_dim_v={}", c.head_dim_v);
  }
  if (c.window > 0) {
    extra += fmt::format(" window={}", c.window);
  }
  if (c.kv_dtype && *c.kv_dtype != c.dtype) {
    extra += fmt::format(" kv_dtype={}", name(*c.kv_dtype));
  }
  if (c.backward) {
    extra += " direction=backward";
  }
  if (c.values_in_keys) {
    extra += " values_in_keys=1";
  }
  if (!c.lengths.empty()) {
    extra += fmt::format(" lengths={}", fmt::join(c.lengths, ","));
  }
  if (!c.key_lengths.empty()) {
    extra += fmt::format(" key_lengths={}", fmt::join(c.key_lengths, ","));
  }
  return fmt::format(
      "attention batch={} heads={} kv_heads={} seq_q={} seq_kv={} head_dim={} causal={} "
      "dtype={}{}{}",
      c.batch,
      c.heads,
      c.kv_heads,
      c.seq_q,
      c.seq_kv,
      c.head_dim,
      c.causal ? 1 : 0,
      name(c.dtype),
      c.backend.empty() ? "" : " backend=" + c.backend,
      extra);
}

std::string text_of(const RowsCall& c) {
  return fmt::format("{} rows={} cols={} dtype={}{}",
                     c.op,
                     c.rows,
                     c.cols,
                     name(c.dtype),
                     c.strided ? " strided=1" : "");
}

std::string text_of(const GroupedGemmCall& c) {
  return fmt::format("grouped_gemm experts={} rows_per_expert={} n={} k={} dtype={}",
                     c.rows.size(),
                     fmt::join(c.rows, ","),
                     c.n,
                     c.k,
                     name(c.dtype));
}

std::string text_of(const MoeCall& c) {
  return fmt::format(
      "moe tokens={} hidden={} inter={} experts={} topk={} rows_per_expert={} gated={} "
      "dtype={}{}{}",
      c.tokens,
      c.hidden,
      c.inter,
      c.rows.size(),
      c.topk,
      fmt::join(c.rows, ","),
      c.gated ? 1 : 0,
      types_name(c),
      c.backend.empty() ? "" : " backend=",
      c.backend);
}

std::string text_of(const ConvCall& c) {
  return fmt::format(
      "conv batch={} c={} h={} w={} k={} r={} s={} stride={} pad={}{} groups={} layout={} "
      "dtype={}",
      c.batch,
      c.c,
      c.h,
      c.w,
      c.k,
      c.r,
      c.s,
      c.stride,
      c.pad,
      c.dilation == 1 ? "" : fmt::format(" dilation={}", c.dilation),
      c.groups,
      c.layout == ImageLayout::Nchw ? "nchw" : "nhwc",
      name(c.dtype));
}

std::string text_of(const CollectiveCall& c) {
  const bool plain = c.dtype == DType::BF16;
  return fmt::format("{} bytes={} gpus={}{}{}{}{}{}",
                     c.op,
                     c.bytes,
                     c.gpus,
                     c.stream ? " mode=stream" : "",
                     plain ? "" : " dtype=",
                     plain ? "" : name(c.dtype),
                     c.backend.empty() ? "" : " backend=",
                     c.backend);
}

int64_t elements_of(const std::vector<FusedOperand>& operands) {
  int64_t all = 0;
  for (const FusedOperand& operand : operands) {
    all += operand.elements;
  }
  return all;
}

std::string text_of(const FusedCall& c) {
  return fmt::format("{} ops={} rows={} cols={} reads={} writes={}",
                     c.absorbed ? "absorbed" : "fused",
                     fmt::join(c.ops, ","),
                     c.rows,
                     c.cols,
                     elements_of(c.reads),
                     elements_of(c.writes));
}

}  // namespace

std::string_view name(QuantiseA quantise) {
  switch (quantise) {
    case QuantiseA::None:
      return "none";
    case QuantiseA::Static:
      return "static";
    case QuantiseA::Tensor:
      return "tensor";
    case QuantiseA::Token:
      return "token";
    case QuantiseA::Group128:
      return "group128";
    case QuantiseA::Group16:
      return "group16";
  }
  ORR_UNREACHABLE();
}

std::optional<QuantiseA> parse_quantise(std::string_view text) {
  using enum QuantiseA;
  for (const QuantiseA each : {None, Static, Tensor, Token, Group128, Group16}) {
    if (name(each) == text) {
      return each;
    }
  }
  return std::nullopt;
}

std::string_view name(GemmLayout layout) {
  switch (layout) {
    case GemmLayout::NT:
      return "nt";
    case GemmLayout::NN:
      return "nn";
    case GemmLayout::TN:
      return "tn";
    case GemmLayout::TT:
      return "tt";
  }
  return "";
}

std::string_view name(const Call& call) {
  return std::visit(
      Overloaded{
          [](const GemmCall&) -> std::string_view { return "gemm"; },
          [](const AttentionCall&) -> std::string_view { return "attention"; },
          [](const RowsCall& rows) -> std::string_view { return rows.op; },
          [](const GroupedGemmCall&) -> std::string_view { return "grouped_gemm"; },
          [](const ConvCall&) -> std::string_view { return "conv"; },
          [](const CollectiveCall& c) -> std::string_view { return c.op; },
          [](const ExpertExchangeCall& c) -> std::string_view { return name(c.phase); },
          [](const MoeCall&) -> std::string_view { return "moe"; },
          [](const FusedCall&) -> std::string_view { return "fused"; },
          [](const StateMixCall&) -> std::string_view { return "state_mix"; },
          [](const Conv1dCall&) -> std::string_view { return "causal_conv1d"; },
          [](const IndexerCall&) -> std::string_view { return "indexer"; },
          [](const SparseAttentionCall&) -> std::string_view { return "sparse_attention"; },
      },
      call);
}

std::string to_text(const Call& call) {
  return std::visit([](const auto& each) { return text_of(each); }, call);
}

NamedSizes positive_sizes(const Call& call) {
  return std::visit(
      Overloaded{
          [](const GemmCall& c) -> NamedSizes {
            return {{"batch", c.batch}, {"m", c.m}, {"n", c.n}, {"k", c.k}};
          },
          [](const AttentionCall& c) -> NamedSizes {
            return {{"batch", c.batch},
                    {"heads", c.heads},
                    {"kv_heads", c.kv_heads},
                    {"seq_q", c.seq_q},
                    {"seq_kv", c.seq_kv},
                    {"head_dim", c.head_dim}};
          },
          [](const RowsCall& c) -> NamedSizes { return {{"rows", c.rows}, {"cols", c.cols}}; },
          [](const GroupedGemmCall& c) -> NamedSizes {
            return {{"experts", static_cast<int64_t>(c.rows.size())}, {"n", c.n}, {"k", c.k}};
          },
          [](const MoeCall& c) -> NamedSizes {
            return {{"tokens", c.tokens},
                    {"hidden", c.hidden},
                    {"inter", c.inter},
                    {"topk", c.topk},
                    {"experts", static_cast<int64_t>(c.rows.size())}};
          },
          [](const ConvCall& c) -> NamedSizes {
            return {{"batch", c.batch},
                    {"c", c.c},
                    {"h", c.h},
                    {"w", c.w},
                    {"k", c.k},
                    {"r", c.r},
                    {"s", c.s},
                    {"stride", c.stride},
                    {"dilation", c.dilation},
                    {"groups", c.groups}};
          },
          [](const FusedCall& c) -> NamedSizes { return {{"rows", c.rows}, {"cols", c.cols}}; },
          [](const CollectiveCall& c) -> NamedSizes {
            return {{"bytes", c.bytes}, {"gpus", c.gpus}};
          },
          [](const ExpertExchangeCall& c) -> NamedSizes { return positive_sizes(c); },
          [](const StateMixCall& c) -> NamedSizes { return positive_sizes(c); },
          [](const Conv1dCall& c) -> NamedSizes { return positive_sizes(c); },
          [](const IndexerCall& c) -> NamedSizes { return positive_sizes(c); },
          [](const SparseAttentionCall& c) -> NamedSizes { return positive_sizes(c); },
      },
      call);
}

}  // namespace orrery::library
