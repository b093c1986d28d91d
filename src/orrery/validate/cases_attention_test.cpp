// Attention: predicted times of latent attention, sliding windows and packed lengths against a
// table measured on an H200.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "orrery/cost/estimate.h"
#include "orrery/validate/validate.h"
#include "test/support/tree.h"

namespace orrery::validate {
namespace {

// 47 rows; 36 of them (all but memory-efficient attention) were predicted before they were
// measured: attention_mla_window_predicted.csv.
TEST(AttentionTable, LatentHeadsWindowsAndPackedLengthsAreWithinATenth) {
  const machine::Machine machine = test::machine("h200-sxm");
  const library::Library library = test::libraries(machine);
  const cost::ClosedForm estimator(machine);
  const auto validation =
      validate_table(test::read("test/validation/attention_mla_window.csv"),
                     "attention_mla_window.csv",
                     {.library = library, .estimator = estimator, .decoders = {}});
  ASSERT_TRUE(validation.ok()) << validation.error().to_string();
  EXPECT_EQ(validation->predicted, 47U);
  const auto all = scores(validation->compared);
  ASSERT_GT(all.size(), 4U);
  for (const Score& score : all) {
    EXPECT_LT(score.mean, 0.1) << score.family;
  }
}

}  // namespace
}  // namespace orrery::validate
