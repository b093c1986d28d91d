// Attention as serving frameworks run it: sglang, vLLM and TensorRT-LLM with their kernels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/library/family.h"

namespace orrery::library {

// A framework calls one of several kernels, and before it writes the new keys and values into the
// paged cache (TensorRT-LLM rotates queries and keys there as well). A call's backend names
//
//     sglang, vllm, trtllm     the framework: it takes the kernel that it prefers on this chip
//     flash2, flash3, flash4   FlashAttention's versions, flashinfer, triton, trtllm (XQA and
//     masked flashinfer, triton, mla  attention before Blackwell, trtllm-gen on it), latent
//     attention vllm-flash3              a kernel as one of them calls it
//
// Which kernels a machine has, and their numbers, stand in library files of an instruction class
// (mma.sync, wgmma, tcgen05): sections sglang_attention, vllm_attention, trtllm_attention, a
// section a kernel below each.

/// What a backend's name asks for; no framework: any that has the kernel, no kernel: the framework
/// chooses.
struct BackendName {
  std::string framework;
  std::string kernel;
  bool known = false;
};

BackendName parse_backend(std::string_view backend);

/// Every name that parse_backend knows as a framework or as a kernel.
std::vector<std::string> framework_backends();

/// The kernels that a library file may describe.
std::vector<std::string> framework_kernels();

std::unique_ptr<Family> read_sglang_attention(machine::NumberFile& file);
std::unique_ptr<Family> read_vllm_attention(machine::NumberFile& file);
std::unique_ptr<Family> read_trtllm_attention(machine::NumberFile& file);

}  // namespace orrery::library
