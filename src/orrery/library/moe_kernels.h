// Fused layers of experts: Triton, CUTLASS, TensorRT-LLM's generated kernels, DeepGEMM, Marlin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

// Every serving engine runs a layer of experts as the same handful of kernels, whoever wrote them:
//
//     routing    softmax and top-k over the experts, a sort of tokens by expert, and where the
//                products want it a copy of each token's row for each of its experts, quantised
//     up         one product per expert with rows, gate and up projection side by side
//     activation of its halves, quantised for the next product
//     down       one product per expert
//     sum        of a token's rows, weighted
//
// A product cuts each expert's rows into tiles of BLOCK_M and computes whole tiles, so an expert
// with one row costs a tile and its weights, all of which come from DRAM once:
//
//     8 tokens to 8 of 128 experts, hidden 4096, inter 1536, bf16: 51 experts have rows
//     up: 51 x 2 x 1536 x 4096 x 2 bytes = 1.28 GB; tiles of 16 rows, 51 x 24 of 128 columns
//
// What differs between engines is data: which tiles they take, whether rows are copied, and whether
// rows of experts that another GPU holds pass through the small kernels all the same. Instructions
// reach a share of the tensor rate that depends on the architecture.

/// Section "moe": one engine's kernels. Marlin's serve single products of 16-bit activations with
/// 4-bit or 8-bit weights as well (GemmCall::backend "marlin").
std::unique_ptr<Family> read_moe(machine::NumberFile& file);

}  // namespace orrery::library
