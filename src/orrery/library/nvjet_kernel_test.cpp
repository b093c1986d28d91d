// nvjet kernels: the tiles that exist, their stages, and names that read back.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nvjet_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery::library {
namespace {

bool has(const NvjetTile& tile) {
  const auto tiles = nvjet_tiles();
  return std::find(tiles.begin(), tiles.end(), tile) != tiles.end();
}

TEST(NvjetTiles, ShareLargeTilesAlongTheSideThatHalves) {
  EXPECT_TRUE(has({128, 168, true, Sharing::PingPong}));
  EXPECT_TRUE(has({256, 128, true, Sharing::CoopA}));  // 4 blocks of 64 rows: 2 each
  EXPECT_TRUE(has({320, 128, true, Sharing::CoopB}));  // 5 blocks: 64 columns each
}

TEST(NvjetTiles, PutTheLongerSideAlongRows) {
  EXPECT_TRUE(has({64, 128, false, Sharing::PingPong}));
  EXPECT_FALSE(has({64, 128, true, Sharing::PingPong}));
  EXPECT_TRUE(has({192, 192, false, Sharing::CoopB}));
}

// Stages in names that a profiler showed.
TEST(NvjetStages, FillSharedMemory) {
  EXPECT_EQ(nvjet_stages({256, 128, true, Sharing::CoopA}, 64, 2, GemmLayout::NT), 4);
  EXPECT_EQ(nvjet_stages({64, 8, true, Sharing::PingPong}, 64, 2, GemmLayout::NT), 16);
  EXPECT_EQ(nvjet_stages({320, 128, true, Sharing::CoopB}, 128, 1, GemmLayout::NT), 3);
  // k of A is not contiguous: 96 elements are padded to 128.
  EXPECT_EQ(nvjet_stages({64, 96, true, Sharing::PingPong}, 64, 2, GemmLayout::NT), 10);
  EXPECT_EQ(nvjet_stages({64, 96, true, Sharing::PingPong}, 64, 2, GemmLayout::TT), 8);
}

TEST(NvjetNames, ReadBack) {
  const NvjetKernel kernel{.tile = {192, 144, true, Sharing::CoopB},
                           .step = 64,
                           .stages = 5,
                           .cluster_n = 2,
                           .cluster_m = 1,
                           .split = true};
  const std::string name = to_text(kernel, GemmLayout::NT);
  EXPECT_EQ(name, "nvjet_192x144_64x5_2x1_coopB_splitK_TNT");
  EXPECT_EQ(parse_nvjet(name), kernel);
  for (const char* bad : {"", "nvjet_", "nvjet_0x8_64x16_1x1_TNT", "gemv_64x8_64x16_1x1_TNT"}) {
    EXPECT_FALSE(parse_nvjet(bad)) << bad;
  }
}

}  // namespace
}  // namespace orrery::library
