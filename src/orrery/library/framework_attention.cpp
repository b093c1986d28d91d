// Attention of serving frameworks: which kernel on which chip, the cache written before it.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/framework_attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "orrery/base/dtype.h"
#include "orrery/base/text.h"
#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"
#include "orrery/library/framework_decode.h"
#include "orrery/library/framework_prefill.h"
#include "orrery/library/framework_tables.h"
#include "orrery/library/framework_tiles.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using machine::NumberFile;

constexpr std::array<std::string_view, 3> kFrameworks = {"sglang", "vllm", "trtllm"};
constexpr std::array<std::string_view, 7> kKernels = {
    "flash2", "flash3", "flash4", "flashinfer", "triton", "trtllm", "mla"};

bool fp8_cache(const AttentionCall& call) {
  return call.kv_dtype.value_or(call.dtype) == DType::F8E4M3;
}

bool is(const machine::Chip& chip, std::string_view prefix) {
  return std::string_view(chip.architecture).starts_with(prefix);
}

// vllm/platforms/cuda.py, sglang's server_args.py and model files, of the versions that the library
// files name: the kernels a framework takes, first choice first.
std::vector<std::string_view> sglang_order(const AttentionCall& call, const machine::Chip& chip) {
  const bool sliding = call.window > 0;
  if (is(chip, "sm_10")) {
    return call.head_dim == 192 ? std::vector<std::string_view>{"triton", "flash3"}
                                : std::vector<std::string_view>{"trtllm", "flash3"};
  }
  if (is(chip, "sm_90")) {
    const bool gemma = call.head_dim > 256 || (call.head_dim == 256 && sliding);
    return gemma ? std::vector<std::string_view>{"triton", "flash3"}
                 : std::vector<std::string_view>{"flash3"};
  }
  if (is(chip, "sm_80")) {
    return {"flash3", "flashinfer"};
  }
  const bool plain = call.head_dim != 64 && call.head_dim != 192 && call.causal &&
                     call.dtype != DType::F8E4M3 && (!sliding || is(chip, "sm_89"));
  return plain ? std::vector<std::string_view>{"flashinfer", "triton"}
               : std::vector<std::string_view>{"triton", "flashinfer"};
}

std::vector<std::string_view> vllm_order(const AttentionCall& call, const machine::Chip& chip) {
  const bool fp8 = fp8_cache(call);
  if (is(chip, "sm_10")) {
    return fp8 && call.head_dim == 192 ? std::vector<std::string_view>{"triton", "flash3"}
                                       : std::vector<std::string_view>{"trtllm", "flash3"};
  }
  if (is(chip, "sm_90")) {
    return {"flash3"};
  }
  if (!fp8) {
    return {"flash2"};
  }
  return call.head_dim == 192 ? std::vector<std::string_view>{"triton", "flashinfer"}
                              : std::vector<std::string_view>{"flashinfer", "triton"};
}

class FrameworkAttention final : public Family {
 public:
  explicit FrameworkAttention(FrameworkTables tables) : tables_(std::move(tables)) {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    if (attention == nullptr || attention->backward) {
      return false;
    }
    const BackendName asked = parse_backend(attention->backend);
    if (!asked.known) {
      return false;
    }
    if (asked.framework.empty() || asked.kernel == "mla") {
      return tables_.kernels.contains(asked.kernel) &&
             (asked.framework.empty() || asked.framework == tables_.framework);
    }
    if (asked.kernel == "trtllm" && tables_.kernels.contains("trtllm")) {
      // TensorRT-LLM's own serves where the framework that calls it has no numbers of it.
      return asked.framework == tables_.framework || tables_.framework == "trtllm";
    }
    return asked.framework == tables_.framework && asked.kernel != "trtllm" &&
           !tables_.kernels.contains("mla");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check(attention, chip));
    ORR_TRY(const std::string kernel, kernel_of(attention, chip));
    ORR_TRY(std::vector<Profile> sequence, kernels_of(attention, kernel, chip));
    const BackendName asked = parse_backend(attention.backend);
    if (!asked.kernel.empty() && asked.kernel != kernel) {
      sequence.back().reasons.push_back(
          fmt::format("no numbers of {} on this instruction class: as {}", asked.kernel, kernel));
    }
    return Candidates{std::move(sequence)};
  }

 private:
  Result<void> check(const AttentionCall& call, const machine::Chip& chip) const;
  Result<std::string> kernel_of(const AttentionCall& call, const machine::Chip& chip) const;
  Result<std::vector<Profile>> kernels_of(const AttentionCall& call,
                                          const std::string& kernel,
                                          const machine::Chip& chip) const;
  Profile prologue(const AttentionCall& call, bool latent, const machine::Chip& chip) const;
  std::string names() const;

  FrameworkTables tables_;
};

