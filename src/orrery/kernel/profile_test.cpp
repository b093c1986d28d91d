// Tests of derived profiles: the worked example, totals against counting unit by unit, kinds,
// traffic, occupancy.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"
#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

machine::Chip chip_of(const std::string& file) {
  std::ifstream in(std::filesystem::path(ORRERY_SOURCE_DIR) / "machines" / file);
  std::stringstream text;
  text << in.rdbuf();
  return machine::parse_machine(text.str(), file).value().chip;
}

const machine::Chip& h200() {
  static const machine::Chip kChip = chip_of("h200-sxm.toml");
  return kChip;
}

Extents extents(std::initializer_list<std::pair<const char*, int64_t>> values) {
  Extents e;
  for (const auto& [symbol, value] : values) {
    e.set(symbol, value);
  }
  return e;
}

Profile gemm_profile(const GemmConfig& config, int64_t m, int64_t n, int64_t k) {
  return derive_profile(
             gemm_program(config).value(), extents({{"m", m}, {"n", n}, {"k", k}}), h200())
      .value();
}

TEST(DeriveProfile, KnowsWhichTilesEachUnitReads) {
  const Traversal t = gemm_profile({}, 4096, 4096, 4096).traversal;
  EXPECT_EQ(t.order.units(), 512);
  ASSERT_EQ(t.reads.size(), 2U);
  for (const TileOperand& operand : t.reads) {
    EXPECT_TRUE(operand.steps) << operand.name;
    ASSERT_EQ(operand.axes.size(), 1U) << operand.name;
  }
  EXPECT_NE(t.reads[0].axes, t.reads[1].axes);
  EXPECT_EQ(t.reads[0].tile + t.reads[1].tile, Bytes((128.0 + 256) * 64 * 2));
}

TEST(DeriveProfile, CountsTheWorkedExample) {
  const Profile p = gemm_profile({}, 4096, 4096, 4096);
  EXPECT_EQ(p.units, 512);
  EXPECT_EQ(p.ctas, 132);
  EXPECT_EQ(p.ctas_per_sm, 1);
  EXPECT_EQ(p.threads, 384);
  EXPECT_EQ(p.family, "gemm");
  ASSERT_EQ(p.kinds.size(), 1U);
  const ProfilePhase& loop = p.kinds[0].phases[1];
  EXPECT_EQ(loop.trips, 64);
  EXPECT_EQ(loop.ring, 4);
  EXPECT_EQ(loop.work.tensor.value(), 2.0 * 128 * 256 * 64);
  // Per k16 step each of two warpgroups reads its 64 rows of a and all 256 of b: 2 (64 + 256) 16 2
  // B, four times.
  EXPECT_EQ(loop.work.shared_read.value(), 80 * 1024);
  EXPECT_EQ(loop.work.l2_read.value(), 48 * 1024);
  EXPECT_EQ(loop.work.shared_write.value(), 0);  // tensor copies are not counted
  const ProfilePhase& end = p.kinds[0].phases[2];
  EXPECT_EQ(end.work.l2_write.value(), 64 * 1024);
  EXPECT_EQ(end.work.shared_read.value(), 64 * 1024);
  // Two of the bf16 matrices are read, one is written.
  EXPECT_EQ(p.traffic.unique_read.value(), 2 * 4096.0 * 4096 * 2);
  EXPECT_EQ(p.traffic.unique_write.value(), 4096.0 * 4096 * 2);
}

TEST(DeriveProfile, AClusterLoadsTheCommonOperandOnce) {
  const Profile one = gemm_profile({}, 4096, 4096, 4096);
  const Profile two = gemm_profile({.cluster_m = 2}, 4096, 4096, 4096);
  // a 16 KiB as before, b 32 KiB shared by two.
  EXPECT_EQ(two.kinds[0].phases[1].work.l2_read.value(), 32 * 1024);
  EXPECT_EQ(two.kinds[0].phases[1].work.shared_read, one.kinds[0].phases[1].work.shared_read);
  EXPECT_EQ(two.cluster, 2);
}

// ---- totals, counted unit by unit

struct Totals {
  double tensor = 0;
  double read = 0;
  double write = 0;
};

/// Elements of a tile along an axis that lie inside.
int64_t inside_of(const Program& p, AxisId axis, int64_t tile, const Extents& e) {
  const int64_t extent = extent_of(p, axis, e).value();
  return std::clamp<int64_t>(extent - tile * p[axis].tile, 0, p[axis].tile);
}

