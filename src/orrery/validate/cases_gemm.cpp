// Rows of gemm.csv and gemm2.csv, single products in a measuring loop, and of gemm_power.csv, one
// product for a second.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "orrery/library/gemm_types.h"
#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

/// A row's product, but for its batch and layout.
Result<library::GemmCall> call_of(const Fields& row, const Setup& setup) {
  library::GemmCall call;
  ORR_TRY(call, library::with_types(call, row.text("dtype")));
  ORR_TRY(call.m, row.size("m"));
  ORR_TRY(call.n, row.size("n"));
  ORR_TRY(call.k, row.size("k"));
  if (setup.given_kernel) {
    call.kernel = nvjet_name(row.text("kernels"));
    if (call.kernel.empty()) {
      return make_error(ErrorCode::NotFound,
                        "[validate.gemm] given kernel: got '{}', need an nvjet kernel",
                        row.text("kernels"));
    }
  }
  return call;
}

Result<library::GemmLayout> parse_layout(std::string_view text) {
  using enum library::GemmLayout;
  for (const auto layout : {NT, NN, TN, TT}) {
    if (name(layout) == text) {
      return layout;
    }
  }
  return make_error(
      ErrorCode::InvalidInput, "[validate.gemm] layout: got '{}', need nt, nn, tn or tt", text);
}

Loop loop_of(const library::GemmCall& call, double window_ms) {
  const Bytes operands =
      library::activation_bytes(call) + library::weight_bytes(call) + library::result_bytes(call);
  // torch._scaled_mm, torch._int_mm and their like make their results.
  const bool fresh = call.input == DType::F8E4M3 || call.input == DType::I8 ||
                     call.quantisation != library::Quantisation::None;
  return {input_sets(operands, 48), fresh, window_ms};
}

/// Rows of A, B or C that are no multiples of 16 bytes, which TMA cannot load.
bool odd(const Fields& row) {
  const auto type = parse_dtype(row.text("dtype"));
  const auto n = row.size("n");
  const auto k = row.size("k");
  if (!type.ok() || !n.ok() || !k.ok()) {
    return false;
  }
  const auto bytes = static_cast<int64_t>(element_size(*type).value());
  return bytes == 2 && (*n * bytes % 16 != 0 || *k * bytes % 16 != 0);
}

Result<plan::Estimate> predict_power(const Fields& row,
                                     const Setup& setup,
                                     plan::ClockState state) {
  ORR_TRY(const library::GemmCall call, call_of(row, setup));
  Setup here = setup;
  here.clock = state;
  return predict(call, here, loop_of(call, 0));
}

std::string power_family(const Fields& row, std::string_view state) {
  const std::string_view data = row.text("data");
  return "gemm " + std::string(state) + (data == "randn" ? "" : " " + std::string(data));
}

}  // namespace

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

std::string gemm_family(const Fields& row) {
  if (odd(row)) {
    return "gemm odd";
  }
  std::string family = "gemm " + std::string(row.text("dtype"));
  const auto batch = row.size("batch");
  if (batch.ok() && *batch > 1) {
    family += " batched";
  }
  const std::string_view layout = row.text("layout");
  return layout.empty() || layout == "nt" ? family : family + " " + std::string(layout);
}

Result<plan::Estimate> predict_gemm_row(const Fields& row, const Setup& setup) {
  ORR_TRY(library::GemmCall call, call_of(row, setup));
  ORR_TRY(call.batch, row.size("batch"));
  return predict(call, setup, loop_of(call, 40));
}

Result<plan::Estimate> predict_gemm_layout_row(const Fields& row, const Setup& setup) {
  ORR_TRY(library::GemmCall call, call_of(row, setup));
  ORR_TRY(call.layout, parse_layout(row.text("layout")));
  return predict(call, setup, loop_of(call, 30));
}

std::string gemm_burst_family(const Fields& row) {
  return power_family(row, "burst");
}

std::string gemm_steady_family(const Fields& row) {
  return power_family(row, "steady");
}

Result<plan::Estimate> predict_gemm_burst(const Fields& row, const Setup& setup) {
  return predict_power(row, setup, plan::ClockState::Burst);
}

Result<plan::Estimate> predict_gemm_steady(const Fields& row, const Setup& setup) {
  return predict_power(row, setup, plan::ClockState::Steady);
}

}  // namespace orrery::validate
