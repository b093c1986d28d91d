// Libraries: the rules agree with launch geometry, every size gives finite counts, and what has no
// rule says so.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "test/support/tree.h"

namespace orrery::library {
namespace {

const machine::Machine& machine_file() {
  static const machine::Machine kMachine = test::machine("h200-sxm");
  return kMachine;
}

const Library& cuda() {
  static const Library kLibrary = test::libraries(machine_file());
  return kLibrary;
}

const machine::Chip& h200() {
  return machine_file().chip;
}

std::vector<std::vector<kernel::Profile>> candidates(const Call& call) {
  auto all = cuda().candidates(call, h200());
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return all.ok() ? *std::move(all) : std::vector<std::vector<kernel::Profile>>{};
}

// Sizes in the order batch, heads, kv_heads, seq_q, seq_kv; head size 128.
AttentionCall attention(const std::array<int64_t, 5>& sizes, std::string backend) {
  return {.batch = sizes[0],
          .heads = sizes[1],
          .kv_heads = sizes[2],
          .seq_q = sizes[3],
          .seq_kv = sizes[4],
          .head_dim = 128,
          .backend = std::move(backend)};
}

TEST(Library, FitsAtMostSixtyNumbersAFile) {
  for (const FileInfo& file : cuda().files()) {
    EXPECT_LE(
        std::count_if(file.numbers.begin(),
                      file.numbers.end(),
                      [](const machine::Number& n) { return n.source == machine::Source::Fitted; }),
        60)
        << file.id;
  }
}

TEST(Library, ReportsEveryMistakeOfAFile) {
  std::string text = test::read("libraries/cublas-13.toml");
  text.replace(text.find("step_floor"), 10, "stepp_floor");
  const auto library = Library::parse(text, "bad.toml");
  ASSERT_FALSE(library.ok());
  const std::string error = library.error().to_string();
  for (const char* part :
       {"nvjet.stepp_floor",
        "got an unknown key, need another; did you mean 'nvjet.step_floor'? (bad.toml:15)"}) {
    EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
  }
}

TEST(Library, WithoutAFamilySaysWhichFilesItHas) {
  const auto cublas = Library::parse(test::read("libraries/cublas-13.toml"), "cublas-13.toml");
  ASSERT_TRUE(cublas.ok());
  const auto all = cublas->candidates(RowsCall{.op = "silu", .rows = 1, .cols = 8}, h200());
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.error().code, ErrorCode::Unsupported);
  EXPECT_NE(all.error().message.find("cublas-13"), std::string::npos);
}

// Nsight Compute: 4096^3 runs nvjet 256x128_64x4_1x2 on a grid of 132 CTAs in clusters of 2; 16 x
// 32 tiles, 64 steps.
TEST(Nvjet, PersistsWhenTilesExceedTheSms) {
  const auto all = candidates(GemmCall{.m = 4096, .n = 4096, .k = 4096});
  ASSERT_EQ(all.size(), 1U);
  const auto& profile = all.front().front();
  EXPECT_EQ(profile.kernel, "nvjet_256x128_64x4_1x2_coopA_TNT");
  EXPECT_EQ(profile.units, 16 * 32);
  EXPECT_EQ(profile.ctas, 132);
  EXPECT_EQ(profile.kinds[0].phases[0].trips, 64);
  // 2 x 256 x 128 x 64 FLOP a step; L2 bytes of counters: 31.7 M sectors of 32 B read by the whole
  // launch.
  EXPECT_EQ(profile.kinds[0].phases[0].work.tensor, Flops(2.0 * 256 * 128 * 64));
  EXPECT_NEAR(profile.traffic.l2_read.value() / (31721474 * 32.0), 1, 0.1);
}

// Bank reads of 4 bytes by counters: 814.0 M of 256x128 for 4096^3; 8759 M of 320x128 for 8192^3,
// whose warpgroups both read every row of 64.
TEST(Nvjet, ClustersOfOneSideHaveAnOrder) {
  GemmCall call{.m = 4096, .n = 2048, .k = 4096, .kernel = "nvjet_256x128_64x4_1x2_coopA_TNT"};
  const auto along = candidates(call).front().front().traversal;
  EXPECT_EQ(along.order.tiles, (std::vector<int64_t>{8, 32, 1}));
  EXPECT_EQ(along.order.cluster, 2);
  EXPECT_EQ(along.order.at(1), (std::vector<int64_t>{0, 1, 0}));
  call.kernel = "nvjet_128x128_64x6_2x1_TNT";
  EXPECT_EQ(candidates(call).front().front().traversal.order.tiles,
            (std::vector<int64_t>{32, 16, 1}));
  call.kernel = "nvjet_64x64_64x13_4x2_TNT";
  EXPECT_TRUE(candidates(call).front().front().traversal.reads.empty());
}

TEST(Nvjet, WarpgroupsThatSplitColumnsReadRowsTwice) {
  const auto read = [](const GemmCall& call) {
    const auto profile = candidates(call).front().front();
    const auto& loop = profile.kinds[0].phases[0];
    return profile.kinds[0].count * loop.trips * loop.work.shared_read.value() / 4;
  };
  EXPECT_NEAR(read({.m = 4096, .n = 4096, .k = 4096}) / 813964596, 1, 0.02);
  EXPECT_NEAR(
      read({.m = 8192, .n = 8192, .k = 8192, .kernel = "nvjet_320x128_64x3_1x2_coopB_TNT"}) /
          8759422676,
      1,
      0.02);
}

// geometry.csv: no grid of cluster 4 or 8 exceeds 120 CTAs.
TEST(Nvjet, LargeClustersLeaveSmsIdle) {
  const auto all = candidates(
      GemmCall{.m = 4096, .n = 4096, .k = 4096, .kernel = "nvjet_192x192_64x4_2x4_coopB_TNN"});
  EXPECT_EQ(all.front().front().ctas, 120);
}

// Split-K of 64 x 4096 x 14336 with tiles 96x64, cluster 2x1: 43 tiles of n rounded to 44, so 3
// slices fill 132 SMs.
TEST(Nvjet, SplitsFillOneWave) {
  const auto all = candidates(
      GemmCall{.m = 64, .n = 4096, .k = 14336, .kernel = "nvjet_96x64_64x10_2x1_splitK_TNN"});
  const auto& sequence = all.front();
  ASSERT_EQ(sequence.size(), 2U);
  EXPECT_EQ(sequence.front().ctas, 132);
  EXPECT_EQ(sequence.front().kinds[0].phases[0].trips, 75);  // ceil(224 / 3)
  EXPECT_EQ(sequence.back().kernel, "splitKreduce_kernel");
}

// Names that a profiler showed for these shapes.
TEST(Nvjet, TakesWhatCublasTakes) {
  const auto kernel = [](const GemmCall& call) { return candidates(call).front().front().kernel; };
  EXPECT_EQ(kernel({.m = 8, .n = 16384, .k = 2048}), "nvjet_128x8_64x12_2x1_TNT");
  EXPECT_EQ(kernel({.m = 2048, .n = 8192, .k = 8192}), "nvjet_256x128_64x4_1x2_coopA_TNT");
  EXPECT_EQ(kernel({.m = 24, .n = 16384, .k = 2048}), "nvjet_128x24_64x11_2x1_TNT");
}

TEST(Nvjet, ALayoutIsInTheNameAndNeedsItsRowsAligned) {
  const auto all = candidates(GemmCall{.m = 512, .n = 512, .k = 512, .layout = GemmLayout::TN});
  EXPECT_NE(all.front().front().kernel.find("_NT"), std::string::npos);
  // Rows of m = 127 elements, as A is transposed: kernels of earlier generations.
  for (const auto& sequence :
       candidates(GemmCall{.m = 127, .n = 128, .k = 128, .layout = GemmLayout::TN})) {
    EXPECT_EQ(sequence.front().kernel.find("nvjet"), std::string::npos) << sequence[0].kernel;
  }
}

TEST(Nvjet, AGivenKernelIsTakenByName) {
  const auto unknown =
      cuda().candidates(GemmCall{.m = 64, .n = 64, .k = 64, .kernel = "gemv"}, h200());
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::NotFound);
}

