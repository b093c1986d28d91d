// Tests of the GEMM family: the programs it builds, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/gemm.h"

#include <gtest/gtest.h>

#include <string>

#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

std::string refusal(const GemmConfig& config) {
  const auto program = gemm_program(config);
  return program.ok() ? "" : program.error().message;
}

Extents extents(int64_t m, int64_t n, int64_t k) {
  Extents e;
  e.set("m", m);
  e.set("n", n);
  e.set("k", k);
  return e;
}

const Buffer& find(const Program& program, std::string_view name) {
  for (const Buffer& buffer : program.buffers) {
    if (buffer.name == name) {
      return buffer;
    }
  }
  ADD_FAILURE() << "no buffer " << name;
  return program.buffers.front();
}

machine::Chip hopper() {
  machine::Chip chip;
  chip.core.count = 132;
  chip.core.shared_per_cta = Bytes(232448);
  chip.core.shared_capacity = Bytes(233472);
  chip.core.shared_reserved = Bytes(1024);
  return chip;
}

TEST(GemmProgram, TwoWarpgroupsShareTheRowsAndTheProducerGivesRegistersAway) {
  const Program p = gemm_program({}).value();
  ASSERT_EQ(p.stages.size(), 2U);
  EXPECT_EQ(p.stages[0].warps, 8);
  EXPECT_EQ(p.stages[1].kind, StageKind::Producer);
  // (8 x 232 + 4 x 40) x 32 lanes fit the 65,536 registers of an SM.
  int64_t registers = 0;
  for (const Stage& stage : p.stages) {
    registers += stage.warps * 32 * stage.registers;
  }
  EXPECT_LE(registers, 65536);
  // 128 x 256 binary32 over 256 threads.
  EXPECT_EQ(find(p, "acc").fragment.count(Place::Register), 128);
  EXPECT_EQ(find(p, "acc").fragment.count(Place::Warp), 8);
}

TEST(GemmProgram, FourStagesOf128x256AndTheirStagingFitAnSm) {
  // 4 x (128 + 256) x 64 x 2 B = 192 KiB, two staging panels of 128 x 64 x 2 B, eight barriers.
  EXPECT_EQ(shared_plan(gemm_program({}).value()).total, 4 * 49152 + 2 * 16384 + 64);
}

TEST(GemmProgram, OneWarpgroupNeedsOneProducerWarp) {
  const Program p = gemm_program({.tile_m = 64, .tile_n = 128, .warps = 4}).value();
  EXPECT_EQ(geometry(p, extents(64, 128, 64), 132).value().threads, 160);
}

TEST(GemmProgram, SwappedPutsTheWeightsOnTheInstructionsRows) {
  const Program p =
      gemm_program({.tile_m = 16, .tile_n = 64, .tile_k = 128, .swapped = true, .warps = 4})
          .value();
  const Buffer& acc = find(p, "acc");
  EXPECT_EQ(p[acc.axes[0]].name, "n");
  EXPECT_EQ(p[acc.axes[1]].name, "m");
  const auto& mma = std::get<Mma>(p.phases[1].body[2].op);
  EXPECT_EQ(p[mma.first].name, "b");
  EXPECT_EQ(mma.shape, (MmaShape{64, 16, 16}));
}

TEST(GemmProgram, WiderThanAnInstructionTakesTwoSideBySide) {
  const Program p = gemm_program({.tile_m = 128, .tile_n = 320, .ring = 3}).value();
  EXPECT_EQ(std::get<Mma>(p.phases[1].body[2].op).shape.n, 160);
  EXPECT_EQ(find(p, "acc").fragment.count(Place::Register), 160);
}

TEST(GemmProgram, BindsTheEpilogueToItsTensors) {
  GemmConfig config;
  config.epilogue =
      linear_epilogue({.bias = true, .activation = Activation::Gelu, .residual = true});
  const Program p = gemm_program(config).value();
  ASSERT_EQ(p.tensors.size(), 5U);
  EXPECT_EQ(p.tensors[2].name, "bias");
  EXPECT_EQ(p.tensors[2].axes.size(), 1U);
  EXPECT_EQ(p.tensors[3].name, "residual");
  const auto& map = std::get<Map>(p.phases[2].body[0].op);
  // gelu(acc + bias) + residual
  EXPECT_EQ(map.value.root().op, ExprOp::Add);
  EXPECT_EQ(map.value.nodes[map.value.root().first].op, ExprOp::Gelu);
  EXPECT_EQ(map.value.nodes[map.value.root().second].tensor, TensorId(3));
}