Result<void> FrameworkAttention::check(const AttentionCall& call, const machine::Chip& chip) const {
  if (call.dtype != DType::F8E4M3) {
    ORR_TRY_VOID(check_attention(call, chip));
  } else if (chip.core.tensor.find(call.dtype) == chip.core.tensor.end()) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] {} has no matrix rate for {}",
                      chip.id,
                      name(call.dtype));
  }
  const DType cache = call.kv_dtype.value_or(call.dtype);
  if (cache != call.dtype && cache != DType::F8E4M3) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] kv_dtype: got {} for queries of {}, need the same or "
                      "f8e4m3",
                      name(cache),
                      name(call.dtype));
  }
  if (!call.lengths.empty()) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] lengths: got {} sequences, need backend flash",
                      call.lengths.size());
  }
  return {};
}

std::string FrameworkAttention::names() const {
  std::vector<std::string> all;
  for (const auto& [kernel, tables] : tables_.kernels) {
    all.push_back(kernel);
  }
  return orrery::join(all, ", ");
}

Result<std::string> FrameworkAttention::kernel_of(const AttentionCall& call,
                                                  const machine::Chip& chip) const {
  const BackendName asked = parse_backend(call.backend);
  std::vector<std::string_view> order{"trtllm"};
  if (tables_.framework == "sglang") {
    order = sglang_order(call, chip);
  } else if (tables_.framework == "vllm") {
    order = vllm_order(call, chip);
  }
  if (!asked.kernel
           .empty()) {  // one that has no numbers here is taken as the framework's own choice
    order.insert(order.begin(), asked.kernel);
  }
  for (const std::string_view kernel : order) {
    if (tables_.kernels.contains(std::string(kernel))) {
      return std::string(kernel);
    }
  }
  return make_error(ErrorCode::Unsupported,
                    "[library.attention] {}: got kernel {} on {}, need one of {}",
                    call.backend,
                    order.front(),
                    chip.architecture,
                    names());
}

// The new keys and values go to the cache; a kernel that rotates takes the queries along.
Profile FrameworkAttention::prologue(const AttentionCall& call,
                                     bool latent,
                                     const machine::Chip& chip) const {
  constexpr double kLatent = 576;
  const PrologueTable& table = tables_.prologue;
  const bool rotary = table.rotary;
  const double element = element_size(DType::BF16).value();
  const double cached = element_size(call.kv_dtype.value_or(call.dtype)).value();
  const double dims = static_cast<double>(call.head_dim + value_dim(call));
  const double entries = latent ? product(call.batch, call.seq_q) * kLatent
                                : product(call.batch, call.kv_heads, call.seq_q) * dims;
  const double queries =
      rotary ? product(call.batch, call.heads, call.seq_q, call.head_dim) * element : 0;
  Profile profile;
  profile.kernel = rotary ? "rotate_and_write_cache" : "write_cache";
  profile.family = "attention";
  profile.traffic = streamed(entries * element + queries, entries * cached + queries);
  profile.behaviour.dram_share = table.share;
  const auto sms = static_cast<double>(chip.core.count);
  kernel::ProfilePhase write;
  write.name = "elements";
  write.chain.fixed = Cycles((fp8_cache(call) ? table.element_fp8 : table.element) * entries / sms);
  set_units(profile, {{sms, {write}}});
  if (value_dim(call) != call.head_dim && !latent) {
    profile.fixed = Duration::from(Seconds(table.unlike));
  }
  profile.reasons.emplace_back("the new keys and values go to the paged cache");
  return profile;
}

