// All-reduces of serving engines: which way for which size.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

using ::testing::HasSubstr;

std::string kernel(const std::string& backend, int64_t bytes, int64_t gpus) {
  static const std::vector<Library> kParts = {
      *Library::parse(test::read("libraries/peer-all-reduce.toml"), "peer"),
      *Library::parse(test::read("libraries/nccl-2.toml"), "nccl")};
  static const machine::Machine kMachine = test::machine("h200-sxm");
  CollectiveCall call{.op = "all_reduce", .bytes = bytes, .gpus = gpus};
  call.backend = backend;
  const auto all = Library::join(kParts).candidates(call, kMachine.chip);
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return all->front().front().kernel;
}

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;

TEST(PeerAllReduce, TakesTwoShotsForLargerMessagesOfMoreGpus) {
  EXPECT_THAT(kernel("sglang", 4 * kMiB, 2), HasSubstr("one shot"));
  EXPECT_THAT(kernel("sglang", 128 * kKiB, 8), HasSubstr("one shot"));
  EXPECT_THAT(kernel("sglang", 256 * kKiB, 8), HasSubstr("two shots"));
}

TEST(PeerAllReduce, LeavesLargeMessagesToTheSwitchOrNccl) {
  EXPECT_THAT(kernel("vllm", 16 * kMiB, 8), HasSubstr("multicast"));
  EXPECT_THAT(kernel("sglang", 64 * kMiB, 8), HasSubstr("ncclDevKernel"));
  EXPECT_THAT(kernel("trtllm", 16 * kMiB, 8), HasSubstr("ncclDevKernel"));
}

}  // namespace
}  // namespace orrery::library
