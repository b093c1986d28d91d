// Rows of gemm.csv: single products in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

/// "nvjet_256x128_64x4_1x2_coopA_TNT", a candidate's name, of a profiler's
/// "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT|..."; empty if it is no nvjet kernel.
std::string nvjet_name(std::string_view kernels) {
  constexpr std::string_view kBegin = "nvjet_sm90_";
  const size_t at = kernels.find(kBegin);
  if (at == std::string_view::npos) {
    return "";
  }
  std::string_view name = kernels.substr(at + kBegin.size());
  name = name.substr(0, name.find('|'));
  name.remove_prefix(std::min(name.size(), name.find('_') + 1));  // "tst_", the types
  const size_t raster = std::min(name.find("_h_bz"), name.find("_v_bz"));
  if (raster == std::string_view::npos) {
    return "";
  }
  return "nvjet_" + std::string(name.substr(0, raster)) + std::string(name.substr(raster + 5));
}

Result<plan::Estimate> predict_given(const library::Call& call,
                                     const Setup& setup,
                                     const Loop& loop,
                                     const std::string& kernel) {
  ORR_TRY(auto candidates, setup.library.candidates(call, setup.estimator.machine().chip));
  std::erase_if(candidates, [&](const auto& each) { return each.front().kernel != kernel; });
  if (candidates.empty()) {
    return make_error(ErrorCode::NotFound,
                      "[validate.gemm] given kernel: got '{}', need a candidate's name",
                      kernel);
  }
  return plan::choose(candidates, setup.estimator, conditions_of(setup, loop)).estimate;
}

}  // namespace

std::string gemm_family(const Fields& row) {
  return "gemm " + std::string(row.text("dtype"));
}

Result<plan::Estimate> predict_gemm_row(const Fields& row, const Setup& setup) {
  library::GemmCall call;
  ORR_TRY(call.input, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.m, row.size("m"));
  ORR_TRY(call.n, row.size("n"));
  ORR_TRY(call.k, row.size("k"));
  call.output = product_type(call.input);
  const double inputs = (number(call.m) + number(call.n)) * number(call.k);
  const Bytes operands =
      number(call.batch) * (inputs * element_size(call.input) +
                            number(call.m) * number(call.n) * element_size(call.output));
  const bool fresh = call.input == DType::F8E4M3;  // torch._scaled_mm makes its result
  const Loop loop{input_sets(operands, 48), fresh};
  return setup.given_kernel ? predict_given(call, setup, loop, nvjet_name(row.text("kernels")))
                            : predict(call, setup, loop);
}

}  // namespace orrery::validate