TEST(Nvjet, LeavesRowsOfNoSixteenBytesToOlderKernels) {
  const auto all = candidates(GemmCall{.m = 128, .n = 128, .k = 129});
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().front().kernel.find("nvjet"), std::string::npos);
}

// counters.csv: batch 1, 32 heads on 8, 32768 keys: grid (1, 29, 8), so 29 splits and a combine
// kernel.
TEST(Flash, SplitsDecodeAsTheLibraryDoes) {
  const auto all = candidates(attention({1, 32, 8, 1, 32768}, "flash"));
  ASSERT_EQ(all.size(), 1U);
  ASSERT_EQ(all[0].size(), 2U);
  EXPECT_EQ(all[0][0].ctas, 29 * 8);
}

// counters.csv: batch 32: grid (1, 32, 8), unsplit, heads of a group become rows.
TEST(Flash, LeavesEnoughUnitsUnsplit) {
  const auto all = candidates(attention({32, 32, 8, 1, 2048}, "flash"));
  ASSERT_EQ(all[0].size(), 1U);
  EXPECT_EQ(all[0][0].ctas, 32 * 8);
}

double blocks(const kernel::Profile& profile) {
  double sum = 0;
  for (const auto& kind : profile.kinds) {
    for (const auto& phase : kind.phases) {
      sum += phase.name == "main loop" ? kind.count * phase.trips : 0;
    }
  }
  return sum;
}