TEST(GemmProgram, RefusesAnEpilogueWithUnknownOperands) {
  GemmConfig config;
  config.epilogue.value = tensor(TensorId(0));
  EXPECT_NE(refusal(config).find("not of this slot"), std::string::npos);
}

TEST(GemmProgram, PartsWriteBinary32PartialTiles) {
  const GemmConfig config{.tile_m = 64, .tile_n = 64, .warps = 4, .persistent = false, .parts = 4};
  const Program p = gemm_program(config).value();
  EXPECT_EQ(p.tensors.back().name, "P");
  EXPECT_EQ(p.tensors.back().dtype, DType::F32);
  EXPECT_EQ(unit_map(p, extents(64, 128, 4096)).value().units(), 2 * 4);
  const Program combine = gemm_combine_program(config).value();
  EXPECT_EQ(combine.tensors.back().name, "C");
  EXPECT_EQ(combine.buffers.front().fragment.count(Place::Register), 4 * 4);
}

TEST(GemmProgram, RefusalsGiveEveryReason) {
  const std::string text = refusal({.tile_m = 100, .tile_n = 20, .tile_k = 48});
  EXPECT_NE(text.find("tile k: got 48"), std::string::npos) << text;
  EXPECT_NE(text.find("tile m: got 100, need a multiple of 128"), std::string::npos) << text;
  EXPECT_NE(text.find("tile n: got 20, need a multiple of 8"), std::string::npos) << text;
}

TEST(GemmProgram, RefusesWhatRegistersOrClustersCannotDo) {
  EXPECT_NE(refusal({.tile_m = 256, .tile_n = 256}).find("accumulator registers"),
            std::string::npos);
  EXPECT_NE(refusal({.cluster_m = 2, .cluster_n = 2}).find("cluster"), std::string::npos);
  EXPECT_NE(refusal({.ring = 1}).find("ring"), std::string::npos);
  EXPECT_NE(refusal({.dtype = DType::F32}).find("bf16 or f16"), std::string::npos);
  EXPECT_NE(refusal({.tile_m = 0}).find("positive"), std::string::npos);
  EXPECT_NE(refusal({.target = Target::Gfx942, .cluster_m = 2}).find("gfx942"), std::string::npos);
}

TEST(GemmProgram, FourWavesOnCdnaLoadAndMultiplyInOneStage) {
  const Program p = gemm_program({.target = Target::Gfx942,
                                  .tile_m = 128,
                                  .tile_n = 128,
                                  .tile_k = 32,
                                  .ring = 2,
                                  .warps = 4,
                                  .column_warps = 2})
                        .value();
  ASSERT_EQ(p.stages.size(), 1U);
  EXPECT_EQ(ring_groups(p).size(), 0U);
  // Two entries of (128 + 128) rows of 32 + 8 elements.
  EXPECT_EQ(shared_plan(p).total, 2 * 256 * 40 * 2);
  EXPECT_EQ(find(p, "acc").fragment.count(Place::Register), 128 * 128 / 256);
}

TEST(GemmConfigs, OffersTensOfKernelsThatFit) {
  for (const GemmExtents e : {GemmExtents{4096, 4096, 4096},
                              GemmExtents{256, 4096, 4096},
                              GemmExtents{16, 4096, 14336},
                              GemmExtents{1, 128, 64}}) {
    const auto configs = gemm_configs(e, hopper(), {});
    EXPECT_GE(configs.size(), 10U) << e.m;
    EXPECT_LE(configs.size(), 120U) << e.m;
    for (const GemmConfig& config : configs) {
      const int64_t bytes = shared_plan(gemm_program(config).value()).total;
      EXPECT_LE((bytes + 1024) * config.ctas_per_sm, 233472);
    }
  }
}

TEST(GemmConfigs, OffersKernelsForCdna) {
  machine::Chip chip = hopper();
  chip.core.shared_per_cta = Bytes(65536);
  chip.core.shared_capacity = Bytes(65536);
  chip.core.shared_reserved = Bytes(0);
  EXPECT_GE(gemm_configs({4096, 4096, 4096}, chip, {.target = Target::Gfx942}).size(), 5U);
}

TEST(GemmConfigs, OffersSwappedAndDividedKernelsForFewRows) {
  bool divided = false;
  bool swapped = false;
  for (const GemmConfig& config : gemm_configs({16, 4096, 14336}, hopper(), {})) {
    divided = divided || config.parts > 1;
    swapped = swapped || (config.swapped && config.tile_m == 16);
  }
  EXPECT_TRUE(divided);
  EXPECT_TRUE(swapped);
}

}  // namespace
}  // namespace orrery::kernel
