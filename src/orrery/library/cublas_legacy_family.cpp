// cuBLAS' older kernels: what a library file says of them, and which serve a call.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/cublas_legacy.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Unit;

constexpr double kNoBound = 1e9;

/// One list of kernels of a library file, and the operands that they serve.
struct SetRule {
  std::string_view key;
  std::string_view prefix;  // of the kernels' names
  Engine engine;
  bool rows_first;  // the first number of a tile counts rows of C (xmma), or columns (CUTLASS)
  double access;    // bytes of a lane's copy
  Slices sum;
  std::array<DType, 2> types;
  double least;  // alignment of rows in bytes: from here
  double below;  // to here
};

constexpr std::array kSets = {
    SetRule{"fp32_xmma",
            "sm80_xmma_ffma",
            Engine::Lanes,
            true,
            4,
            Slices::ByTile,
            {DType::F32, DType::F32},
            0,
            kNoBound},
    SetRule{"fp32_cutlass",
            "cutlass_80_simt_sgemm",
            Engine::Lanes,
            false,
            4,
            Slices::ByElement,
            {DType::F32, DType::F32},
            0,
            kNoBound},
    SetRule{"half_odd",
            "cutlass_75_tensorop_s1688gemm",
            Engine::Warp,
            false,
            2,
            Slices::ByElement,
            {DType::BF16, DType::F16},
            0,
            4},
    SetRule{"fp16_odd",
            "cutlass_75_wmma_s161616gemm",
            Engine::Warp,
            false,
            2,
            Slices::ByElement,
            {DType::F16, DType::F16},
            0,
            4},
    SetRule{"half_even",
            "cutlass_80_tensorop_s16816gemm",
            Engine::Warp,
            false,
            4,
            Slices::ByElement,
            {DType::BF16, DType::F16},
            4,
            16},
    SetRule{"half_even_wmma",
            "cutlass_80_wmma_s161616gemm",
            Engine::Warp,
            false,
            4,
            Slices::ByElement,
            {DType::BF16, DType::F16},
            4,
            16},
    SetRule{"tf32_warp",
            "cutlass_80_tensorop_s1688gemm",
            Engine::Warp,
            false,
            16,
            Slices::ByElement,
            {DType::TF32, DType::TF32},
            16,
            kNoBound},
    SetRule{"tf32_group",
            "sm90_xmma_tf32f32",
            Engine::Warpgroup,
            true,
            16,
            Slices::Whole,
            {DType::TF32, DType::TF32},
            16,
            kNoBound},
    SetRule{"tf32_odd",
            "cutlass_80_tensorop_s1688gemm",
            Engine::Warp,
            false,
            4,
            Slices::ByElement,
            {DType::TF32, DType::TF32},
            0,
            16},
    SetRule{"tf32_odd_xmma",
            "sm80_xmma_tf32f32",
            Engine::Warp,
            true,
            4,
            Slices::ByElement,
            {DType::TF32, DType::TF32},
            0,
            16},
    SetRule{"int8",
            "cutlass_80_tensorop_i16832gemm_s8",
            Engine::Warp,
            false,
            16,
            Slices::Whole,
            {DType::I8, DType::I8},
            0,
            kNoBound},
};

// Numbers of a kernel's text between marks, "64x128x8_3 128 190 19200 8x8".
std::vector<int64_t> numbers_of(std::string_view text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto used = static_cast<size_t>(end - text.data());
    if (error != std::errc() || number <= 0 || number > 1 << 20) {
      return {};
    }
    numbers.push_back(number);
    text.remove_prefix(std::min(text.size(), used + 1));
  }
  return numbers;
}

LegacyKernel kernel_of(const SetRule& rule, std::string_view text, std::span<const int64_t> n) {
  LegacyKernel kernel;
  kernel.name = fmt::format("{} {}", rule.prefix, text.substr(0, text.find(' ')));
  kernel.engine = rule.engine;
  kernel.tile_m = rule.rows_first ? n[0] : n[1];
  kernel.tile_n = rule.rows_first ? n[1] : n[0];
  kernel.step = n[2];
  kernel.stages = n[3];
  kernel.threads = n[4];
  kernel.registers = n[5];
  kernel.shared = static_cast<double>(n[6]);
  if (n.size() == 9) {
    kernel.thread_m = n[7];
    kernel.thread_n = n[8];
  }
  kernel.access = rule.access;
  kernel.sum = rule.sum;
  return kernel;
}

std::vector<LegacyKernel> read_kernels(NumberFile& file, const SetRule& rule) {
  std::vector<LegacyKernel> kernels;
  const std::string key = fmt::format("legacy.{}", rule.key);
  const size_t count = rule.engine == Engine::Lanes ? 9 : 7;
  for (const auto& text : file.list(key)) {
    const auto numbers = numbers_of(text);
    if (numbers.size() == count) {
      kernels.push_back(kernel_of(rule, text, numbers));
    } else {
      file.complain(key,
                    fmt::format("got '{}', need tile and step, stages, threads, registers, shared "
                                "bytes{}, like 64x64x8_3 128 128 13056{}",
                                text,
                                count == 9 ? " and the outputs of a thread" : "",
                                count == 9 ? " 8x4" : ""));
    }
  }
  return kernels;
}

