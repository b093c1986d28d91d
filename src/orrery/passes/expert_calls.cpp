// From a layer of experts to its calls.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/expert_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "orrery/passes/engine.h"
#include "orrery/passes/expert_rows.h"
#include "orrery/passes/product_types.h"

namespace orrery::passes {

namespace {

using graph::Scheme;

class Experts {
 public:
  Experts(const graph::Graph& graph, const graph::Op& op, const Context& context)
      : graph_(graph), op_(op), context_(context) {}

  Result<ExpertCalls> calls() && {
    ORR_TRY(const std::vector<int64_t> rows, all_rows());
    const library::MoeCall call = layer(rows);
    const bool exchanged = op_.attributes.sources > 1;
    if (exchanged) {
      out_.calls.push_back({".dispatch", exchange(call, true)});
    }
    out_.calls.push_back({"", call});
    if (exchanged) {
      out_.calls.push_back({".combine", exchange(call, false)});
    }
    return std::move(out_);
  }

 private:
  int64_t size(size_t input, size_t axis) const {
    return context_.sizes(graph_[op_.inputs[input]].type.shape[axis]);
  }

  DType dtype(size_t input) const { return graph_[op_.inputs[input]].type.dtype; }

  int64_t hidden() const { return size(2, 2); }

  int64_t held() const { return size(2, 0); }

  int64_t experts() const { return context_.sizes(graph_[op_.inputs[1]].type.shape.back()); }

  int64_t ranks() const { return experts() / held(); }

  /// Of one group of GPUs.
  int64_t own_tokens() const {
    return context_.sizes.elements(graph_[op_.inputs[0]].type.shape) / hidden();
  }

  Routing routing() const {
    return {own_tokens() * op_.attributes.sources, experts(), op_.attributes.size};
  }

  Result<std::vector<int64_t>> all_rows() const {
    if (context_.imbalance == 0) {
      return expert_rows(routing());
    }
    return skewed_rows(routing(), context_.imbalance);
  }

  library::MoeCall layer(const std::vector<int64_t>& rows) {
    library::MoeCall call;
    call.hidden = hidden();
    call.tokens = routing().tokens;
    call.inter = size(3, 2);
    call.topk = op_.attributes.size;
    call.gated = size(2, 1) == 2 * call.inter;
    call.rows = busiest_rank(rows, ranks());
    call.dtype = dtype(0);
    call.backend = expert_backend(context_.engine, op_.attributes.scheme, context_.architecture);
    if (op_.attributes.sources > 1) {  // only what was dispatched to it is there
      call.tokens = dispatched(call.rows);
    }
    if (op_.attributes.scheme != Scheme::None) {
      quantise(call);
    }
    return call;
  }

  /// Tokens that have at least one expert on a GPU with such rows.
  int64_t dispatched(const std::vector<int64_t>& rows) const {
    const Routing all = routing();
    const int64_t sum = std::accumulate(rows.begin(), rows.end(), int64_t{0});
    const double mean_rows =
        static_cast<double>(all.tokens * all.topk) / static_cast<double>(ranks());
    const double mean_tokens = static_cast<double>(all.tokens) *
                               library::distinct_ranks(all.experts, all.topk, ranks()) /
                               static_cast<double>(ranks());
    const auto tokens = std::llround(mean_tokens * static_cast<double>(sum) / mean_rows);
    const int64_t least = std::max<int64_t>(1, rows.front());
    return std::max(least, std::min<int64_t>(all.tokens, tokens));
  }

  void quantise(library::MoeCall& call) {
    const graph::Attributes& attributes = op_.attributes;
    const DType weight = dtype(2);
    const ProductTypes types = product_types(attributes, weight, dtype(0), context_);
    call.dtype = types.input;
    call.quantisation = types.quantisation;
    // Marlin's kernels for float weights are not known on sm_80; those for integers read as much.
    const bool float_weights =
        attributes.scheme == Scheme::Mx && !context_.architecture.starts_with("sm_80");
    const bool weights_only = types.quantisation == library::Quantisation::Int4Weights ||
                              types.quantisation == library::Quantisation::Int8Weights;
    if (float_weights) {  // kernels of their own
      call.dtype = types.widened ? dtype(0) : attributes.activations;
      call.quantisation = library::Quantisation::Mx;
    } else if (weights_only) {
      call.backend = "marlin";
    }
    if (types.widened) {
      out_.notes.push_back(
          fmt::format("experts: {} activations stay {} on this chip, whose matrix unit does not "
                      "take them",
                      name(attributes.activations),
                      name(dtype(0))));
    }
  }

  /// A phase of the exchange. DeepEP's kernels are known on the chips below; elsewhere NCCL's
  /// all-to-all carries as many bytes.
  library::Call exchange(const library::MoeCall& layer, bool dispatch) const {
    const int64_t groups = op_.attributes.sources;
    const int64_t sharers = ranks() / groups;  // of the tokens of a group: each sends its part
    library::ExpertExchangeCall call;
    call.phase = dispatch ? library::ExchangePhase::Dispatch : library::ExchangePhase::Combine;
    call.tokens = (own_tokens() + sharers - 1) / sharers;
    call.hidden = layer.hidden;
    call.experts = experts();
    call.topk = layer.topk;
    call.gpus = ranks();
    call.dtype = dispatch && layer.dtype == DType::F8E4M3 ? DType::F8E4M3 : DType::BF16;
    // DeepEP's README: low-latency kernels for decoding, up to 128 tokens a rank
    constexpr int64_t kFewTokens = 128;
    call.backend = call.tokens <= kFewTokens ? "deepep-low-latency" : "";
    const bool known =
        context_.architecture.starts_with("sm_90") || context_.architecture.starts_with("sm_100");
    return known ? library::Call(call) : library::Call(all_to_all(call));
  }

  static library::CollectiveCall all_to_all(const library::ExpertExchangeCall& call) {
    library::CollectiveCall exchange;
    exchange.op = "all_to_all";
    exchange.gpus = call.gpus;
    exchange.dtype = call.dtype;
    exchange.bytes = std::llround(static_cast<double>(call.tokens * call.hidden) *
                                  element_size(call.dtype).value() *
                                  library::distinct_ranks(call.experts, call.topk, call.gpus));
    return exchange;
  }

  const graph::Graph& graph_;
  const graph::Op& op_;
  const Context& context_;
  ExpertCalls out_;
};

}  // namespace

Result<ExpertCalls> expert_calls(const graph::Graph& graph,
                                 const graph::Op& op,
                                 const Context& context) {
  return Experts(graph, op, context).calls();
}

}  // namespace orrery::passes
