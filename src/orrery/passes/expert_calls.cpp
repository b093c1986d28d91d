// From a layer of experts to its calls.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/expert_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "orrery/passes/expert_rows.h"
#include "orrery/passes/product_types.h"

namespace orrery::passes {

namespace {

using graph::Scheme;

/// Whose kernels serving engines run for experts of such weights: what vLLM and SGLang choose by
/// themselves, as far as the libraries know it.
std::string_view backend_of(Scheme scheme, std::string_view architecture) {
  const auto on = [architecture](std::string_view chip) { return architecture.starts_with(chip); };
  if (on("gfx")) {
    return "";
  }
  switch (scheme) {
    case Scheme::None:
      return "";
    case Scheme::Tensor:
    case Scheme::Channel:
      return on("sm_100") ? "trtllm-gen" : "cutlass";
    case Scheme::Block:
      return on("sm_100") ? "trtllm-gen" : on("sm_120") ? "triton-64" : "triton";
    case Scheme::Group:
      return "marlin";
    case Scheme::Mx:
      return on("sm_90") ? "triton-mxfp4" : "marlin";
    case Scheme::Nv:
      return "flashinfer-cutlass";
  }
  ORR_UNREACHABLE();
}

class Experts {
 public:
  Experts(const graph::Graph& graph, const graph::Op& op, const Context& context)
      : graph_(graph), op_(op), context_(context) {}

  Result<ExpertCalls> calls() && {
    ORR_TRY(std::vector<int64_t> rows, all_rows());
    library::MoeCall call = layer(std::move(rows));
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

  library::MoeCall layer(std::vector<int64_t> rows) {
    library::MoeCall call;
    call.hidden = hidden();
    call.tokens = routing().tokens;
    call.inter = size(3, 2);
    call.topk = op_.attributes.size;
    call.gated = size(2, 1) == 2 * call.inter;
    call.rows = busiest_rank(rows, ranks());
    call.dtype = dtype(0);
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
    const double mean_tokens =
        static_cast<double>(all.tokens) * ranks_met(all, ranks()) / static_cast<double>(ranks());
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
    call.backend = backend_of(attributes.scheme, context_.architecture);
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

  /// One direction of the all-to-all: a token travels once to each GPU that holds one of its
  /// experts.
  library::Call exchange(const library::MoeCall& layer, bool dispatch) const {
    const int64_t groups = op_.attributes.sources;
    const int64_t sharers = ranks() / groups;  // of the tokens of a group: each sends its part
    const double tokens =
        std::ceil(static_cast<double>(own_tokens()) / static_cast<double>(sharers));
    const DType sent = dispatch && layer.dtype == DType::F8E4M3 ? DType::F8E4M3 : dtype(0);
    library::CollectiveCall call;
    call.op = "all_to_all";
    call.gpus = ranks();
    call.dtype = sent;
    call.bytes = std::llround(tokens * ranks_met(routing(), ranks()) *
                              static_cast<double>(layer.hidden) * element_size(sent).value());
    return call;
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
