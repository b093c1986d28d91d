// Rows of published linear_attention tables: kernels of recurrent layers and their convolutions.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "orrery/plan/timing.h"
#include "orrery/validate/cases.h"

namespace orrery::validate {

namespace {

// Sources (README of the measured data, section 3):
//   trtllm, sglang   collectors of ai-dynamo/aiconfigurator (collector/{trtllm,sglang}/
//                    collect_{gdn,mamba2}.py): one call in a CUDA graph, replayed on the same
//                    operands; gdn convolves the channels of the keys alone, and decode reads a
//                    bf16 state and writes a new one in fp32
//   aiter_flydsl     ROCm/aiter's tuner: the kernel's own duration over rotated buffers
bool from_aiter(std::string_view lib) {
  return lib.starts_with("aiter");
}

struct Heads {
  int64_t k_heads = 0;
  int64_t k_dim = 0;
  int64_t v_heads = 0;
  int64_t v_dim = 0;
};

Result<Heads> heads_of(const Fields& row) {
  Heads heads;
  ORR_TRY(heads.k_heads, row.size("k_heads"));
  ORR_TRY(heads.k_dim, row.size("k_dim"));
  ORR_TRY(heads.v_heads, row.size("v_heads"));
  ORR_TRY(heads.v_dim, row.size("v_dim"));
  return heads;
}

Result<library::Call> conv_of(const Fields& row, const Heads& heads) {
  library::Conv1dCall call;
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.seq, row.size("seqlen"));
  call.step = row.text("phase") == "generation";
  call.backend = row.text("lib") == "sglang" ? "sglang" : "";
  const int64_t keys = heads.k_heads * heads.k_dim;
  call.channels =
      row.text("kind").starts_with("gdn") ? keys : 2 * keys + heads.v_heads * heads.v_dim;
  return library::Call{call};
}

Result<library::Call> mix_of(const Fields& row, const Heads& heads) {
  const std::string_view kind = row.text("kind");
  library::StateMixCall call;
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.seq, row.size("seqlen"));
  call.kind = kind.starts_with("mamba2") ? library::StateMix::Mamba2
              : kind.starts_with("kda")  ? library::StateMix::KimiDelta
                                         : library::StateMix::GatedDelta;
  call.step = row.text("phase") == "generation";
  call.k_heads = heads.k_heads;
  call.k_dim = heads.k_dim;
  call.v_heads = heads.v_heads;
  call.v_dim = heads.v_dim;
  if (from_aiter(row.text("lib"))) {
    call.backend = "flydsl";
    call.state = kind.ends_with("bfloat16") ? DType::BF16 : DType::F32;
  } else if (call.step) {
    call.state = DType::BF16;
    call.fresh_state = true;
  }
  return library::Call{call};
}

Result<library::Call> call_of(const Fields& row) {
  ORR_TRY(const Heads heads, heads_of(row));
  const std::string_view kind = row.text("kind");
  if (kind.find("conv1d") != std::string_view::npos) {
    return conv_of(row, heads);
  }
  for (const std::string_view known :
       {"delta_rule", "gdr_decode", "chunk_scan", "state_update", "kda"}) {
    if (kind.find(known) != std::string_view::npos) {
      return mix_of(row, heads);
    }
  }
  return make_error(ErrorCode::Unsupported,
                    "[validate.linear_attention] kind: got '{}', need one with conv1d, delta_rule, "
                    "gdr_decode, chunk_scan, state_update or kda in it",
                    kind);
}

}  // namespace

std::string linear_attention_family(const Fields& row) {
  return std::string(row.text("kind"));
}

Result<plan::Estimate> predict_linear_attention_row(const Fields& row, const Setup& setup) {
  ORR_TRY(const library::Call call, call_of(row));
  const bool rotated = from_aiter(row.text("lib"));
  plan::Conditions conditions;
  const bool cold = setup.cache ? *setup.cache == plan::CacheState::Cold : rotated;
  conditions.weights = cold ? plan::CacheState::Cold : plan::CacheState::Warm;
  conditions.activations = conditions.weights;
  conditions.clock = setup.clock.value_or(plan::ClockState::Burst);
  ORR_TRY(plan::StepTime time, plan::time_call(call, conditions, setup.library, setup.estimator));
  plan::Estimate& estimate = time.once;
  // The graph of one call starts and ends beside its kernels; a tuner times the kernel itself.
  const Duration gap = setup.estimator.machine().chip.launch.graph_gap;
  for (Duration* each : {&estimate.time, &estimate.low, &estimate.high}) {
    *each = rotated ? max(*each - gap, Duration::picoseconds(1)) : *each + gap + gap;
  }
  return std::move(estimate);
}

}  // namespace orrery::validate
