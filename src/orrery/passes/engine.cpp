// Backends of serving engines by chip.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/engine.h"

#include <array>

namespace orrery::passes {

namespace {

using graph::Scheme;

constexpr std::array kEngines = {
    Engine::PyTorch, Engine::Vllm, Engine::Sglang, Engine::TensorRtLlm};

bool is(std::string_view architecture, std::string_view chip) {
  return architecture.starts_with(chip);
}

/// What engines choose for weights that are not quantised, as far as the libraries know it.
std::string plain_experts(Engine engine, std::string_view chip) {
  if (engine == Engine::PyTorch) {
    return "";
  }
  if (engine == Engine::TensorRtLlm || is(chip, "sm_80") || is(chip, "sm_120")) {
    return "cutlass";
  }
  return is(chip, "sm_100") ? "trtllm-gen" : "triton";
}

}  // namespace

std::string_view name(Engine engine) {
  switch (engine) {
    case Engine::PyTorch:
      return "pytorch";
    case Engine::Vllm:
      return "vllm";
    case Engine::Sglang:
      return "sglang";
    case Engine::TensorRtLlm:
      return "trtllm";
  }
  ORR_UNREACHABLE();
}

Result<Engine> parse_engine(std::string_view text) {
  for (const Engine engine : kEngines) {
    if (text == name(engine)) {
      return engine;
    }
  }
  return make_error(ErrorCode::InvalidInput,
                    "[passes.engine] engine: got '{}', need pytorch, vllm, sglang or trtllm",
                    text);
}

Result<void> check_engine(Engine engine, std::string_view architecture) {
  if (engine != Engine::PyTorch && !is(architecture, "sm_")) {
    return make_error(ErrorCode::Unsupported,
                      "[passes.engine] engine: got {} on a chip of {}, need pytorch (kernels of "
                      "engines are known on NVIDIA's chips alone)",
                      name(engine),
                      architecture);
  }
  return {};
}

std::string attention_backend(Engine engine,
                              bool small_cache,
                              std::string_view architecture,
                              bool step) {
  if (!is(architecture, "sm_") || (engine == Engine::PyTorch && !small_cache)) {
    return "";
  }
  // vLLM's FlashAttention 2 reads 16 bits there, and TensorRT-LLM's masked attention is not known.
  const bool known = engine == Engine::TensorRtLlm ? !step : !small_cache;
  if (is(architecture, "sm_80") && !known) {
    return small_cache ? "sglang" : "";
  }
  return std::string(engine == Engine::PyTorch ? "vllm" : name(engine));
}

std::string latent_backend(Engine engine, bool small_cache, std::string_view architecture) {
  if (!is(architecture, "sm_") || (engine == Engine::PyTorch && !small_cache)) {
    return "";
  }
  // FlashMLA's rows of SGLang stand for vLLM, whose own hold its steps' small kernels too; with a
  // small cache, and on other chips, TensorRT-LLM's are the ones known.
  const bool flash = is(architecture, "sm_90") || is(architecture, "sm_100");
  const bool own = engine == Engine::TensorRtLlm || small_cache || !flash;
  return own ? "trtllm-mla" : "sglang-mla";
}

std::string expert_backend(Engine engine, Scheme scheme, std::string_view architecture) {
  const bool four_bits = scheme == Scheme::Group || scheme == Scheme::Mx || scheme == Scheme::Nv;
  if (!is(architecture, "sm_") && !four_bits) {
    return "";  // grouped products; of four bits no kernels are known there
  }
  const bool blackwell = is(architecture, "sm_100");
  switch (scheme) {
    case Scheme::None:
      return plain_experts(engine, architecture);
    case Scheme::Tensor:
    case Scheme::Channel:
      return blackwell ? "trtllm-gen" : "cutlass";
    case Scheme::Block:
      return blackwell ? "trtllm-gen" : is(architecture, "sm_120") ? "triton-64" : "triton";
    case Scheme::Group:
      return "marlin";
    case Scheme::Mx:
      return is(architecture, "sm_90") ? "triton-mxfp4" : "marlin";
    case Scheme::Nv:
      return "flashinfer-cutlass";
  }
  ORR_UNREACHABLE();
}

std::string all_reduce_backend(Engine engine, std::string_view architecture) {
  return engine == Engine::PyTorch || !is(architecture, "sm_") ? "" : std::string(name(engine));
}

}  // namespace orrery::passes
