// Tests of fragment layouts: addressing, spans, reductions, coverage against brute force.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/layout.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace orrery::kernel {
namespace {

const AxisId kM{0};
const AxisId kN{1};

Digit reg(int64_t extent, AxisId axis, int64_t stride) {
  return {Place::Register, extent, axis, stride};
}

Digit lane(int64_t extent, AxisId axis, int64_t stride) {
  return {Place::Lane, extent, axis, stride};
}

Digit warp(int64_t extent, AxisId axis, int64_t stride) {
  return {Place::Warp, extent, axis, stride};
}

Digit copies(Place place, int64_t extent) {
  return {place, extent, std::nullopt, 0};
}

// The example of layout.h: a 64 x 128 accumulator of wgmma, held by 4 warps.
FragmentLayout wgmma_64x128() {
  return {{reg(2, kN, 1),
           reg(2, kM, 8),
           reg(16, kN, 8),
           lane(4, kN, 2),
           lane(8, kM, 1),
           warp(4, kM, 16)}};
}

// 128 columns in vectors of 8 over half a warp, two rows a warp.
FragmentLayout row_vectors() {
  return {{reg(8, kN, 1), lane(16, kN, 8), lane(2, kM, 1), warp(4, kM, 2)}};
}

// How often each element of an m x n tile is held, by walking every holder; elements outside the
// tile end up in the map too.
std::map<std::pair<int64_t, int64_t>, int> holders(const FragmentLayout& layout) {
  std::map<std::pair<int64_t, int64_t>, int> held;
  for (int64_t r = 0; r < layout.count(Place::Register); ++r) {
    for (int64_t l = 0; l < layout.count(Place::Lane); ++l) {
      for (int64_t w = 0; w < layout.count(Place::Warp); ++w) {
        ++held[{layout.offset(kM, {r, l, w}), layout.offset(kN, {r, l, w})}];
      }
    }
  }
  return held;
}

// The definition of `covers`, slowly: every element of the tile, nothing else, equally often.
bool covers_slowly(const FragmentLayout& layout, int64_t m, int64_t n) {
  int64_t replicas = 1;
  for (const Digit& digit : layout.digits) {
    if (!digit.axis) replicas *= digit.extent;
  }
  const auto held = holders(layout);
  if (held.size() != static_cast<size_t>(m * n)) return false;
  for (const auto& [element, times] : held) {
    if (element.first >= m || element.second >= n || times != replicas) return false;
  }
  return true;
}

TEST(FragmentLayout, CountsTheValuesOfEachPlace) {
  EXPECT_EQ(wgmma_64x128().count(Place::Register), 64);
  EXPECT_EQ(wgmma_64x128().count(Place::Lane), 32);
  EXPECT_EQ(wgmma_64x128().count(Place::Warp), 4);
  EXPECT_EQ(FragmentLayout{}.count(Place::Lane), 1);
}

TEST(FragmentLayout, OffsetOfTheWorkedExampleInTheHeader) {
  const Holder h{.reg = 5, .lane = 6, .warp = 3};
  EXPECT_EQ(wgmma_64x128().offset(kM, h), 49);
  EXPECT_EQ(wgmma_64x128().offset(kN, h), 13);
}

TEST(FragmentLayout, OffsetMatchesThePtxFormulaOfTheWgmmaAccumulator) {
  // PTX ISA, wgmma fragment D: row = 16 warp + lane / 4 + 8 (i / 2 % 2),
  // column = 8 (i / 4) + 2 (lane % 4) + i % 2.
  const FragmentLayout layout = wgmma_64x128();
  for (int64_t i = 0; i < 64; ++i) {
    for (int64_t l = 0; l < 32; ++l) {
      for (int64_t w = 0; w < 4; ++w) {
        ASSERT_EQ(layout.offset(kM, {i, l, w}), 16 * w + l / 4 + 8 * (i / 2 % 2));
        ASSERT_EQ(layout.offset(kN, {i, l, w}), 8 * (i / 4) + 2 * (l % 4) + i % 2);
      }
    }
  }
}

TEST(FragmentLayout, SpanIsTheTileAlongTheAxis) {
  EXPECT_EQ(wgmma_64x128().span(kM), 64);
  EXPECT_EQ(wgmma_64x128().span(kN), 128);
  EXPECT_EQ(wgmma_64x128().span(AxisId{7}), 1);
}

TEST(FragmentLayout, HugeDigitsSaturateInsteadOfOverflowing) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const FragmentLayout layout{{reg(most, kM, most), reg(most, kM, most)}};
  EXPECT_EQ(layout.count(Place::Register), most);
  EXPECT_EQ(layout.span(kM), most);
  EXPECT_FALSE(covers(layout, {{kM, most}}));
}