Result<std::vector<Profile>> FrameworkAttention::kernels_of(const AttentionCall& call,
                                                            const std::string& kernel,
                                                            const machine::Chip& chip) const {
  const bool fp8 = fp8_cache(call);
  const KernelTables* tables = &tables_.kernels.at(kernel);
  std::vector<Profile> sequence;
  if (call.causal || call.seq_q == 1) {
    sequence.push_back(prologue(call, kernel == "mla", chip));
  }
  if (call.seq_q == 1) {
    const auto mmha = tables_.kernels.find("mmha");
    const bool other = mmha != tables_.kernels.end() && kernel == "trtllm" && tables->decode &&
                       !grouped_kernel_serves(
                           call, tables->decode->rule == "xqa" && !has_tcgen05(chip), fp8, chip);
    tables = other ? &mmha->second : tables;
    if (tables->decode) {
      const bool own = fp8 && tables->decode_fp8;
      auto decode = framework_decode(
          call, other ? "mmha" : kernel, own ? *tables->decode_fp8 : *tables->decode, chip);
      std::move(decode.begin(), decode.end(), std::back_inserter(sequence));
      return sequence;
    }
  }
  if (call.seq_q == 1 && kernel == "trtllm") {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] {}: got seq_q 1, need more: its decode kernels are not "
                      "known on {}",
                      call.backend,
                      chip.id);
  }
  if (!tables->prefill) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] {}: got seq_q {}, need 1: {} is a decode kernel",
                      call.backend,
                      call.seq_q,
                      kernel);
  }
  const bool fp8_math = call.dtype == DType::F8E4M3 || (fp8 && tables->prefill->fp8_math);
  if (fp8_math && !chip.core.tensor.contains(DType::F8E4M3)) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] {} has no matrix rate for {}, which {} multiplies in",
                      chip.id,
                      name(DType::F8E4M3),
                      kernel);
  }
  const PrefillTable& table =
      fp8_math && tables->prefill_fp8 ? *tables->prefill_fp8 : *tables->prefill;
  sequence.push_back(framework_prefill(call, kernel, table, fp8_math, chip));
  return sequence;
}

}  // namespace

BackendName parse_backend(std::string_view backend) {
  const auto known = [](std::string_view name, const auto& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  BackendName result;
  const size_t dash = backend.find('-');
  if (dash != std::string_view::npos) {
    result.framework = backend.substr(0, dash);
    result.kernel = backend.substr(dash + 1);
    result.known = known(result.framework, kFrameworks) && known(result.kernel, kKernels);
  } else if (known(backend, kFrameworks)) {
    result.framework = backend;
    result.known = true;
  } else {
    result.kernel = backend;
    result.known = known(backend, kKernels);
  }
  return result;
}

std::vector<std::string> framework_backends() {
  std::vector<std::string> all(kFrameworks.begin(), kFrameworks.end());
  for (const std::string_view kernel : kKernels) {
    if (kernel != "trtllm") {
      all.emplace_back(kernel);
    }
  }
  return all;
}

std::vector<std::string> framework_kernels() {
  std::vector<std::string> all(kKernels.begin(), kKernels.end());
  all.emplace_back("mmha");  // TensorRT-LLM's own second choice
  return all;
}

std::unique_ptr<Family> read_sglang_attention(NumberFile& file) {
  return std::make_unique<FrameworkAttention>(read_framework(file, "sglang"));
}

std::unique_ptr<Family> read_vllm_attention(NumberFile& file) {
  return std::make_unique<FrameworkAttention>(read_framework(file, "vllm"));
}

std::unique_ptr<Family> read_trtllm_attention(NumberFile& file) {
  return std::make_unique<FrameworkAttention>(read_framework(file, "trtllm"));
}

}  // namespace orrery::library
