// Rows of public allreduce.csv and its like: collectives inside a node, in a loop over one buffer.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

struct FileName {
  std::string_view file;
  std::string_view op;
};

constexpr std::array kFiles = {FileName{"allreduce", "all_reduce"},
                               FileName{"allgather", "all_gather"},
                               FileName{"reducescatter", "reduce_scatter"},
                               FileName{"alltoall", "all_to_all"},
                               FileName{"sendrecv", "send_recv"}};

}  // namespace

std::string public_collective_family(const Fields& row) {
  const std::string_view bytes = row.text("bytes");
  constexpr size_t kMebibyteDigits = 7;  // 1048576
  return std::string(row.text("lib")) + (bytes.size() >= kMebibyteDigits ? " large" : " small");
}

// nccl-tests launches call after call from the host, which keeps ahead: as in a CUDA graph. bytes
// is what nccl-tests calls the size: of an all-gather, all inputs together.
Result<plan::Estimate> predict_public_collective_row(const Fields& row, const Setup& setup) {
  library::CollectiveCall call;
  for (const FileName& each : kFiles) {
    call.op = each.file == setup.file ? each.op : call.op;
  }
  if (call.op.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[validate.collective] file name: got '{}', need allreduce, allgather, "
                      "reducescatter, alltoall or sendrecv to know the operator",
                      setup.file);
  }
  ORR_TRY(const int64_t nodes, row.integer_or("nodes", 1, 1 << 20));
  if (nodes > 1) {
    return make_error(ErrorCode::Unsupported,
                      "[validate.collective] nodes: got {}, need 1: links inside a node are "
                      "described, networks are not",
                      nodes);
  }
  ORR_TRY(call.gpus, row.size("ngpus"));
  ORR_TRY(call.bytes, row.integer("bytes", 1, int64_t{1} << 40));
  if (call.op == "all_gather") {
    call.bytes = std::max<int64_t>(1, call.bytes / call.gpus);
  }
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  const std::string_view lib = row.text("lib");
  const bool engine = lib == "vllm" || lib == "sglang" || lib == "trtllm";
  call.backend = engine ? lib : "";
  call.stream = engine && row.text("graph") == "0";
  return predict(call, setup, {.sets = 1, .fresh = false});
}

}  // namespace orrery::validate
