// Collectives on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

library::Call collective_call(ArgumentReader& reader) {
  library::CollectiveCall call;
  call.op = reader.op();
  call.bytes = reader.integer("bytes", 1, int64_t{1} << 40);
  call.gpus = reader.integer("gpus", 2, int64_t{1} << 20);
  const std::string mode = reader.text("mode");
  reader.require(mode == "graph" || mode == "stream",
                 fmt::format("mode: got '{}', need graph or stream", mode));
  call.stream = mode == "stream";
  call.dtype = reader.dtype();
  const std::string backend = reader.text("backend");
  const bool known =
      backend == "nccl" || backend == "vllm" || backend == "sglang" || backend == "trtllm";
  reader.require(known,
                 fmt::format("backend: got '{}', need nccl, vllm, sglang or trtllm", backend));
  call.backend = backend == "nccl" ? "" : backend;
  return call;
}

Operator collective(std::string_view name, std::string_view summary) {
  return {name,
          summary,
          {{"bytes", "", "input of one GPU"},
           {"gpus", "2", "of one node"},
           {"mode", "graph", "graph (inside a CUDA graph) or stream (launched by the host)"},
           {"backend", "nccl", "nccl; all_reduce also vllm, sglang, trtllm: their own kernels"},
           kDtypeKey},
          collective_call};
}

library::Call exchange_call(ArgumentReader& reader) {
  library::ExpertExchangeCall call;
  call.phase = reader.op() == "moe_combine" ? library::ExchangePhase::Combine
                                            : library::ExchangePhase::Dispatch;
  call.tokens = reader.size("tokens");
  call.hidden = reader.size("hidden");
  call.experts = reader.integer("experts", 1, int64_t{1} << 20);
  call.topk = reader.integer("topk", 1, int64_t{1} << 20);
  call.gpus = reader.integer("gpus", 2, int64_t{1} << 20);
  call.dtype = reader.dtype();
  const std::string backend = reader.text("backend");
  reader.require(backend == "deepep" || backend == "deepep-low-latency",
                 fmt::format("backend: got '{}', need deepep or deepep-low-latency", backend));
  call.backend = backend == "deepep" ? "" : backend;
  call.sms = reader.integer("sms", 0, int64_t{1} << 20);
  reader.elements("tokens", {call.tokens, call.hidden, call.topk});
  return call;
}

Operator exchange(std::string_view name, std::string_view summary, std::string_view dtype) {
  return {name,
          summary,
          {{"tokens", "", "tokens of one GPU"},
           {"hidden", "", "features of a token"},
           {"experts", "", "of the layer, on all GPUs together, all alike"},
           {"topk", "", "experts of a token"},
           {"gpus", "8", "of one node"},
           {"backend", "deepep", "deepep, or deepep-low-latency: for decode steps"},
           {"sms", "0", "that deepep takes; 0: as it sets"},
           {"dtype", dtype, "that crosses the link: bf16; moe_dispatch also fp8"}},
          exchange_call};
}

}  // namespace

std::vector<Operator> collective_operators() {
  return {
      collective("all_reduce", "the sum of all GPUs' inputs, on all"),
      collective("all_gather", "all GPUs' inputs, joined, on all"),
      collective("reduce_scatter", "the sum of all GPUs' inputs, a share on each"),
      collective("all_to_all", "a share of each GPU's input to each other"),
      collective("broadcast", "one GPU's input to all"),
      collective("send_recv", "one GPU's input to another"),
      exchange("moe_dispatch", "expert parallelism: tokens to the GPUs of their experts", "fp8"),
      exchange("moe_combine", "expert parallelism: experts' results back to their tokens", "bf16"),
  };
}

}  // namespace orrery::session
