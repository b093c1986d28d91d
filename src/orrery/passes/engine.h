// Engine: whose kernels a program runs beside those of cuBLAS and PyTorch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/graph/scheme.h"

namespace orrery::passes {

// A serving engine replaces what takes longest: attention over its paged cache, layers of experts,
// all-reduces of short messages. Which kernels it takes is said by the backends that the libraries
// know (library/framework_attention.h, moe_kernels.h, peer_all_reduce.h):
//
//     pytorch   its own attention and grouped products, NCCL
//     vllm      FlashAttention 3 on an H200, Triton's experts, its all-reduce
//     sglang    the same kernels, called otherwise
//     trtllm    XQA and masked attention, CUTLASS' or generated experts
//
// All else is the runtime's: `inductor` is nearest to what engines make of small operators.
enum class Engine { PyTorch, Vllm, Sglang, TensorRtLlm };
std::string_view name(Engine engine);
/// Error InvalidInput: no such name.
Result<Engine> parse_engine(std::string_view text);

/// Error Unsupported: an engine on a chip for which none of its kernels is known.
Result<void> check_engine(Engine engine, std::string_view architecture);

/// Backends on chips of `architecture`; "" where the framework's own serve. A small cache of keys
/// and values is read by an engine's kernels even in PyTorch, which has none. `step`: one query a
/// sequence.
std::string attention_backend(Engine engine,
                              bool small_cache,
                              std::string_view architecture,
                              bool step = false);
std::string latent_backend(Engine engine, bool small_cache, std::string_view architecture);
std::string expert_backend(Engine engine, graph::Scheme scheme, std::string_view architecture);
std::string all_reduce_backend(Engine engine, std::string_view architecture);

}  // namespace orrery::passes