// 500 queries in tiles of 128 see 2, 4, 6 and 8 blocks of 64 keys.
TEST(Flash, CausalTilesSeeTheBlocksUpToTheirLastRow) {
  auto call = attention({1, 132, 132, 500, 500}, "flash");
  call.causal = true;
  EXPECT_DOUBLE_EQ(blocks(candidates(call)[0][0]), 132 * 20);
}

// The last 64 of 4096 tokens see all 64 blocks, as one tile of 128 rows.
TEST(Flash, AChunkAfterACacheSeesTheCache) {
  auto call = attention({4, 64, 64, 64, 4096}, "flash");
  call.causal = true;
  EXPECT_DOUBLE_EQ(blocks(candidates(call)[0][0]), 4 * 64 * 64);
}

// With a window of 1024 keys, a tile of 128 queries sees the 18 blocks from 1024 before its first
// row; the first eight tiles of 32 see fewer.
TEST(Flash, AWindowBoundsTheBlocks) {
  auto call = attention({1, 132, 132, 4096, 4096}, "flash");
  call.window = 1024;
  const double seen = blocks(candidates(call)[0][0]) / 132;
  EXPECT_GE(seen, 32 * 18 - 8 * 18.0);
  EXPECT_LE(seen, 32 * 18.0);
}

// The tiles of each packed sequence: 8 + 1 of 128 rows a head.
TEST(Flash, PackedSequencesHaveTheirOwnTiles) {
  auto call = attention({2, 32, 8, 1024, 1024}, "flash");
  call.lengths = {1024, 100};
  EXPECT_EQ(candidates(call)[0][0].units, 32 * 9);
}

// A chunk of one tile is not averaged with the decoding sequences beside it: 512 blocks of 64 keys
// stay together.
TEST(Flash, ALongSequenceOfOneTileStaysApart) {
  auto call = attention({9, 32, 8, 128, 32768}, "flash");
  call.causal = true;
  call.lengths = std::vector<int64_t>(9, 1);
  call.key_lengths = std::vector<int64_t>(9, 512);
  call.lengths[0] = 128;
  call.key_lengths[0] = 32768;
  double most = 0;
  const auto all = candidates(call);
  for (const kernel::UnitKind& kind : all[0][0].kinds) {
    for (const kernel::ProfilePhase& phase : kind.phases) {
      most = std::max(most, phase.trips);
    }
  }
  EXPECT_EQ(most, 512);
}

