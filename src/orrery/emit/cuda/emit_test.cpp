// Tests of the CUDA emitter: what the text says; that it compiles is tested where there is a
// compiler (runtime).
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cuda/emit.h"

#include <gtest/gtest.h>

#include <string>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"

namespace orrery::emit::cuda {
namespace {

std::string text_of(const Result<kernel::Program>& program) {
  EXPECT_TRUE(program.ok()) << program.error().to_string();
  const auto source = emit(*program);
  EXPECT_TRUE(source.ok()) << source.error().to_string();
  return source->code;
}

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(CudaEmitter, GivesTheSameTextEachTime) {
  const kernel::GemmConfig config{.cluster_n = 2};
  EXPECT_EQ(text_of(kernel::gemm_program(config)), text_of(kernel::gemm_program(config)));
}

TEST(CudaEmitter, IssuesOneInstructionPer16OfTheContraction) {
  // A tile of k is 64 deep, the 256 columns fit one instruction: 4 calls of the wrapper.
  const std::string text = text_of(kernel::gemm_program({}));
  EXPECT_EQ(count(text, "mma_n256_bf16<"), 4);
  EXPECT_EQ(count(text, "m64n256k16"), 1);  // one wrapper
}

TEST(CudaEmitter, ListsArgumentsInParameterOrder) {
  const auto program = kernel::gemm_program({});
  const auto source = emit(*program);
  ASSERT_TRUE(source.ok());
  // Three tensor maps and the symbols m, n, k; no tensor is read through a pointer.
  ASSERT_EQ(source->arguments.size(), 6U);
  EXPECT_EQ(source->arguments[2].kind, ArgumentKind::TensorMap);
  EXPECT_EQ(source->arguments[3].kind, ArgumentKind::Extent);
  EXPECT_EQ(source->arguments[5].symbol, "k");
  EXPECT_EQ(source->entry, "orrery_" + program->name);
}

TEST(CudaEmitter, LoadsASharedOperandOnceForTheCluster) {
  // Units that differ in n share a: each of two loads half of its 128 rows for both.
  const auto source = emit(*kernel::gemm_program({.cluster_n = 2}));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(count(source->code, "  copy_in_all("), 1);
  bool found = false;
  for (const TensorMap& map : source->maps)
    found = found || map.box == std::vector<int64_t>{64, 64};
  EXPECT_TRUE(found);
}

TEST(CudaEmitter, ReadsWholeVectorsOnlyWherePromised) {
  const std::string aligned = text_of(kernel::add_rms_norm_program({.aligned = true}));
  EXPECT_EQ(count(aligned, "load<8, true>(x_"), 1);
  const std::string unaligned = text_of(kernel::add_rms_norm_program({.aligned = false}));
  EXPECT_EQ(count(unaligned, "load<8"), 0);
  EXPECT_EQ(count(unaligned, "load<1, true>(x_"), 1);
}

TEST(CudaEmitter, NeedsNoBarrierForARowOfOneWarp) {
  EXPECT_EQ(
      count(text_of(kernel::add_rms_norm_program({.rows = 4, .row_warps = 1})), "  named_barrier("),
      0);
  EXPECT_GT(count(text_of(kernel::add_rms_norm_program({.row_warps = 8})), "  named_barrier("), 0);
}

TEST(CudaEmitter, TakesTheFirstOperandOfASecondProductFromRegisters) {
  // Scores of 64 keys are 4 instructions deep in the second product, each with 4 words of p.
  const std::string text = text_of(kernel::decode_attention_program({}));
  EXPECT_EQ(count(text, "p_.w[0], p_.w[1], p_.w[2], p_.w[3]"), 1);
  EXPECT_EQ(count(text, "p_.w[12], p_.w[13], p_.w[14], p_.w[15]"), 1);
}

TEST(CudaEmitter, KeepsStagingPanelsInsideTheirBuffer) {
  // Two warpgroups with 128 of 256 columns each fill panels 0 and 2 (then 1 and 3) of 64 columns at
  // the same time. The buffer has 4 panels of 16 rows x 128 bytes, 2 for each warpgroup, so the
  // second warpgroup's begin 4096 bytes on; panel number 2 would lie behind the buffer.
  const std::string text = text_of(kernel::gemm_program(
      {.tile_m = 16, .tile_n = 256, .tile_k = 128, .ring = 3, .swapped = true, .warps = 8}));
  EXPECT_EQ(count(text, ") / 128 * 4096 + 0;"), 1);
  EXPECT_EQ(count(text, ") / 128 * 4096 + 2048;"), 1);
}

TEST(CudaEmitter, RefusesAnotherTarget) {
  const auto program = kernel::gemm_program(
      {.target = kernel::Target::Gfx942, .tile_m = 128, .tile_n = 64, .ring = 2, .warps = 4});
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const auto source = emit(*program);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(source.error().message,
            "[emit.cuda] kernel '" + program->name +
                "' cannot be lowered: got target gfx942, need a form this emitter knows");
}

}  // namespace
}  // namespace orrery::emit::cuda
