// The list of families: one line each, in the order in which they are asked.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "orrery/library/causal_conv1d.h"
#include "orrery/library/cublas_block.h"
#include "orrery/library/cublas_legacy.h"
#include "orrery/library/cudnn_attention.h"
#include "orrery/library/cudnn_conv.h"
#include "orrery/library/efficient_attention.h"
#include "orrery/library/expert_exchange.h"
#include "orrery/library/family.h"
#include "orrery/library/flash_attention.h"
#include "orrery/library/flash_backward.h"
#include "orrery/library/framework_attention.h"
#include "orrery/library/gather.h"
#include "orrery/library/grouped_gemm.h"
#include "orrery/library/mfma_attention.h"
#include "orrery/library/mfma_gemm.h"
#include "orrery/library/moe_kernels.h"
#include "orrery/library/nccl.h"
#include "orrery/library/nvjet.h"
#include "orrery/library/peer_all_reduce.h"
#include "orrery/library/pointwise.h"
#include "orrery/library/quantise_a.h"
#include "orrery/library/reduction.h"
#include "orrery/library/row_norm.h"
#include "orrery/library/scan.h"
#include "orrery/library/softmax.h"
#include "orrery/library/sort.h"
#include "orrery/library/sparse_attention.h"
#include "orrery/library/state_mix.h"
#include "orrery/library/tile_gemm.h"
#include "orrery/library/tinygemm.h"
#include "orrery/library/training.h"
#include "orrery/library/transpose.h"
#include "orrery/library/triton_gemm.h"
#include "orrery/library/triton_rows.h"

namespace orrery::library {

std::span<const FamilyKind> family_kinds() {
  static constexpr std::array kKinds = {
      FamilyKind{"mfma", read_mfma},
      FamilyKind{"triton_gemm", read_triton_gemm},
      FamilyKind{"mfma_attention", read_mfma_attention},
      FamilyKind{"quantise_a", read_quantise_a},
      FamilyKind{"tinygemm", read_tinygemm},
      FamilyKind{"fp8_block", read_fp8_block},
      FamilyKind{"fp4", read_fp4},
      FamilyKind{"legacy", read_cublas_legacy},
      FamilyKind{"tile_gemm", read_tile_gemm},
      FamilyKind{"nvjet", read_nvjet},
      FamilyKind{"flash", read_flash},
      FamilyKind{"flash_backward", read_flash_backward},
      FamilyKind{"attention", read_cudnn_attention},
      FamilyKind{"sglang_attention", read_sglang_attention},
      FamilyKind{"vllm_attention", read_vllm_attention},
      FamilyKind{"trtllm_attention", read_trtllm_attention},
      FamilyKind{"conv", read_cudnn_conv},
      FamilyKind{"efficient_attention", read_efficient_attention},
      FamilyKind{"grouped_gemm", read_grouped_gemm},
      FamilyKind{"pointwise", read_pointwise},
      FamilyKind{"norm", read_norm},
      FamilyKind{"softmax", read_softmax},
      FamilyKind{"training", read_training},
      FamilyKind{"reduction", read_reduction},
      FamilyKind{"scan", read_scan},
      FamilyKind{"transpose", read_transpose},
      FamilyKind{"gather", read_gather},
      FamilyKind{"sort", read_sort},
      FamilyKind{"moe", read_moe},
      FamilyKind{"peer_all_reduce", read_peer_all_reduce},
      FamilyKind{"triton", read_triton_rows},
      FamilyKind{"nccl", read_nccl},
      FamilyKind{"deepep", read_deepep},
      FamilyKind{"state_mix", read_state_mix},
      FamilyKind{"causal_conv1d", read_causal_conv1d},
      FamilyKind{"indexer", read_indexer},
      FamilyKind{"sparse_attention", read_sparse_attention},
  };
  return kKinds;
}

}  // namespace orrery::library
