// Tests of launch geometry: extents, walks, the map from units to tiles, shared memory.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/geometry.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace orrery::kernel {
namespace {

constexpr AxisId kM{0};
constexpr AxisId kN{1};
constexpr AxisId kK{2};
constexpr AxisId kPart{3};

/// A program of two grid axes with tiles 10 x 20, a loop axis of tile 8 divided among `parts`
/// units.
Program two_axes(int64_t parts) {
  Program p;
  p.name = "test";
  p.axes = {{"m", {"m", 0}, 1, 10, AxisKind::Grid, {}},
            {"n", {"n", 0}, 1, 20, AxisKind::Grid, {}},
            {"k", {"k", 0}, 4, 8, AxisKind::Loop, kPart},
            {"part", {"", parts}, 1, 1, AxisKind::Grid, {}},
            {"w", {"w", 0}, 1, 16, AxisKind::Whole, {}}};
  p.stages = {{"main", StageKind::Consumer, 8, 0}, {"load", StageKind::Producer, 1, 0}};
  p.raster.order = {kM, kN, kPart};
  return p;
}

Extents extents(int64_t m, int64_t n, int64_t k) {
  Extents e;
  e.set("m", m);
  e.set("n", n);
  e.set("k", k);
  return e;
}

TEST(ExtentOf, NamesTheMissingSymbol) {
  const auto got = extent_of(two_axes(1), kM, Extents{});
  ASSERT_FALSE(got.ok());
  EXPECT_NE(got.error().message.find("'m'"), std::string::npos) << got.error().message;
}

TEST(ExtentOf, RefusesNonPositiveAndBrokenPromises) {
  EXPECT_FALSE(extent_of(two_axes(1), kM, extents(0, 1, 4)).ok());
  EXPECT_FALSE(extent_of(two_axes(1), kM, extents(-3, 1, 4)).ok());
  // k is promised to be a multiple of 4.
  EXPECT_FALSE(extent_of(two_axes(1), kK, extents(1, 1, 6)).ok());
  EXPECT_EQ(extent_of(two_axes(1), kK, extents(1, 1, 12)).value(), 12);
  EXPECT_EQ(extent_of(two_axes(7), kPart, Extents{}).value(), 7);
}

TEST(TilesOf, RoundsUpAndRefusesAWholeAxisBeyondItsTile) {
  EXPECT_EQ(tiles_of(two_axes(1), kM, extents(31, 1, 4)).value(), 4);
  Extents e;
  e.set("w", 16);
  EXPECT_EQ(tiles_of(two_axes(1), AxisId(4), e).value(), 1);
  e.set("w", 17);
  EXPECT_FALSE(tiles_of(two_axes(1), AxisId(4), e).ok());
}

TEST(WalkOf, PartsCoverTheLoopOnceAndTheLastIsShorter) {
  // 80 / 8 = 10 tiles among 4 parts: 3, 3, 3 and 1.
  const Program p = two_axes(4);
  const Extents e = extents(1, 1, 80);
  int64_t next = 0;
  for (int64_t part = 0; part < 4; ++part) {
    const Walk walk = walk_of(p, kK, part, e).value();
    EXPECT_EQ(walk.first, next);
    EXPECT_EQ(walk.last - walk.first, part < 3 ? 3 : 1);
    next = walk.last;
  }
  EXPECT_EQ(next, 10);
  // 2 tiles among 4 parts: the last two have nothing to do.
  const Walk idle = walk_of(p, kK, 3, extents(1, 1, 16)).value();
  EXPECT_EQ(idle.first, idle.last);
}

TEST(UnitMap, SweepsBandsOfTheFirstAxis) {
  Program p = two_axes(1);
  p.raster.group = 2;
  const UnitMap map = unit_map(p, extents(50, 40, 4)).value();  // 5 x 2 tiles
  ASSERT_EQ(map.units(), 10);
  const std::vector<std::vector<int64_t>> want = {{0, 0, 0},
                                                  {1, 0, 0},
                                                  {0, 1, 0},
                                                  {1, 1, 0},
                                                  {2, 0, 0},
                                                  {3, 0, 0},
                                                  {2, 1, 0},
                                                  {3, 1, 0},
                                                  {4, 0, 0},
                                                  {4, 1, 0}};
  for (int64_t unit = 0; unit < 10; ++unit) {
    EXPECT_EQ(map.at(unit), want[static_cast<size_t>(unit)]) << unit;
  }
}

TEST(UnitMap, IsABijectionOntoTheTilesForEveryGroupAndCluster) {
  for (const int64_t group : {1, 2, 3, 8, 100}) {
    for (const int64_t cluster : {1, 2, 4}) {
      for (const AxisId along : {kM, kN, kPart}) {
        Program p = two_axes(3);
        p.raster.group = group;
        if (cluster > 1) {
          p.cluster = Cluster{along, cluster};
        }
        const UnitMap map = unit_map(p, extents(67, 110, 64)).value();  // 7 x 6 x 3 tiles
        std::set<std::vector<int64_t>> seen;
        for (int64_t unit = 0; unit < map.units(); ++unit) {
          const std::vector<int64_t> tile = map.at(unit);
          for (size_t i = 0; i < tile.size(); ++i) {
            EXPECT_GE(tile[i], 0);
            EXPECT_LT(tile[i], map.tiles[i]);
          }
          seen.insert(tile);
        }
        EXPECT_EQ(static_cast<int64_t>(seen.size()), map.units())
            << "group " << group << " cluster " << cluster;
      }
    }
  }
}

TEST(UnitMap, ClusterMatesDifferInItsAxisAlone) {
  Program p = two_axes(1);
  p.raster.group = 4;
  p.cluster = Cluster{kM, 2};
  const UnitMap map = unit_map(p, extents(70, 60, 4)).value();  // 7 -> 8 tiles, times 3
  ASSERT_EQ(map.units(), 24);
  for (int64_t unit = 0; unit < 24; unit += 2) {
    const auto even = map.at(unit);
    const auto odd = map.at(unit + 1);
    EXPECT_EQ(even[0] + 1, odd[0]);
    EXPECT_EQ(even[0] % 2, 0);
    EXPECT_EQ(even[1], odd[1]);
  }
}

TEST(UnitMap, RefusesMoreUnitsThanALaunchCanCount) {
  EXPECT_FALSE(unit_map(two_axes(1), extents(1'000'000'000, 1'000'000'000, 4)).ok());
}

TEST(Geometry, PersistentProgramsTakeWholeClustersOfSlots) {
  Program p = two_axes(1);
  EXPECT_EQ(geometry(p, extents(1000, 1000, 4), 132).value().ctas, 5000);
  p.persistent = true;
  EXPECT_EQ(geometry(p, extents(1000, 1000, 4), 131).value().ctas, 131);
  p.cluster = Cluster{kM, 2};
  EXPECT_EQ(geometry(p, extents(1000, 1000, 4), 131).value().ctas, 130);
  EXPECT_EQ(geometry(p, extents(10, 20, 4), 132).value().ctas, 2);
  // 8 + 1 warps of 32 lanes; gfx942 waves have 64.
  EXPECT_EQ(geometry(p, extents(10, 20, 4), 132).value().threads, 288);
  p.target = Target::Gfx942;
  EXPECT_EQ(geometry(p, extents(10, 20, 4), 132).value().threads, 576);
}

/// a [m, k] and b [n, k] read by one mma, both in rings of 3; out is staged in panels.
Program with_rings() {
  Program p = two_axes(1);
  p.axes[0].tile = 128;
  p.axes[1].tile = 64;
  p.axes[2].tile = 64;
  const SharedLayout panels{64, 128, 0, 0};
  const DType bf16 = DType::BF16;
  p.tensors = {{"A", bf16, {kM, kK}, Access::Read}, {"B", bf16, {kN, kK}, Access::Read}};
  p.buffers = {{"a", bf16, {kM, kK}, Space::Shared, 3, panels, {}},
               {"b", bf16, {kN, kK}, Space::Shared, 3, panels, {}},
               {"acc", DType::F32, {kM, kN}, Space::Fragment, 1, {}, {}},
               {"out", bf16, {kM, kN}, Space::Shared, 2, {32, 64, 0, 1}, {}}};
  Phase loop{kK, {}};
  loop.body.push_back({StageId(1), Load{BufferId(0), TensorId(0)}});
  loop.body.push_back({StageId(1), Load{BufferId(1), TensorId(1)}});
  loop.body.push_back({StageId(0), Mma{BufferId(2), BufferId(0), BufferId(1), {64, 64, 16}}});
  p.phases = {loop};
  return p;
}

TEST(SharedBytes, CountsPaddingAndResidentPanels) {
  Program p = with_rings();
  EXPECT_EQ(shared_bytes(p, p.buffers[0]), 128 * 64 * 2);
  // One of two 32-wide panels exists at a time.
  EXPECT_EQ(shared_bytes(p, p.buffers[3]), 128 * 32 * 2);
  // Eight unused elements follow each row of 64.
  EXPECT_EQ(shared_bytes(p, {"x", DType::BF16, {kM, kK}, Space::Shared, 1, {0, 0, 8, 0}, {}}),
            128 * 72 * 2);
}

TEST(RingGroups, BuffersReadByTheSameStatementArriveTogether) {
  const auto groups = ring_groups(with_rings());
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].ring, 3);
  EXPECT_EQ(groups[0].bytes, (128 + 64) * 64 * 2);
  EXPECT_EQ(groups[0].buffers, (std::vector<BufferId>{BufferId(0), BufferId(1)}));
}