LegacyConstants read_constants(NumberFile& file) {
  return {.warp_share = file.number("legacy.warp_share", Unit::One),
          .group_share = file.number("legacy.group_share", Unit::One),
          .lane_copy = one(file, "legacy.lane_copy"),
          .warp_copy = one(file, "legacy.warp_copy"),
          .prologue = cycles(file, "legacy.prologue"),
          .epilogue_instructions = one(file, "legacy.epilogue_instructions"),
          .group_fixed = duration(file, "legacy.group_fixed"),
          .tile_sum_fixed = duration(file, "legacy.tile_sum_fixed"),
          .tile_sum_access = cycles(file, "legacy.tile_sum_access"),
          .element_sum = read_split_sum(file)};
}

/// Bytes of which the rows of A, B and C, as they lie in memory, are multiples: 16, 4, 2 or 1.
double alignment_of(const GemmCall& call) {
  using enum GemmLayout;
  const double in = element_size(call.input).value();
  const double rows[] = {product(call.layout == NT || call.layout == NN ? call.k : call.m) * in,
                         product(call.layout == NT || call.layout == TT ? call.k : call.n) * in,
                         product(call.n) * element_size(call.output).value()};
  for (const double bytes : {16.0, 4.0, 2.0}) {
    if (std::all_of(std::begin(rows), std::end(rows), [bytes](double row) {
          return std::fmod(row, bytes) == 0;
        })) {
      return bytes;
    }
  }
  return 1;
}

class CublasLegacy final : public Family {
 public:
  explicit CublasLegacy(NumberFile& file) : constants_(read_constants(file)) {
    for (const auto& rule : kSets) {
      kernels_.push_back(read_kernels(file, rule));
    }
    errors_ = {.fp32 = file.number("legacy.error_fp32", Unit::One),
               .odd = file.number("legacy.error_odd", Unit::One),
               .tf32 = file.number("legacy.error_tf32", Unit::One)};
  }

  bool serves(const Call& call) const override {
    const auto* gemm = std::get_if<GemmCall>(&call);
    return gemm != nullptr && gemm->backend.empty() && gemm->quantisation == Quantisation::None &&
           !kernels_for(*gemm).empty();
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& gemm = std::get<GemmCall>(call);
    if (gemm.input != DType::F32 && chip.core.tensor.find(gemm.input) == chip.core.tensor.end()) {
      return make_error(ErrorCode::Unsupported,
                        "[library.legacy] {} has no matrix rate for {}",
                        chip.id,
                        orrery::name(gemm.input));
    }
    const LegacyProblem problem{.call = gemm,
                                .chip = chip,
                                .in = element_size(gemm.input).value(),
                                .out = element_size(gemm.output).value()};
    Candidates all;
    if (gemm.m == 1 && gemm.batch == 1) {
      for (auto& profile : one_row_kernels(problem, constants_)) {
        all.push_back({std::move(profile)});
      }
    }
    for (const auto& option : legacy_options(kernels_for(gemm), problem)) {
      all.push_back(legacy_profiles(option, problem, constants_));
    }
    for (auto& sequence : all) {
      for (auto& profile : sequence) {
        profile.behaviour.relative_error = error_for(gemm.input);
      }
    }
    return all;
  }

 private:
  struct Errors {
    double fp32 = 0;
    double odd = 0;
    double tf32 = 0;
  };

  std::vector<const LegacyKernel*> kernels_for(const GemmCall& call) const {
    std::vector<const LegacyKernel*> fitting;
    const double alignment = alignment_of(call);
    for (size_t i = 0; i < kSets.size(); ++i) {
      const SetRule& rule = kSets[i];
      const bool type =
          std::find(rule.types.begin(), rule.types.end(), call.input) != rule.types.end();
      if (type && alignment >= rule.least && alignment < rule.below) {
        for (const auto& kernel : kernels_[i]) {
          fitting.push_back(&kernel);
        }
      }
    }
    return fitting;
  }

  double error_for(DType type) const {
    return type == DType::F32                         ? errors_.fp32
           : type == DType::TF32 || type == DType::I8 ? errors_.tf32
                                                      : errors_.odd;
  }

  LegacyConstants constants_;
  std::vector<std::vector<LegacyKernel>> kernels_;  // by kSets
  Errors errors_;
};

}  // namespace

std::unique_ptr<Family> read_cublas_legacy(NumberFile& file) {
  return std::make_unique<CublasLegacy>(file);
}

}  // namespace orrery::library
