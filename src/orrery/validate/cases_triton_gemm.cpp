// Rows of triton_gemm.csv: one product by Triton kernels of many tiles, in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "orrery/library/triton_gemm.h"
#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

// "_r168" of a column that the table has, else "".
Result<std::string> stated(const Fields& row, std::string_view column, std::string_view letter) {
  constexpr int64_t kMost = 1 << 20;
  ORR_TRY(const int64_t value, row.integer_or(column, -1, kMost));
  return value < 0 ? "" : fmt::format("_{}{}", letter, value);
}

Result<std::string> kernel_of(const Fields& row) {
  std::string name = fmt::format("triton_{}_{}x{}x{}_{}_w{}_g{}",
                                 row.text("kind"),
                                 row.text("bm"),
                                 row.text("bn"),
                                 row.text("bk"),
                                 row.text("stages"),
                                 row.text("warps"),
                                 row.text("group_m"));
  if (!library::parse_triton_gemm(name)) {
    return make_error(ErrorCode::InvalidInput,
                      "[validate.triton_gemm] kernel: got '{}', need one like "
                      "triton_ptr_128x256x64_4_w8_g8",
                      name);
  }
  ORR_TRY(const std::string registers, stated(row, "regs", "r"));
  ORR_TRY(const std::string spills, stated(row, "spills", "s"));
  ORR_TRY(const std::string shared, stated(row, "smem", "b"));
  return name + registers + spills + shared;
}

}  // namespace

std::string triton_gemm_family(const Fields& row) {
  return "triton " + std::string(row.text("kind"));
}

std::string triton_gemm_choice(const Fields& row) {
  return fmt::format("m={} n={} k={}", row.text("m"), row.text("n"), row.text("k"));
}

Result<plan::Estimate> predict_triton_gemm_row(const Fields& row, const Setup& setup) {
  library::GemmCall call;
  call.backend = "triton";
  ORR_TRY(call.m, row.size("m"));
  ORR_TRY(call.n, row.size("n"));
  ORR_TRY(call.k, row.size("k"));
  ORR_TRY(call.kernel, kernel_of(row));
  // 12 sets at most, 5 ms of warm-up, 12 of timing (how the table was measured).
  const double elements = number(call.m) * number(call.k) + number(call.n) * number(call.k) +
                          number(call.m) * number(call.n);
  const Loop loop{.sets = input_sets(Bytes(2 * elements), 12), .window_ms = 12, .warm_up_ms = 5};
  return predict(call, setup, loop);
}

}  // namespace orrery::validate