TEST(SharedPlan, AlignsBuffersAndAppendsBarriers) {
  const SharedPlan plan = shared_plan(with_rings());
  ASSERT_EQ(plan.slots.size(), 3U);
  EXPECT_EQ(plan.slots[1].offset, 3 * 16384);
  EXPECT_EQ(plan.slots[2].offset, 3 * (16384 + 8192));
  // Full and empty barrier of each of 3 entries, after two staging buffers of 8 KiB.
  EXPECT_EQ(plan.barriers, 6);
  EXPECT_EQ(plan.barrier_offset, 3 * (16384 + 8192) + 2 * 8192);
  EXPECT_EQ(plan.total, plan.barrier_offset + 48);
}

TEST(SharedPlan, ScratchHoldsOnePartialResultPerWarp) {
  Program p = two_axes(1);
  // 10 rows, each spread over 4 warps: a sum over n leaves 4 partial results a row.
  FragmentLayout row;
  row.digits = {{Place::Register, 10, kM, 1}, {Place::Warp, 4, kN, 5}, {Place::Register, 5, kN, 1}};
  p.buffers = {{"x", DType::F32, {kM, kN}, Space::Fragment, 1, {}, row},
               {"s", DType::F32, {kM}, Space::Fragment, 1, {}, {}}};
  Phase once;
  once.body.push_back({StageId(0), Reduce{BufferId(1), ReduceKind::Sum, buffer(BufferId(0))}});
  p.phases = {once};
  EXPECT_EQ(shared_plan(p).scratch_bytes, 10 * 4 * 4);
}

}  // namespace
}  // namespace orrery::kernel
