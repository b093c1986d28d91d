// Public products: kernels by the tiles that their names tell.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "orrery/cost/estimate.h"
#include "orrery/validate/validate.h"
#include "test/support/tree.h"

namespace orrery::validate {
namespace {

using ::testing::HasSubstr;

Validation of_kernels(const std::vector<std::string>& kernels, bool given) {
  std::string text = "gpu,dtype,batch,m,n,k,layout,latency_us,lib,lib_version,kernel,graph\n";
  for (const std::string& kernel : kernels) {
    text += "mi300x,fp8_block,1,288,5120,8704,,70.4,aiter,1," + kernel + ",0\n";
  }
  const machine::Machine machine = test::machine("mi300x");
  const library::Library library = test::libraries(machine);
  const cost::ClosedForm estimator(machine);
  auto validation = validate_table(
      text,
      "gemm.csv",
      {.library = library, .estimator = estimator, .decoders = {}, .given_kernel = given});
  EXPECT_TRUE(validation.ok()) << validation.error().to_string();
  return *std::move(validation);
}

std::string predicted(const Validation& validation, size_t row) {
  const auto column = validation.table.column("predicted_us");
  EXPECT_TRUE(column);
  return validation.table.rows.at(row).at(*column);
}

// composable_kernel's name (scale block, threads, tile) and a macro tile are one kernel.
TEST(PublicGemm, AGivenKernelIsTheTileOfItsName) {
  const auto rows = of_kernels(
      {"ck:a8w8_blockscale_1x128x128_256x64x64x128_16x16", "MT64x64x128", "MT128x128x128"}, true);
  EXPECT_EQ(rows.predicted, 3);
  EXPECT_EQ(predicted(rows, 0), predicted(rows, 1));
  EXPECT_NE(predicted(rows, 0), predicted(rows, 2));
}

TEST(PublicGemm, ANameWithoutATileIsNoGivenKernel) {
  const auto rows =
      of_kernels({"cktile:a8w8_blockscale_cktile_16x128x256_1x4x1_1", "torch:native", ""}, true);
  EXPECT_EQ(rows.predicted, 0);
}

TEST(PublicGemm, NamesAreNotReadUnlessGiven) {
  const auto rows = of_kernels({"MT16x32x128", "MT256x256x128"}, false);
  EXPECT_EQ(predicted(rows, 0), predicted(rows, 1));
}

}  // namespace
}  // namespace orrery::validate
