// The memo of calls: asks the estimator once, tells calls and conditions apart.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/plan/call_times.h"
#include "test/support/tree.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery::plan {
namespace {

/// Every kernel takes as many microseconds as it was asked for.
class Counting final : public Estimator {
 public:
  Estimate time(const kernel::Profile& /*profile*/,
                const Conditions& /*conditions*/) const override {
    ++asked;
    Estimate estimate;
    estimate.time = estimate.low = estimate.high = Duration::from(Seconds(1e-6 * asked));
    return estimate;
  }

  const machine::Machine& machine() const override { return machine_; }

  mutable int asked = 0;

 private:
  machine::Machine machine_ = test::machine("h200-sxm");
};

library::Call all_reduce(int64_t bytes) {
  return library::CollectiveCall{.op = "all_reduce", .bytes = bytes};
}

TEST(CallTimes, AsksOnceAndRemembers) {
  const auto library = *library::Library::parse(test::read("libraries/nccl-2.toml"), "nccl-2.toml");
  const Counting estimator;
  CallTimes times(library, estimator);
  const auto& first = times.time(all_reduce(1024), {});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(&times.time(all_reduce(1024), {}), &first);
  EXPECT_EQ(estimator.asked, 1);
  times.time(all_reduce(2048), {});
  times.time(all_reduce(1024), {.weights = CacheState::Warm});
  times.time(all_reduce(1024), {.follows_other = true});
  times.time(library::CollectiveCall{.op = "broadcast", .bytes = 1024}, {});
  EXPECT_EQ(estimator.asked, 5);
  EXPECT_EQ(times.size(), 5U);
  EXPECT_EQ(first->once.time, Duration::from(Seconds(1e-6)));
}

TEST(CallTimes, RemembersErrorsToo) {
  const auto library = *library::Library::parse(test::read("libraries/nccl-2.toml"), "nccl-2.toml");
  const Counting estimator;
  CallTimes times(library, estimator);
  const library::Call gemm = library::GemmCall{.m = 1, .n = 1, .k = 1};
  EXPECT_FALSE(times.time(gemm, {}).ok());
  EXPECT_EQ(&times.time(gemm, {}), &times.time(gemm, {}));
}

}  // namespace
}  // namespace orrery::plan