/// Bytes of the 32-byte sectors that the tile's rows touch, walking the rows.
double sectors_of(const Program& p,
                  const Tensor& t,
                  const std::vector<int64_t>& position,
                  const Extents& e) {
  const auto size = static_cast<int64_t>(element_size(t.dtype).value());
  std::vector<int64_t> count;
  std::vector<int64_t> start;
  int64_t rows = 1;
  for (const AxisId axis : t.axes) {
    count.push_back(inside_of(p, axis, position[axis.index()], e));
    start.push_back(position[axis.index()] * p[axis].tile);
  }
  for (size_t i = 0; i + 1 < count.size(); ++i) {
    rows *= count[i];
  }
  double bytes = 0;
  for (int64_t row = 0; row < rows && count.back() > 0; ++row) {
    int64_t at = 0;
    int64_t rest = row;
    std::vector<int64_t> index(count.size(), 0);
    for (size_t i = count.size() - 1; i-- > 0;) {
      index[i] = rest % count[i];
      rest /= count[i];
    }
    for (size_t i = 0; i < count.size(); ++i) {
      at = at * extent_of(p, t.axes[i], e).value() + start[i] + index[i];
    }
    const int64_t first = at * size / 32;
    const int64_t last = ((at + count.back()) * size - 1) / 32;
    bytes += static_cast<double>(last - first + 1) * 32;
  }
  return bytes;
}

void count_body(const Program& p,
                const Phase& phase,
                const std::vector<int64_t>& position,
                const Extents& e,
                Totals& totals) {
  for (const Statement& statement : phase.body) {
    if (const auto* load = std::get_if<Load>(&statement.op)) {
      totals.read += sectors_of(p, p[load->from], position, e);
    } else if (const auto* store = std::get_if<Store>(&statement.op)) {
      totals.write += sectors_of(p, p[store->to], position, e);
    } else if (const auto* mma = std::get_if<Mma>(&statement.op)) {
      double product = 2;
      std::vector<AxisId> axes = p[mma->first].axes;
      axes.insert(axes.end(), p[mma->second].axes.begin(), p[mma->second].axes.end());
      std::sort(axes.begin(), axes.end());
      axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
      for (const AxisId axis : axes) {
        product *= static_cast<double>(p[axis].tile);
      }
      totals.tensor += product;
    }
  }
}

Totals brute_force(const Program& p, const Extents& e) {
  Totals totals;
  const UnitMap map = unit_map(p, e).value();
  for (int64_t unit = 0; unit < map.units(); ++unit) {
    std::vector<int64_t> position(p.axes.size(), 0);
    const std::vector<int64_t> tile = map.at(unit);
    for (size_t i = 0; i < tile.size(); ++i) {
      position[map.order[i].index()] = tile[i];
    }
    for (const Phase& phase : p.phases) {
      Walk walk{0, 1};
      if (phase.loop) {
        const auto& parts = p[*phase.loop].parts;
        walk = walk_of(p, *phase.loop, parts ? position[parts->index()] : 0, e).value();
      }
      for (int64_t trip = walk.first; trip < walk.last; ++trip) {
        if (phase.loop) {
          position[phase.loop->index()] = trip;
        }
        count_body(p, phase, position, e, totals);
      }
    }
  }
  return totals;
}

Totals sum_of(const Profile& profile) {
  Totals totals;
  double units = 0;
  for (const UnitKind& kind : profile.kinds) {
    units += kind.count;
    for (const ProfilePhase& phase : kind.phases) {
      totals.tensor += kind.count * phase.trips * phase.work.tensor.value();
    }
  }
  EXPECT_EQ(units, static_cast<double>(profile.units));
  totals.read = profile.traffic.l2_read.value();
  totals.write = profile.traffic.l2_write.value();
  return totals;
}

void expect_exact(const Program& program, const Extents& e) {
  const Profile profile = derive_profile(program, e, h200()).value();
  const Totals want = brute_force(program, e);
  const Totals got = sum_of(profile);
  EXPECT_NEAR(got.tensor, want.tensor, 1e-9 * want.tensor) << program.name;
  EXPECT_NEAR(got.read, want.read, 1e-9 * want.read) << program.name;
  EXPECT_NEAR(got.write, want.write, 1e-9 * want.write) << program.name;
}