TEST(WithoutAxis, RegisterDigitsVanishAndTheOthersReplicate) {
  const FragmentLayout rows = without_axis(wgmma_64x128(), kN);
  EXPECT_EQ(
      rows,
      (FragmentLayout{{reg(2, kM, 8), copies(Place::Lane, 4), lane(8, kM, 1), warp(4, kM, 16)}}));
  EXPECT_TRUE(covers(rows, {{kM, 64}}));
  // Every row is held by four lanes: 2 registers x 32 lanes x 4 warps = 64 rows x 4.
  EXPECT_TRUE(covers_slowly(rows, 64, 1));
}

TEST(WithoutAxis, OfAnAxisThatIsNotThereChangesNothing) {
  EXPECT_EQ(without_axis(wgmma_64x128(), AxisId{9}), wgmma_64x128());
}

TEST(SameHolders, IgnoresHowDigitsAreSplit) {
  const FragmentLayout joined{{reg(8, kN, 1), copies(Place::Lane, 32), warp(8, kM, 16)}};
  const FragmentLayout split{{reg(2, kN, 1),
                              reg(4, kN, 2),
                              copies(Place::Lane, 4),
                              copies(Place::Lane, 8),
                              warp(4, kM, 16),
                              warp(2, kM, 64)}};
  EXPECT_TRUE(same_holders(joined, split));
  EXPECT_TRUE(same_holders(split, joined));
}

TEST(SameHolders, IgnoresDigitsOfExtentOneAndTheOrderOfPlaces) {
  const FragmentLayout plain{{reg(8, kN, 1), lane(32, kM, 1)}};
  const FragmentLayout odd{{lane(32, kM, 1), reg(1, kM, 77), reg(8, kN, 1), warp(1, kM, 5)}};
  EXPECT_TRUE(same_holders(plain, odd));
}

TEST(SameHolders, SeesADifferentOrderStrideOrPlace) {
  const FragmentLayout layout{{reg(2, kN, 1), reg(2, kM, 8), lane(4, kN, 2)}};
  EXPECT_FALSE(same_holders(layout, {{reg(2, kM, 8), reg(2, kN, 1), lane(4, kN, 2)}}));
  EXPECT_FALSE(same_holders(layout, {{reg(2, kN, 1), reg(2, kM, 4), lane(4, kN, 2)}}));
  EXPECT_FALSE(same_holders(layout, {{reg(2, kN, 1), reg(2, kM, 8), warp(4, kN, 2)}}));
  EXPECT_FALSE(same_holders(layout, {{reg(2, kN, 1), reg(2, kM, 8)}}));
}

TEST(IsProjection, AgreesWithTakingAxesAway) {
  const FragmentLayout rows = without_axis(wgmma_64x128(), kN);
  EXPECT_TRUE(is_projection(rows, wgmma_64x128(), {kM}));
  EXPECT_TRUE(is_projection(wgmma_64x128(), wgmma_64x128(), {kN, kM}));
  EXPECT_FALSE(is_projection(rows, wgmma_64x128(), {kN}));
  EXPECT_FALSE(is_projection(rows, row_vectors(), {kM}));
  const FragmentLayout scalar{{copies(Place::Lane, 32), copies(Place::Warp, 4)}};
  EXPECT_TRUE(is_projection(scalar, wgmma_64x128(), {}));
}

TEST(Covers, TheAccumulatorsOfTheFieldCoverTheirTiles) {
  // MI300 ISA: 32x32 has column = lane % 32, row = 8 (i / 4) + 4 (lane / 32) + i % 4; 16x16
  // likewise.
  const FragmentLayout mfma32{{reg(4, kM, 1), reg(4, kM, 8), lane(32, kN, 1), lane(2, kM, 4)}};
  const FragmentLayout mfma16{{reg(4, kM, 1), lane(16, kN, 1), lane(4, kM, 4)}};
  EXPECT_TRUE(covers(wgmma_64x128(), {{kM, 64}, {kN, 128}}));
  EXPECT_TRUE(covers(mfma32, {{kM, 32}, {kN, 32}}));
  EXPECT_TRUE(covers(mfma16, {{kM, 16}, {kN, 16}}));
  EXPECT_TRUE(covers(row_vectors(), {{kM, 8}, {kN, 128}}));
  for (const auto& [layout, m, n] : {std::tuple(wgmma_64x128(), 64, 128),
                                     std::tuple(mfma32, 32, 32),
                                     std::tuple(mfma16, 16, 16),
                                     std::tuple(row_vectors(), 8, 128)}) {
    EXPECT_TRUE(covers_slowly(layout, m, n));
  }
}

