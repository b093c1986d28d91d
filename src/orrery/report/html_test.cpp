// Pages: self-contained, and no text of the data ends the script.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/html.h"

#include <gtest/gtest.h>

namespace orrery::report {
namespace {

size_t count(const std::string& text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Html, DataCannotEndTheScript) {
  const std::string plain = page_around(R"({"schema": "x"})");
  const std::string page = page_around(R"({"model": "</script><script>alert(1)</script>"})");
  EXPECT_EQ(count(page, "</script>"), count(plain, "</script>"));
  EXPECT_NE(page.find(R"(\u003c/script>\u003cscript>alert(1))"), std::string::npos);
}

TEST(Html, MarksInTheDataAreLeftAlone) {
  EXPECT_NE(page_around(R"({"model": "@@STYLE@@"})").find(R"("@@STYLE@@")"), std::string::npos);
}

TEST(Html, NeedsNoNetwork) {
  const std::string page = page_around("{}");
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
  EXPECT_EQ(page.find("src=\"http"), std::string::npos);
  EXPECT_EQ(page.find("href=\"http"), std::string::npos);
}

}  // namespace
}  // namespace orrery::report
