// Tiled products: what their profiles count, which launches are offered, and the files we ship.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/tile_gemm.h"

#include <gtest/gtest.h>

#include "orrery/library/gemm_types.h"
#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

machine::Chip chip(const char* name) {
  return test::machine(name).chip;
}

TileSet small_set() {
  TileSet set;
  set.name = "test";
  set.engine = TileEngine::Mma;
  set.tiles = {{.m = 128,
                .n = 128,
                .step = 64,
                .stages = 4,
                .threads = 128,
                .registers = 128,
                .warps_m = 2,
                .warps_n = 2},
               {.m = 64, .n = 64, .step = 64, .stages = 4, .threads = 128, .registers = 64}};
  set.clusters = {{}};
  set.slices = {1, 2, 4};
  set.epilogue_instructions = 1;
  return set;
}

GemmCall product_of(int64_t m, int64_t n, int64_t k) {
  return {.m = m, .n = n, .k = k};
}

TEST(TileGemm, CountsWholeTilesAndSteps) {
  const TileSet set = small_set();
  const TileLaunch launch{.kernel = &set.tiles.front()};
  // 300 rows are 3 tiles of 128, 1000 columns 8; 100 of k are 4 steps of 32 bf16 values
  const auto sequence =
      tile_profiles(set, launch, product_of(300, 1000, 100), chip("a100-sxm-80gb"), {});
  ASSERT_EQ(sequence.size(), 1U);
  EXPECT_EQ(sequence[0].units, 24);
  const auto& loop = sequence[0].kinds.front().phases.front();
  EXPECT_EQ(loop.trips, 4);
  EXPECT_EQ(loop.work.tensor.value(), 2.0 * 128 * 128 * 32);
}

TEST(TileGemm, ACutProductIsAddedByASecondKernel) {
  const TileSet set = small_set();
  const TileLaunch launch{.kernel = &set.tiles.back(), .slices = 4};
  const auto sequence =
      tile_profiles(set, launch, product_of(64, 64, 4096), chip("a100-sxm-80gb"), {});
  ASSERT_EQ(sequence.size(), 2U);
  EXPECT_EQ(sequence[0].units, 4);
  EXPECT_EQ(sequence[0].traffic.unique_write.value(), 64.0 * 64 * 4 * 4);
}

TEST(TileGemm, FewRowsTakeNoTallTile) {
  const TileSet set = small_set();
  for (const TileLaunch& launch :
       tile_launches(set, product_of(1, 4096, 4096), chip("a100-sxm-80gb"))) {
    EXPECT_EQ(launch.kernel->m, 64);
  }
}

TEST(TileGemm, OffersAtLeastOneLaunchWhateverTheSize) {
  const TileSet set = small_set();
  for (const int64_t size : {1, 7, 64, 1000, 100000}) {
    EXPECT_FALSE(tile_launches(set, product_of(size, size, size), chip("l40s")).empty());
  }
}

TEST(TileGemm, EveryNvidiaMachineHasProductsOfItsTypes) {
  struct Case {
    const char* machine;
    const char* types;
    const char* backend;
  };

  for (const Case& each : {Case{"a100-sxm-80gb", "bf16", ""},
                           {"a100-sxm-80gb", "w4a16", "trtllm"},
                           {"h100-sxm", "fp8", "vllm"},
                           {"h200-sxm", "fp8_block", "deepgemm"},
                           {"b200", "bf16", ""},
                           {"b200", "fp8", ""},
                           {"b200", "nvfp4", "trtllm"},
                           {"l40s", "fp8", "sglang"},
                           {"rtx-pro-6000", "nvfp4", "vllm"}}) {
    const machine::Machine machine = test::machine(each.machine);
    const Library library = test::libraries(machine);
    GemmCall call = *with_types(product_of(32, 4096, 4096), each.types);
    call.backend = each.backend;
    const auto all = library.candidates(call, machine.chip);
    EXPECT_TRUE(all.ok()) << each.machine << " " << each.types << " "
                          << (all.ok() ? "" : all.error().message);
  }
}

TEST(TileGemm, QuantisingComesBeforeTheProduct) {
  const machine::Machine machine = test::machine("b200");
  const Library library = test::libraries(machine);
  GemmCall call = *with_types(product_of(32, 4096, 4096), "fp8");
  const auto plain = library.candidates(call, machine.chip);
  call.quantise = QuantiseA::Token;
  const auto quantised = library.candidates(call, machine.chip);
  ASSERT_TRUE(plain.ok() && quantised.ok());
  EXPECT_EQ(quantised->front().size(), plain->front().size() + 1);
  EXPECT_EQ(quantised->front().front().family, "quantize");
}

}  // namespace
}  // namespace orrery::library