// geometry of batch 16, 12 heads of 64, 2048 tokens: copies of 49152 CTAs, 16 x 16 x 12 CTAs of 256
// threads for dO . O, the loop and the conversion.
TEST(FlashBackward, LaunchesFiveKernels) {
  AttentionCall call = attention({16, 12, 12, 2048, 2048}, "flash");
  call.head_dim = 64;
  call.backward = true;
  const auto all = candidates(call);
  ASSERT_EQ(all[0].size(), 5U);
  EXPECT_EQ(all[0][0].ctas, 49152);
  for (const size_t i : {2U, 3U, 4U}) {
    EXPECT_EQ(all[0][i].ctas, 16 * 16 * 12);
    EXPECT_EQ(all[0][i].threads, 256);
  }
  EXPECT_DOUBLE_EQ(blocks(all[0][3]), 16 * 12 * 16 * 16);
}

// geometry.csv: 132 CTAs in clusters of two. 8 experts with 256 rows each take the large tile: two
// tiles of rows and 16 of columns each; an expert without rows takes none.
TEST(GroupedGemm, DealsPairsOfTilesToPersistentCtas) {
  GroupedGemmCall call{.rows = std::vector<int64_t>(8, 256), .n = 4096, .k = 14336};
  const auto all = candidates(call);
  ASSERT_EQ(all[0].size(), 2U);
  EXPECT_EQ(all[0][1].ctas, 132);
  EXPECT_EQ(all[0][1].units, 8 * 2 * 16);
  EXPECT_EQ(all[0][1].kinds[0].phases[0].trips, 224);
  call.rows[3] = 0;
  EXPECT_EQ(candidates(call)[0][1].units, 7 * 2 * 16);
}

// Up to 128 rows an expert on average the tile has 64 rows, and the second of a pair is computed
// even if no row is left for it.
TEST(GroupedGemm, RoundsFewRowsUpToAPairOfTiles) {
  const GroupedGemmCall call{.rows = std::vector<int64_t>(32, 64), .n = 4096, .k = 7168};
  EXPECT_EQ(candidates(call)[0][1].units, 32 * 2 * 32);
}

TEST(GroupedGemm, RefusesNoRowsAndOtherTypes) {
  GroupedGemmCall call{.rows = {0, 0}, .n = 64, .k = 64};
  EXPECT_EQ(cuda().candidates(call, h200()).error().code, ErrorCode::InvalidInput);
  call.rows = {1, 0};
  call.dtype = DType::F32;
  EXPECT_EQ(cuda().candidates(call, h200()).error().code, ErrorCode::Unsupported);
}

// Absorbed latent attention: 128 heads are rows of one head of 576, 32 of them a tile.
TEST(EfficientAttention, TakesHeadSizesBeyond256) {
  const AttentionCall call{.batch = 16,
                           .heads = 1,
                           .kv_heads = 1,
                           .seq_q = 128,
                           .seq_kv = 4096,
                           .head_dim = 576,
                           .backend = "efficient",
                           .head_dim_v = 512};
  const auto all = candidates(call);
  EXPECT_EQ(all[0][0].ctas, 16 * 4);
  EXPECT_DOUBLE_EQ(blocks(all[0][0]), 16 * 4 * 32);
}

