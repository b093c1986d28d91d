// NCCL: what it takes for a message, and how many bytes that moves.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "orrery/library/library.h"
#include "orrery/machine/machine.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

using ::testing::HasSubstr;

const machine::Chip& h200() {
  static const machine::Machine kMachine = test::machine("h200-sxm");
  return kMachine.chip;
}

Result<Candidates> candidates(const CollectiveCall& call) {
  static const Library kLibrary =
      *Library::parse(test::read("libraries/nccl-2.toml"), "nccl-2.toml");
  return kLibrary.candidates(call, h200());
}

kernel::Profile profile(const CollectiveCall& call) {
  const auto all = candidates(call);
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  EXPECT_EQ(all->size(), 1U);
  return all->front().front();
}

std::string kernel(std::string op, int64_t bytes, int64_t gpus) {
  return profile({.op = std::move(op), .bytes = bytes, .gpus = gpus}).kernel;
}

constexpr int64_t kMiB = int64_t{1} << 20;

// NCCL's model gives LL 7.8 us + bytes / 141 GB/s and Simple 15.2 us + bytes / 360 GB/s: they meet
// at 1.7 MB.
TEST(Nccl, TakesTheProtocolThatItsOwnModelPrefers) {
  EXPECT_THAT(kernel("all_reduce", kMiB, 2), HasSubstr("RING LL"));
  EXPECT_THAT(kernel("all_reduce", 2 * kMiB, 2), HasSubstr("RING Simple"));
  EXPECT_THAT(kernel("all_gather", kMiB, 2), HasSubstr("RING LL"));  // it calls that 2 MiB
  EXPECT_THAT(kernel("all_gather", 2 * kMiB, 2), HasSubstr("RING Simple"));
  EXPECT_THAT(kernel("reduce_scatter", 2 * kMiB, 2), HasSubstr("RING LL"));
  EXPECT_THAT(kernel("broadcast", 2 * kMiB, 2), HasSubstr("RING Simple"));
}

TEST(Nccl, LetsTheSwitchAddFromFiveGpusOn) {
  EXPECT_THAT(kernel("all_reduce", 64 * kMiB, 2), HasSubstr("RING Simple"));
  EXPECT_THAT(kernel("all_reduce", 64 * kMiB, 8), HasSubstr("NVLS"));
  EXPECT_THAT(kernel("all_reduce", 64 * kMiB, 4), HasSubstr("RING Simple"));
  EXPECT_THAT(kernel("all_gather", 64 * kMiB, 8), HasSubstr("RING Simple"));
  EXPECT_THAT(kernel("all_reduce", 1024, 8), HasSubstr("RING LL"));
  CollectiveCall bytes{.op = "all_reduce", .bytes = 64 * kMiB, .gpus = 8};
  bytes.dtype = DType::I8;  // the switch adds floats
  EXPECT_THAT(profile(bytes).kernel, HasSubstr("RING Simple"));
  EXPECT_THAT(kernel("broadcast", 64 * kMiB, 8), HasSubstr("RING Simple"));
}

// 16 KiB for each of 32 channels.
TEST(Nccl, SendsTakeLowLatencyUpTo512KiBForAGpu) {
  EXPECT_THAT(kernel("send_recv", kMiB / 2, 2), HasSubstr("P2P LL"));
  EXPECT_THAT(kernel("send_recv", kMiB / 2 + 1, 2), HasSubstr("P2P Simple"));
  EXPECT_THAT(kernel("all_to_all", kMiB, 2), HasSubstr("P2P LL"));
  EXPECT_THAT(kernel("all_to_all", 4 * kMiB, 8), HasSubstr("P2P LL"));
}

// A ring of n: 2 (n - 1) / n of the input in an all-reduce, n - 1 inputs in an all-gather.
TEST(Nccl, CountsWhatARingSends) {
  const auto sent = [](std::string op, int64_t gpus) {
    const int64_t bytes = 256 * kMiB;
    return profile({.op = std::move(op), .bytes = bytes, .gpus = gpus}).link.sent.value() /
           static_cast<double>(bytes);
  };
  EXPECT_DOUBLE_EQ(sent("all_reduce", 2), 1);
  EXPECT_DOUBLE_EQ(sent("all_gather", 2), 1);
  EXPECT_DOUBLE_EQ(sent("all_gather", 4), 3);
  EXPECT_DOUBLE_EQ(sent("reduce_scatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(sent("all_to_all", 8), 0.875);
  EXPECT_DOUBLE_EQ(sent("all_reduce", 8), 1.125);  // NVLS: all of it up, an eighth of the sums down
  EXPECT_EQ(profile({.op = "all_reduce", .bytes = 1024, .gpus = 8}).link.hops, 14);
  EXPECT_EQ(profile({.op = "all_reduce", .bytes = 1024, .gpus = 2}).link.sent, Bytes(2048.0));
}

TEST(Nccl, TheHostIsSeenOutsideAGraphOnly) {
  EXPECT_EQ(profile({.op = "all_reduce", .bytes = 1024}).host, Duration::zero());
  EXPECT_GT(profile({.op = "all_reduce", .bytes = 1024, .stream = true}).host, Duration::zero());
}

TEST(Nccl, RefusesWhatANodeCannotDo) {
  EXPECT_THAT(candidates({.op = "all_reduce", .bytes = 1, .gpus = 9}).error().message,
              HasSubstr("got 9 GPUs, need at most the 8"));
  EXPECT_THAT(candidates({.op = "all_reduce", .bytes = 1, .gpus = 1}).error().message,
              HasSubstr("got 1 GPU, need 2"));
  EXPECT_THAT(candidates({.op = "all_sum", .bytes = 1}).error().message, HasSubstr("all_sum"));
}

}  // namespace
}  // namespace orrery::library
