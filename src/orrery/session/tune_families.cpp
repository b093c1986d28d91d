// Candidates of the GEMM, residual norm and decode attention families.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/tune_families.h"

#include <type_traits>
#include <utility>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"

namespace orrery::session {

namespace {

constexpr Key kDtype{"dtype", "bf16", "bf16 or fp16"};

/// Programs are written for an instruction set; others have none here yet.
Result<kernel::Target> target_of(const machine::Chip& chip) {
  if (chip.architecture == "sm_90a") {
    return kernel::Target::Sm90a;
  }
  if (chip.architecture == "gfx942") {
    return kernel::Target::Gfx942;
  }
  return make_error(ErrorCode::Unsupported,
                    "[session.tune] architecture of machine '{}': got '{}', need sm_90a or gfx942 "
                    "(a file that is like h200-sxm or mi300x may state theirs)",
                    chip.id,
                    chip.architecture);
}

template <class Config>
using Maker = Result<kernel::Program> (*)(const Config&);

/// Adds a configuration's programs: the first, and a second one if there is a maker for it.
template <class Config>
Result<void> add(Candidates& to,
                 const Config& config,
                 Maker<Config> first,
                 std::type_identity_t<Maker<Config>> second) {
  std::vector<kernel::Program> programs;
  ORR_TRY(kernel::Program program, first(config));
  programs.push_back(std::move(program));
  if (second != nullptr) {
    ORR_TRY(kernel::Program combine, second(config));
    programs.push_back(std::move(combine));
  }
  to.programs.emplace_back(kernel_name(config), std::move(programs));
  return {};
}

Result<Candidates> gemm(ArgumentReader& arguments, const machine::Chip& chip) {
  const kernel::GemmExtents extents{
      .m = arguments.size("m"), .n = arguments.size("n"), .k = arguments.size("k")};
  kernel::GemmConfig base;
  base.dtype = arguments.dtype();
  arguments.elements("A", {extents.m, extents.k});
  arguments.elements("B", {extents.n, extents.k});
  arguments.elements("C", {extents.m, extents.n});
  ORR_TRY_VOID(arguments.finish());
  ORR_TRY(base.target, target_of(chip));
  Candidates result;
  for (const kernel::GemmConfig& config : kernel::gemm_configs(extents, chip, base)) {
    ORR_TRY_VOID(add(result,
                     config,
                     kernel::gemm_program,
                     config.parts > 1 ? kernel::gemm_combine_program : nullptr));
  }
  result.extents.set("m", extents.m);
  result.extents.set("n", extents.n);
  result.extents.set("k", extents.k);
  return result;
}

Result<Candidates> add_rms_norm(ArgumentReader& arguments, const machine::Chip& chip) {
  const int64_t rows = arguments.size("rows");
  const int64_t cols = arguments.size("cols");
  kernel::AddRmsNormConfig base;
  base.dtype = arguments.dtype();
  arguments.elements("rows x cols", {rows, cols});
  ORR_TRY_VOID(arguments.finish());
  ORR_TRY(base.target, target_of(chip));
  Candidates result;
  for (const auto& config : kernel::add_rms_norm_configs(rows, cols, chip, base)) {
    ORR_TRY_VOID(add(result, config, kernel::add_rms_norm_program, nullptr));
  }
  result.extents.set("rows", rows);
  result.extents.set("cols", cols);
  return result;
}

Result<Candidates> decode_attention(ArgumentReader& arguments, const machine::Chip& chip) {
  const int64_t heads = arguments.size("heads");
  const int64_t kv_heads = arguments.size("kv_heads");
  const int64_t batch = arguments.size("batch");
  const int64_t keys = arguments.size("seq_kv");
  kernel::DecodeConfig base;
  base.head_dim = arguments.integer("head_dim", 1, 1024);
  base.dtype = arguments.dtype();
  arguments.elements("k", {batch, kv_heads, keys, base.head_dim});
  arguments.require(
      heads % kv_heads == 0,
      fmt::format("heads: got {} with kv_heads {}, need a multiple", heads, kv_heads));
  ORR_TRY_VOID(arguments.finish());
  ORR_TRY(base.target, target_of(chip));
  const kernel::DecodeExtents extents{.b = batch, .h = kv_heads, .g = heads / kv_heads, .s = keys};
  Candidates result;
  for (const auto& config : kernel::decode_configs(extents, chip, base)) {
    ORR_TRY_VOID(add(result,
                     config,
                     kernel::decode_attention_program,
                     config.parts > 1 ? kernel::decode_combine_program : nullptr));
  }
  result.extents.set("b", extents.b);
  result.extents.set("h", extents.h);
  result.extents.set("g", extents.g);
  result.extents.set("s", extents.s);
  return result;
}

}  // namespace

const std::vector<TunedFamily>& tuned_families() {
  static const std::vector<TunedFamily> kFamilies = {
      {{"gemm",
        "C[m, n] = A[m, k] B[n, k]^T",
        {{"m", "", "rows of A"}, {"n", "", "rows of B"}, {"k", "", "columns of both"}, kDtype}},
       gemm},
      {{"add_rms_norm",
        "H = X + R, Y = H / rms(H) * W",
        {{"rows", "", "rows"}, {"cols", "", "columns"}, kDtype}},
       add_rms_norm},
      {{"decode_attention",
        "one new token against a cache",
        {{"batch", "", "sequences"},
         {"heads", "", "query heads"},
         {"kv_heads", "heads", "key and value heads"},
         {"seq_kv", "", "tokens in the cache"},
         {"head_dim", "128", "size of a head"},
         kDtype}},
       decode_attention},
  };
  return kFamilies;
}

}  // namespace orrery::session