// counters.csv: cuDNN, batch 1, 8 key heads, 32768 keys: grid (32, 8): 264 / 8 = 33 rounded down to
// a power of two.
TEST(Cudnn, SplitsByPowersOfTwo) {
  const auto all = candidates(attention({1, 32, 8, 1, 32768}, "cudnn"));
  ASSERT_EQ(all[0].size(), 2U);
  EXPECT_EQ(all[0][0].ctas, 32 * 8);
  EXPECT_EQ(candidates(attention({16, 32, 8, 1, 2048}, "cudnn"))[0].size(),
            1U);  // 128 units: no split
  EXPECT_EQ(candidates(attention({9, 32, 8, 1, 2250}, "cudnn"))[0].size(),
            1U);  // 72 units: more than half of the SMs
  EXPECT_EQ(candidates(attention({1, 32, 8, 1, 512}, "cudnn"))[0].size(), 1U);
  EXPECT_EQ(candidates(attention({1, 8, 2, 1, 871}, "cudnn"))[0][0].ctas, 4 * 2);
}

TEST(Cudnn, IsTheDefaultAndPersists) {
  const auto all = candidates(attention({4, 32, 8, 2048, 2048}, ""));
  EXPECT_EQ(all[0][0].kernel, "cudnn_sdpa_sm90_flash_fprop_wgmma");
  EXPECT_EQ(all[0][0].ctas, 132);
  EXPECT_EQ(all[0][0].units, 4 * 32 * 16);
}

// A causal tile i of 16 sees i + 1 blocks: 8.5 of 16 on average, plus the share of the diagonal.
TEST(Cudnn, CausalTilesSeeHalfTheKeys) {
  auto call = attention({1, 32, 32, 2048, 2048}, "cudnn");
  const auto full = candidates(call);
  call.causal = true;
  const auto causal = candidates(call);
  const auto blocks = [](const kernel::Profile& profile) {
    double sum = 0;
    for (const auto& kind : profile.kinds) {
      sum += kind.count * kind.phases[0].trips;
    }
    return sum;
  };
  EXPECT_NEAR(blocks(causal[0][0]) / blocks(full[0][0]), 8.5 / 16, 0.05);
}

// counters.csv: add of 128 x 8192: 1024 CTAs of 128 threads.
TEST(Rows, VectorsOfEightElementsAThread) {
  const auto all = candidates(RowsCall{.op = "add", .rows = 128, .cols = 8192});
  EXPECT_EQ(all[0][0].ctas, 1024);
  EXPECT_EQ(all[0][0].threads, 128);
  EXPECT_EQ(all[0][0].traffic.unique_read, Bytes(2.0 * 2 * 128 * 8192));
}

TEST(Rows, ANormRowIsABlock) {
  const auto all = candidates(RowsCall{.op = "rms_norm", .rows = 4096, .cols = 4096});
  EXPECT_EQ(all[0][0].ctas, 4096);
  EXPECT_EQ(all[0][0].ctas_per_sm, 16);
  EXPECT_EQ(all[0][0].kinds[0].phases[0].trips, 8);
}

TEST(Library, SaysWhatHasNoRule) {
  const auto unknown = cuda().candidates(RowsCall{.op = "fft", .rows = 1, .cols = 1}, h200());
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::Unsupported);
  EXPECT_NE(unknown.error().message.find("fft: got libraries cublas-13"), std::string::npos);
  EXPECT_EQ(
      cuda().candidates(GemmCall{.m = 1, .n = 8, .k = 8, .input = DType::I64}, h200()).error().code,
      ErrorCode::Unsupported);
  EXPECT_EQ(cuda().candidates(attention({1, 8, 8, 1, 8}, "magic"), h200()).error().code,
            ErrorCode::Unsupported);
}

TEST(Library, RefusesSizesOutOfRangeByName) {
  const auto bad = cuda().candidates(GemmCall{.m = 0, .n = -1, .k = int64_t{1} << 41}, h200());
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, ErrorCode::InvalidInput);
  EXPECT_EQ(
      bad.error().message,
      "[library.gemm] sizes out of range: got m = 0, n = -1, k = 2199023255552, need 1 to 2^40");
  EXPECT_FALSE(cuda().candidates(attention({1, 8, 3, 1, 8}, "flash"), h200()).ok());
}