TEST(DeriveProfile, TotalsEqualCountingUnitByUnit) {
  const Extents gemm = extents({{"m", 200}, {"n", 336}, {"k", 144}});
  expect_exact(gemm_program({.tile_m = 64, .tile_n = 64, .warps = 4}).value(), gemm);
  expect_exact(gemm_program({.tile_m = 16, .tile_n = 64, .swapped = true, .warps = 4}).value(),
               gemm);
  const GemmConfig parts{.tile_m = 64, .tile_n = 64, .warps = 4, .persistent = false, .parts = 2};
  expect_exact(gemm_program(parts).value(), gemm);
  expect_exact(gemm_combine_program(parts).value(), gemm);
  expect_exact(add_rms_norm_program({.row_warps = 2, .vectors = 2}).value(),
               extents({{"rows", 7}, {"cols", 1008}}));
  expect_exact(
      add_rms_norm_program({.rows = 4, .row_warps = 1, .vectors = 2, .looped = true}).value(),
      extents({{"rows", 7}, {"cols", 1008}}));
  const Extents decode = extents({{"b", 2}, {"h", 2}, {"g", 4}, {"s", 300}});
  expect_exact(decode_attention_program({.head_dim = 64, .tile_s = 32}).value(), decode);
  const DecodeConfig split{.head_dim = 64, .tile_s = 32, .parts = 3};
  expect_exact(decode_attention_program(split).value(), decode);
}

TEST(DeriveProfile, MisalignedRowsTouchTheExpectedNumberOfSectors) {
  // 1001 columns of 2 bytes: rows start anywhere at 2-byte steps, so the mean over 64 rows is near
  // the expectation.
  const Program p = add_rms_norm_program({.row_warps = 4, .vectors = 8, .aligned = false}).value();
  const Extents e = extents({{"rows", 64}, {"cols", 1001}});
  const Totals got = sum_of(derive_profile(p, e, h200()).value());
  const Totals want = brute_force(p, e);
  EXPECT_NEAR(got.read, want.read, 0.01 * want.read);
  EXPECT_GT(got.write, 2 * 64 * 1001 * 2.0);
}

TEST(DeriveProfile, TheShorterLastPartIsAKindOfItsOwn) {
  const GemmConfig config{.tile_m = 64, .tile_n = 64, .warps = 4, .persistent = false, .parts = 4};
  // 640 / 64 = 10 steps: 3, 3, 3 and 1.
  const Profile p = gemm_profile(config, 64, 128, 640);
  ASSERT_EQ(p.kinds.size(), 2U);
  EXPECT_EQ(p.kinds[0].count, 2 * 3);
  EXPECT_EQ(p.kinds[0].phases[1].trips, 3);
  EXPECT_EQ(p.kinds[1].count, 2);
  EXPECT_EQ(p.kinds[1].phases[1].trips, 1);
}

TEST(DeriveProfile, ADependentTripAddsTheMatrixPipeToItsChain) {
  const Program p = decode_attention_program({}).value();
  const Profile profile =
      derive_profile(p, extents({{"b", 1}, {"h", 8}, {"g", 8}, {"s", 4096}}), h200()).value();
  EXPECT_EQ(profile.family, "attention");
  const ProfilePhase& loop = profile.kinds[0].phases[1];
  // Two products of 64 x 64 x 128 at 4096 FLOP a cycle are 512 cycles, the softmax of 32 scores a
  // thread follows.
  EXPECT_GT(loop.chain.fixed.value(), 512);
  EXPECT_LT(loop.chain.fixed.value(), 1200);
  // 64 x 64 exponentials, and one for each of 64 rows in each of its 4 holders.
  EXPECT_EQ(loop.work.special, 64 * 64 + 64 * 4);
}

TEST(DeriveProfile, WavesReadTheirBlocksFromLds) {
  const Program p = gemm_program({.target = Target::Gfx942,
                                  .tile_m = 128,
                                  .tile_n = 128,
                                  .tile_k = 32,
                                  .ring = 2,
                                  .warps = 4,
                                  .column_warps = 2})
                        .value();
  const Profile profile =
      derive_profile(p, extents({{"m", 4096}, {"n", 4096}, {"k", 4096}}), chip_of("mi300x.toml"))
          .value();
  const ProfilePhase& loop = profile.kinds[0].phases[1];
  // Each of 4 waves reads 64 rows of a and 64 of b, 32 elements of 2 bytes each.
  EXPECT_EQ(loop.work.shared_read.value(), 4 * (64 + 64) * 32 * 2);
  EXPECT_EQ(loop.work.tensor.value(), 2.0 * 128 * 128 * 32);
  EXPECT_EQ(profile.code.shared_bytes, shared_plan(p).total);
}

TEST(DeriveProfile, SharedMemoryAndRegistersLimitResidency) {
  const Extents e = extents({{"b", 8}, {"h", 8}, {"g", 8}, {"s", 4096}});
  // Q 16 KiB + 2 x 3 tiles of 16 KiB = 112 KiB: two CTAs of an SM's 228.
  EXPECT_EQ(derive_profile(decode_attention_program({.ring = 3}).value(), e, h200())->ctas_per_sm,
            2);
  EXPECT_EQ(
      derive_profile(decode_attention_program({.ring = 5, .ctas_per_sm = 1}).value(), e, h200())
          ->ctas_per_sm,
      1);
}

