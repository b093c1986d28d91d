// Libraries of a prediction as text.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/setting_text.h"

#include <gtest/gtest.h>

namespace orrery::report {
namespace {

Setting with(std::string versions) {
  Setting setting;
  setting.library_version = std::move(versions);
  return setting;
}

TEST(SettingText, NamesEachLibraryOnce) {
  EXPECT_EQ(libraries_text(with("cuBLAS 13, vLLM 0.24, cuBLAS 13")), "cuBLAS 13, vLLM 0.24");
}

TEST(SettingText, CountsWhatItDoesNotShow) {
  EXPECT_EQ(libraries_text(with("a, b, c, d, e, f, g, h")), "a, b, c, d, e, f and 2 more");
}

}  // namespace
}  // namespace orrery::report