bool counts_are_sound(const kernel::Profile& profile) {
  const auto& t = profile.traffic;
  bool sound =
      profile.units > 0 && profile.ctas > 0 && profile.ctas_per_sm > 0 && !profile.kinds.empty();
  for (const double bytes : {t.unique_read.value(),
                             t.recent_read.value(),
                             t.unique_write.value(),
                             t.dram_read.value(),
                             t.dram_write.value(),
                             t.l2_read.value(),
                             t.l2_write.value()}) {
    sound = sound && std::isfinite(bytes) && bytes >= 0;
  }
  for (const auto& kind : profile.kinds) {
    sound = sound && std::isfinite(kind.count) && kind.count >= 0;
    for (const auto& phase : kind.phases) {
      sound = sound && std::isfinite(phase.trips) && phase.trips > 0 && phase.ring >= 1 &&
              phase.work.tensor.value() >= 0 && phase.work.issue.value() >= 0 &&
              phase.chain.fixed.value() >= 0;
    }
  }
  return sound;
}

// Sizes spread evenly over the powers of two up to 2^40.
// NOLINTNEXTLINE(readability-function-cognitive-complexity): a sweep in nested loops
TEST(Library, EverySizeGivesSoundCounts) {
  std::mt19937_64 random(7);
  const auto size = [&](int bits) {
    return std::max<int64_t>(
        1,
        static_cast<int64_t>(random() %
                             (uint64_t{1} << (1 + random() % static_cast<uint64_t>(bits)))));
  };
  for (int i = 0; i < 400; ++i) {
    const int64_t heads = size(8);
    const std::vector<Call> calls = {GemmCall{size(20),
                                              size(40),
                                              std::max<int64_t>(1, size(37)) * 8,
                                              std::max<int64_t>(1, size(37)) * 8},
                                     AttentionCall{size(40),
                                                   heads * size(6),
                                                   heads,
                                                   size(40),
                                                   size(40),
                                                   1 + size(7),
                                                   i % 2 == 0,
                                                   DType::BF16,
                                                   i % 3 == 0 ? "flash" : "cudnn"},
                                     RowsCall{i % 5 == 0   ? "rms_norm"
                                              : i % 5 == 1 ? "softmax"
                                              : i % 5 == 2 ? "embedding"
                                              : i % 5 == 3 ? "silu"
                                                           : "add",
                                              size(40),
                                              size(40),
                                              i % 2 == 0 ? DType::BF16 : DType::F32,
                                              i % 3 == 0}};
    for (const auto& call : calls) {
      const auto all = cuda().candidates(call, h200());
      if (!all.ok()) {
        EXPECT_NE(all.error().message, "");
        continue;
      }
      for (const auto& sequence : *all) {
        for (const auto& profile : sequence) {
          ASSERT_TRUE(counts_are_sound(profile)) << profile.kernel << " of call " << i;
        }
      }
    }
  }
}

TEST(Library, RefusesKernelsOfABackendThatItDoesNotKnow) {
  const GemmCall call{.m = 64, .n = 4096, .k = 4096, .backend = "foo"};
  EXPECT_EQ(cuda().candidates(call, h200()).error().code, ErrorCode::Unsupported);
  EXPECT_NE(cuda().candidates(call, h200()).error().message.find("backend: got 'foo' for bf16"),
            std::string::npos);
  const machine::Machine amd = test::machine("mi300x");
  EXPECT_FALSE(test::libraries(amd).candidates(call, amd.chip).ok());
  const MoeCall experts{.tokens = 8, .hidden = 64, .inter = 64, .rows = {8, 0}, .backend = "foo"};
  EXPECT_NE(cuda().candidates(experts, h200()).error().message.find("backend: got 'foo' for bf16"),
            std::string::npos);
}

}  // namespace
}  // namespace orrery::library
