// Names and text of plans.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/plan.h"

#include <fmt/format.h>

#include <array>

namespace orrery::plan {

std::string_view name(Runtime runtime) {
  switch (runtime) {
    case Runtime::Graph:
      return "graph";
    case Runtime::Eager:
      return "eager";
    case Runtime::Inductor:
      return "inductor";
    case Runtime::Fused:
      return "fused";
  }
  ORR_UNREACHABLE();
}

Result<Runtime> parse_runtime(std::string_view text) {
  for (const Runtime runtime :
       {Runtime::Graph, Runtime::Eager, Runtime::Inductor, Runtime::Fused}) {
    if (text == name(runtime)) {
      return runtime;
    }
  }
  if (text == "orrery") {
    return make_error(ErrorCode::Unsupported,
                      "[plan.runtime] runtime: got '{}', which arrives later; need graph, eager, "
                      "inductor or fused",
                      text);
  }
  return make_error(ErrorCode::InvalidInput,
                    "[plan.runtime] runtime: got '{}', need graph, eager, inductor or fused",
                    text);
}

namespace {

struct KindOf {
  std::string_view op;
  std::string_view kind;
};

constexpr std::array kKinds = {
    KindOf{"rms_norm", "norm"},       KindOf{"layer_norm", "norm"},
    KindOf{"softmax", "norm"},        KindOf{"add", "pointwise"},
    KindOf{"mul", "pointwise"},       KindOf{"neg", "pointwise"},
    KindOf{"silu", "pointwise"},      KindOf{"gelu", "pointwise"},
    KindOf{"gelu_tanh", "pointwise"}, KindOf{"relu", "pointwise"},
    KindOf{"sigmoid", "pointwise"},   KindOf{"softplus", "pointwise"},
    KindOf{"tanh", "pointwise"},      KindOf{"scale", "pointwise"},
    KindOf{"clamp", "pointwise"},     KindOf{"quantize_fp8", "quantize"},
    KindOf{"exp", "pointwise"},       KindOf{"cat", "copy"},
    KindOf{"copy", "copy"},           KindOf{"transpose", "copy"},
    KindOf{"embedding", "embedding"},
};

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

}  // namespace

std::string_view kind_of(const library::Call& call) {
  return std::visit(
      Overloaded{
          [](const library::GemmCall&) -> std::string_view { return "gemm"; },
          [](const library::AttentionCall&) -> std::string_view { return "attention"; },
          [](const library::GroupedGemmCall&) -> std::string_view { return "gemm"; },
          [](const library::ConvCall&) -> std::string_view { return "conv"; },
          [](const library::CollectiveCall&) -> std::string_view { return "collective"; },
          [](const library::ExpertExchangeCall&) -> std::string_view { return "collective"; },
          [](const library::MoeCall&) -> std::string_view { return "moe"; },
          [](const library::StateMixCall&) -> std::string_view { return "recurrence"; },
          [](const library::Conv1dCall&) -> std::string_view { return "conv"; },
          [](const library::IndexerCall&) -> std::string_view { return "attention"; },
          [](const library::SparseAttentionCall&) -> std::string_view { return "attention"; },
          [](const library::FusedCall&) -> std::string_view { return "fused"; },
          [](const library::RowsCall& rows) -> std::string_view {
            for (const KindOf& each : kKinds) {
              if (each.op == rows.op) {
                return each.kind;
              }
            }
            return "other";
          },
      },
      call);
}

}  // namespace orrery::plan
