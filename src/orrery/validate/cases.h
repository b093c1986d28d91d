// Kinds of measured tables: how a file is recognised, and how one of its rows is predicted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"
#include "orrery/library/library.h"
#include "orrery/plan/estimate.h"
#include "orrery/plan/plan.h"
#include "orrery/validate/counters.h"
#include "orrery/validate/fields.h"

namespace orrery::validate {

/// What rows are predicted with. Left out settings are those that the file was measured with.
struct Setup {
  const library::Library& library;
  const plan::Estimator& estimator;
  std::vector<frontend::Model> decoders = {};  // models.json beside the file
  /// Reads them, for a table that has decoders; left out: they are there.
  std::function<Result<std::vector<frontend::Model>>()> decoders_beside = {};
  std::function<Result<frontend::Model>(std::string_view)> model = {};  // shipped, by name
  std::optional<plan::ClockState> clock = {};
  std::optional<plan::CacheState> cache = {};
  std::optional<plan::Runtime> runtime = {};
  std::string file = {};      // name of the table, without its folder and ending
  bool given_kernel = false;  // the kernel that ran is given, where its name is known (kernels)
};

/// A further time of a row: its own measured column, and a column that predictions are written to.
struct ExtraTime {
  std::string_view measured;
  std::string_view column;
  std::string (*family)(const Fields&);
  Result<plan::Estimate> (*predict)(const Fields&, const Setup&);
};

/// One layout of columns. A prediction uses only columns that describe the case, never times
/// or clocks, and kernel names only where given_kernel asks for it.
struct TableKind {
  std::string_view name;
  std::vector<std::string_view> columns;  // that a table of this kind must have
  std::string (*family)(const Fields&);   // label of the row's group in the scores
  Result<plan::Estimate> (*predict)(const Fields&, const Setup&);
  std::vector<ExtraTime> extras = {};
  bool has_decoders = false;                       // rows name decoders of the list beside the file
  std::string (*choice)(const Fields&) = nullptr;  // rows of one text are ways to do the same, to
                                                   // be ranked (ranking.h)
  Result<std::vector<device::Counter>> (*counters)(const Fields&, const Setup&) = nullptr;
};

/// In the order in which they are tried: the first whose columns are all there counts.
std::span<const TableKind> table_kinds();

// The kinds' functions; each in its cases_*.cpp.
std::string model_family(const Fields& row);
Result<plan::Estimate> predict_model_row(const Fields& row, const Setup& setup);
std::string mixed_family(const Fields& row);
Result<plan::Estimate> predict_mixed_row(const Fields& row, const Setup& setup);
std::string mixed_attention_family(const Fields& row);
Result<plan::Estimate> predict_mixed_attention(const Fields& row, const Setup& setup);
std::string tp_family(const Fields& row);
Result<plan::Estimate> predict_tp_row(const Fields& row, const Setup& setup);
std::string tp_alone_family(const Fields& row);
Result<plan::Estimate> predict_tp_alone(const Fields& row, const Setup& setup);
std::string gemm_family(const Fields& row);
Result<plan::Estimate> predict_gemm_row(const Fields& row, const Setup& setup);
Result<plan::Estimate> predict_gemm_layout_row(const Fields& row, const Setup& setup);
std::string public_gemm_family(const Fields& row);
Result<plan::Estimate> predict_public_gemm_row(const Fields& row, const Setup& setup);
std::string gemm_burst_family(const Fields& row);
std::string gemm_steady_family(const Fields& row);
Result<plan::Estimate> predict_gemm_burst(const Fields& row, const Setup& setup);
Result<plan::Estimate> predict_gemm_steady(const Fields& row, const Setup& setup);
std::string grouped_gemm_family(const Fields& row);
Result<plan::Estimate> predict_grouped_gemm_row(const Fields& row, const Setup& setup);
Result<plan::Estimate> predict_public_grouped_gemm_row(const Fields& row, const Setup& setup);
std::string attention_family(const Fields& row);
Result<plan::Estimate> predict_attention_row(const Fields& row, const Setup& setup);
std::string public_attention_family(const Fields& row);
Result<plan::Estimate> predict_public_attention_row(const Fields& row, const Setup& setup);
Result<plan::Estimate> predict_public_mla_row(const Fields& row, const Setup& setup);
std::string linear_attention_family(const Fields& row);
Result<plan::Estimate> predict_linear_attention_row(const Fields& row, const Setup& setup);
std::string conv_family(const Fields& row);
Result<plan::Estimate> predict_conv_row(const Fields& row, const Setup& setup);
std::string collective_family(const Fields& row);
Result<plan::Estimate> predict_collective_row(const Fields& row, const Setup& setup);
std::string public_moe_family(const Fields& row);
Result<plan::Estimate> predict_public_moe_row(const Fields& row, const Setup& setup);
std::string public_model_family(const Fields& row);
Result<plan::Estimate> predict_public_model_row(const Fields& row, const Setup& setup);
std::string expert_parallel_family(const Fields& row);
Result<plan::Estimate> predict_expert_parallel_row(const Fields& row, const Setup& setup);
std::string exchange_family(const Fields& row);
Result<plan::Estimate> predict_exchange_row(const Fields& row, const Setup& setup);
std::string dispatch_family(const Fields& row);
Result<plan::Estimate> predict_dispatch(const Fields& row, const Setup& setup);
std::string combine_family(const Fields& row);
Result<plan::Estimate> predict_combine(const Fields& row, const Setup& setup);
std::string public_rows_family(const Fields& row);
Result<plan::Estimate> predict_public_rows_row(const Fields& row, const Setup& setup);
Result<plan::Estimate> predict_public_quantize_row(const Fields& row, const Setup& setup);
std::string public_collective_family(const Fields& row);
Result<plan::Estimate> predict_public_collective_row(const Fields& row, const Setup& setup);
std::string fused_family(const Fields& row);
Result<plan::Estimate> predict_fused_row(const Fields& row, const Setup& setup);
std::string counters_family(const Fields& row);
Result<plan::Estimate> predict_counters_row(const Fields& row, const Setup& setup);
/// "nvjet_256x128_64x4_1x2_coopA_TNT", a candidate's name, of a profiler's
/// "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT|..."; empty if it is no nvjet kernel.
std::string nvjet_name(std::string_view kernels);
std::string triton_gemm_family(const Fields& row);
std::string triton_gemm_choice(const Fields& row);
Result<plan::Estimate> predict_triton_gemm_row(const Fields& row, const Setup& setup);
std::string rows_family(const Fields& row);
Result<plan::Estimate> predict_rows_row(const Fields& row, const Setup& setup);

}  // namespace orrery::validate