TEST(Covers, TilesThatAreNoPowerOfTwo) {
  // 96 = 8 x 12 columns: 8 in a vector, 4 lanes, 3 registers more.
  const FragmentLayout layout{{reg(8, kN, 1), reg(3, kN, 32), lane(4, kN, 8), lane(8, kM, 1)}};
  EXPECT_TRUE(covers(layout, {{kM, 8}, {kN, 96}}));
  EXPECT_TRUE(covers_slowly(layout, 8, 96));
  EXPECT_FALSE(covers(layout, {{kM, 8}, {kN, 128}}));
}

TEST(Covers, ReplicasDoNotMatter) {
  FragmentLayout layout = wgmma_64x128();
  layout.digits.push_back(copies(Place::Warp, 2));
  EXPECT_TRUE(covers(layout, {{kM, 64}, {kN, 128}}));
}

TEST(Covers, AnAxisOfOneElementNeedsNoDigit) {
  EXPECT_TRUE(covers(wgmma_64x128(), {{kM, 64}, {kN, 128}, {AxisId{5}, 1}}));
  EXPECT_TRUE(covers(FragmentLayout{}, {}));
}

TEST(Covers, RefusesGapsOverlapsForeignAxesAndWrongTiles) {
  const std::vector<AxisSpan> tile = {{kM, 4}, {kN, 8}};
  EXPECT_TRUE(covers({{reg(4, kM, 1), lane(8, kN, 1)}}, tile));
  EXPECT_FALSE(covers({{reg(4, kM, 2), lane(8, kN, 1)}}, tile));                  // gap
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(8, kN, 0)}}, tile));                  // stands still
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(4, kN, 1)}}, tile));                  // too short
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(16, kN, 1)}}, tile));                 // too long
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(8, kN, 1), warp(2, kN, 1)}}, tile));  // twice
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(4, kN, 1), warp(4, kN, 2)}}, tile));  // overlap
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(8, kN, 1), warp(2, AxisId{3}, 1)}}, tile));
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(8, kN, 1), warp(0, kN, 8)}}, tile));
  EXPECT_FALSE(covers({{reg(4, kM, 1), lane(8, kN, 1), warp(-2, kN, -8)}}, tile));
  EXPECT_FALSE(covers({{reg(4, kM, 1)}}, tile));  // axis missing
}

TEST(Covers, AgreesWithBruteForceOnRandomLayouts) {
  const unsigned seed = 20240517;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  const auto pick = [&](auto... values) {
    const int64_t choices[] = {values...};
    return choices[random() % std::size(choices)];
  };
  int covered = 0;
  for (int round = 0; round < 1500; ++round) {
    FragmentLayout layout;
    int64_t next[2] = {1, 1};
    for (int digits = 0; digits < 4; ++digits) {
      const auto place = static_cast<Place>(pick(0, 1, 2));
      const int64_t extent = pick(1, 2, 3, 4);
      const auto along = static_cast<uint32_t>(pick(0, 1, 2));
      if (along == 2) {
        layout.digits.push_back(copies(place, extent));
        continue;
      }
      const int64_t stride = random() % 8 == 0 ? pick(1, 2, 3, 6) : next[along];
      layout.digits.push_back({place, extent, AxisId{along}, stride});
      next[along] *= extent;
    }
    const int64_t m = random() % 8 == 0 ? pick(1, 2, 3, 4, 6) : next[0];
    const bool expected = covers_slowly(layout, m, next[1]);
    ASSERT_EQ(covers(layout, {{kM, m}, {kN, next[1]}}), expected) << "round " << round;
    covered += expected ? 1 : 0;
  }
  EXPECT_GT(covered, 200);
  EXPECT_LT(covered, 1300);
}

}  // namespace
}  // namespace orrery::kernel
