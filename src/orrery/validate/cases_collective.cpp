// Rows of collectives.csv: one collective in a loop over the same buffers, in a CUDA graph or not.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

std::string collective_family(const Fields& row) {
  return std::string(row.text("op")) + " " + std::string(row.text("mode"));
}

Result<plan::Estimate> predict_collective_row(const Fields& row, const Setup& setup) {
  library::CollectiveCall call;
  call.op = row.text("op");
  ORR_TRY(call.gpus, row.size("world"));
  ORR_TRY(call.bytes, row.integer("bytes", 1, int64_t{1} << 40));
  const std::string_view mode = row.text("mode");
  if (mode != "graph" && mode != "stream") {
    return make_error(
        ErrorCode::InvalidInput, "[validate.fields] mode: got '{}', need graph or stream", mode);
  }
  call.stream = mode == "stream";
  return predict(call, setup, {.sets = 1, .fresh = false});
}

}  // namespace orrery::validate