TEST(DeriveProfile, RefusesACtaThatDoesNotFit) {
  machine::Chip small = h200();
  small.core.shared_per_cta = Bytes(100 * 1024);
  const Extents e = extents({{"m", 128}, {"n", 256}, {"k", 64}});
  const auto got = derive_profile(gemm_program({}).value(), e, small);
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, ErrorCode::Infeasible);
  EXPECT_NE(got.error().message.find("shared memory"), std::string::npos) << got.error().message;
}

TEST(DeriveProfile, NamesAMissingExtent) {
  EXPECT_FALSE(derive_profile(gemm_program({}).value(), extents({{"m", 1}}), h200()).ok());
}

// ---- what L2 cannot keep

TEST(DeriveProfile, SmallOperandsAreReadFromDramOnce) {
  const Profile p = gemm_profile({}, 2048, 2048, 2048);
  EXPECT_NEAR(p.traffic.dram_read.value(),
              p.traffic.unique_read.value(),
              1e-3 * p.traffic.unique_read.value());
}

TEST(DeriveProfile, LargeOperandsAreReadAgainByEachWaveOrBand) {
  const Profile p = gemm_profile({}, 16384, 16384, 16384);
  const double unique = p.traffic.unique_read.value();
  EXPECT_GT(p.traffic.dram_read.value(), 1.5 * unique);
  // Never more than every wave reading all that its units share.
  EXPECT_LT(p.traffic.dram_read.value(), 32 * unique);
  // Without bands a wave is one long strip of tiles, which shares less.
  const Profile strips = gemm_profile({.group = 1}, 16384, 16384, 16384);
  EXPECT_GT(strips.traffic.dram_read.value(), p.traffic.dram_read.value());
}

TEST(DeriveProfile, PartiallyWrittenSectorsAreFilledFirst) {
  const Program p = add_rms_norm_program({.row_warps = 4, .vectors = 8, .aligned = false}).value();
  const Profile odd = derive_profile(p, extents({{"rows", 64}, {"cols", 1001}}), h200()).value();
  EXPECT_GT(odd.traffic.dram_write.value(), odd.traffic.unique_write.value());
  const Profile even = derive_profile(p, extents({{"rows", 64}, {"cols", 1008}}), h200()).value();
  EXPECT_EQ(even.traffic.dram_write.value(), even.traffic.unique_write.value());
}

TEST(DeriveProfile, SeveralShortRowsRunTogetherOnAnSm) {
  const Program p = add_rms_norm_program({.row_warps = 8, .vectors = 2}).value();
  const Profile profile =
      derive_profile(p, extents({{"rows", 16384}, {"cols", 4096}}), h200()).value();
  EXPECT_EQ(profile.family, "row_norm");
  EXPECT_GE(profile.ctas_per_sm, 4);
  EXPECT_LE(profile.ctas_per_sm, 8);
  EXPECT_EQ(profile.kinds[0].phases[0].chain.memory, 1);
}

Profile norm_profile(const AddRmsNormConfig& config, int64_t rows, int64_t cols) {
  return derive_profile(add_rms_norm_program(config).value(),
                        extents({{"rows", rows}, {"cols", cols}}),
                        h200())
      .value();
}

// 64 values a thread: x and r in 32 registers each turn into h in 64 and need no others. With 117
// registers (ptxas) or fewer, two CTAs of 256 threads are resident.
TEST(DeriveProfile, OperandsOfAMapGiveTheirRegistersToItsResult) {
  EXPECT_EQ(norm_profile({.row_warps = 8, .vectors = 8}, 4096, 16384).ctas_per_sm, 2);
}

TEST(DeriveProfile, PhasesOverlapTheMoreTheMoreCtasAreResident) {
  const Profile lone = norm_profile({.row_warps = 32, .vectors = 1}, 8192, 8192);
  ASSERT_EQ(lone.ctas_per_sm, 1);
  EXPECT_EQ(lone.behaviour.overlap, 1);
  const Profile two = norm_profile({.row_warps = 16, .vectors = 2}, 8192, 8192);
  ASSERT_EQ(two.ctas_per_sm, 2);
  EXPECT_EQ(two.behaviour.overlap, 2);
  EXPECT_EQ(norm_profile({.row_warps = 4, .vectors = 1}, 65536, 1024).behaviour.overlap, 6);
  // A ring overlaps by itself: how well is the machine's number.
  EXPECT_EQ(gemm_profile({}, 4096, 4096, 4096).behaviour.overlap, 0);
}

}  // namespace
}  // namespace orrery::kernel
