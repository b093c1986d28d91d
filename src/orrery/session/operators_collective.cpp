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

}  // namespace

std::vector<Operator> collective_operators() {
  return {
      collective("all_reduce", "the sum of all GPUs' inputs, on all"),
      collective("all_gather", "all GPUs' inputs, joined, on all"),
      collective("reduce_scatter", "the sum of all GPUs' inputs, a share on each"),
      collective("all_to_all", "a share of each GPU's input to each other"),
      collective("broadcast", "one GPU's input to all"),
      collective("send_recv", "one GPU's input to another"),
  };
}

}  // namespace orrery::session
