// Rows of public moe_ep_fused.csv: dispatch, experts and combine of several GPUs in one kernel.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "orrery/library/moe_types.h"
#include "orrery/plan/timing.h"
#include "orrery/validate/expert_routing.h"
#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

// DeepGEMM's mega kernel copies a token for each expert, multiplies experts whose tokens have come
// while others are on their way, and sends results back as tiles end. We have no profile of it, so:
//
//     an exchange of one token, and then the longer of the experts and of what more tokens add to
//     it
//
// with the experts as TensorRT-LLM's generated kernels of the same types, and the exchange as
// DeepEP's low latency kernels, which copy as this one does. Nothing is fitted to these rows.

struct Layer {
  library::MoeCall experts;  // of the GPU with most rows
  library::ExpertExchangeCall exchange;
};

Result<Layer> layer_of(const Fields& row) {
  if (row.text("kernel") != "deepgemm_megamoe") {
    return make_error(ErrorCode::Unsupported,
                      "[validate.expert_parallel] kernel: got '{}', need deepgemm_megamoe",
                      row.text("kernel"));
  }
  Layer layer;
  library::MoeCall& experts = layer.experts;
  ORR_TRY(experts, library::with_types(experts, row.text("dtype")));
  ORR_TRY(experts.tokens, row.size("tokens"));
  ORR_TRY(experts.hidden, row.size("hidden"));
  ORR_TRY(experts.inter, row.size("inter"));
  ORR_TRY(experts.topk, row.integer("topk", 1, 1 << 16));
  experts.backend = "trtllm-gen";
  ORR_TRY(const int64_t all, row.integer("experts", 1, 1 << 16));
  ORR_TRY(const int64_t gpus, row.integer("ep", 1, 1 << 16));
  ORR_TRY(Routed routed,
          route({.tokens = experts.tokens * gpus,
                 .experts = all,
                 .topk = experts.topk,
                 .gpus = gpus,
                 .distribution = row.text("distribution")}));
  experts.rows = std::move(routed.rows);
  layer.exchange = {.tokens = experts.tokens,
                    .hidden = experts.hidden,
                    .experts = all,
                    .topk = experts.topk,
                    .gpus = gpus,
                    .backend = "deepep-low-latency"};
  return layer;
}

Result<Duration> exchange_time(library::ExpertExchangeCall call,
                               int64_t tokens,
                               const plan::Conditions& conditions,
                               const Setup& setup) {
  call.tokens = tokens;
  call.phase = library::ExchangePhase::Dispatch;
  call.dtype = DType::F8E4M3;
  ORR_TRY(const plan::StepTime dispatch,
          plan::time_call(call, conditions, setup.library, setup.estimator));
  call.phase = library::ExchangePhase::Combine;
  call.dtype = DType::BF16;
  ORR_TRY(const plan::StepTime combine,
          plan::time_call(call, conditions, setup.library, setup.estimator));
  return dispatch.once.time + combine.once.time;
}

}  // namespace

std::string expert_parallel_family(const Fields& row) {
  return std::string(row.text("lib")) + " " + std::string(row.text("phase"));
}

Result<plan::Estimate> predict_expert_parallel_row(const Fields& row, const Setup& setup) {
  ORR_TRY(const Layer layer, layer_of(row));
  plan::Conditions conditions = conditions_of(setup, {.sets = 1, .fresh = false});
  conditions.kernel_only = true;
  ORR_TRY(const Duration one, exchange_time(layer.exchange, 1, conditions, setup));
  ORR_TRY(const Duration all,
          exchange_time(layer.exchange, layer.exchange.tokens, conditions, setup));
  ORR_TRY(const plan::StepTime experts,
          plan::time_call(layer.experts, conditions, setup.library, setup.estimator));
  plan::Estimate estimate = experts.once;
  if (all - one > estimate.time) {
    estimate.bound = plan::Bound::Link;
  }
  for (Duration* time : {&estimate.time, &estimate.low, &estimate.high}) {
    *time = one + std::max(*time, all - one);
  }
  return estimate;
}

}  // namespace orrery::validate
