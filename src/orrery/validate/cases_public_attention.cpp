// Rows of public attention and latent attention tables, as serving frameworks' kernels ran them.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

/// The kernel that the source had the framework call: its column names the backend, not what ran.
std::string_view kernel_of(std::string_view label) {
  struct Name {
    std::string_view part;
    std::string_view kernel;
  };

  static constexpr Name kNames[] = {{"mla", "mla"},
                                    {"triton", "triton"},
                                    {"trtllm", "trtllm"},
                                    {"flashinfer", "flashinfer"},
                                    {"fa4", "flash4"},
                                    {"v4", "flash4"},
                                    {"fa2", "flash2"},
                                    {"vllm_flash_attn_fa3", "flash3"},
                                    {"fa3", "flash3"},
                                    {"v3", "flash3"},
                                    {"vllm_flash_attn", "flash2"},
                                    {"flash_attention", "flash3"}};
  for (const Name& name : kNames) {
    if (label.find(name.part) != std::string_view::npos) {
      return name.kernel;
    }
  }
  return {};
}

std::string backend_of(const Fields& row, bool latent) {
  std::string lib(row.text("lib"));
  if (latent) {
    return lib + "-mla";
  }
  if (lib == "trtllm") {
    return lib;
  }
  const std::string_view kernel = kernel_of(row.text("kernel"));
  return kernel.empty() ? lib : lib + "-" + std::string(kernel);
}

Result<void> read_types(const Fields& row, library::AttentionCall& call) {
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.kv_dtype, parse_dtype(row.text("kv_dtype")));
  return {};
}

Result<void> read_sizes(const Fields& row, library::AttentionCall& call) {
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.heads, row.size("heads"));
  ORR_TRY(call.seq_q, row.size("seqlen_q"));
  ORR_TRY(call.seq_kv, row.size("seqlen_kv"));
  ORR_TRY(const int64_t causal, row.integer("causal", 0, 1));
  call.causal = causal == 1;
  return {};
}

std::string family_of(const Fields& row) {
  std::string types(row.text("dtype"));
  if (row.text("kv_dtype") != row.text("dtype")) {
    types += "/" + std::string(row.text("kv_dtype"));
  }
  const bool decode = row.text("seqlen_q") == "1";
  return std::string(row.text("lib")) + (decode ? " decode " : " prefill ") + types;
}

}  // namespace

std::string public_attention_family(const Fields& row) {
  return family_of(row);
}

Result<plan::Estimate> predict_public_attention_row(const Fields& row, const Setup& setup) {
  library::AttentionCall call;
  ORR_TRY_VOID(read_types(row, call));
  ORR_TRY_VOID(read_sizes(row, call));
  ORR_TRY(call.kv_heads, row.size("kv_heads"));
  ORR_TRY(call.head_dim, row.size("head_dim"));
  ORR_TRY(call.head_dim_v, row.integer_or("head_dim_v", 0, 1024));
  ORR_TRY(call.window, row.integer_or("window", 0, int64_t{1} << 32));
  call.backend = backend_of(row, false);
  return predict(call, setup, {1, true, 40.0});
}

Result<plan::Estimate> predict_public_mla_row(const Fields& row, const Setup& setup) {
  library::AttentionCall call;
  ORR_TRY_VOID(read_types(row, call));
  ORR_TRY_VOID(read_sizes(row, call));
  const bool decode = call.seq_q == 1;
  call.kv_heads = decode ? 1 : call.heads;
  call.head_dim = decode ? 576 : 192;
  call.head_dim_v = decode ? 512 : 128;
  call.backend = backend_of(row, true);
  return predict(call, setup, {1, true, 40.0});
}

}  // namespace orrery::validate
