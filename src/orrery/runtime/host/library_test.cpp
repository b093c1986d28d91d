// Compiling and calling a few lines of C++; what a broken text or a missing folder gives.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/host/library.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace orrery::runtime::host {
namespace {

namespace fs = std::filesystem;

// A cache of this test's own, removed afterwards.
class HostLibrary : public testing::Test {
 protected:
  void SetUp() override {
    const auto compiler = find_compiler();
    if (!compiler.ok()) GTEST_SKIP() << compiler.error().message;
    toolchain_.compiler = *compiler;
    toolchain_.cache = fs::temp_directory_path() / ("orrery_host_" + std::to_string(getpid()));
  }

  void TearDown() override {
    if (!toolchain_.cache.empty()) fs::remove_all(toolchain_.cache);
  }

  static emit::Source source(std::string code) {
    emit::Source source;
    source.code = std::move(code);
    source.entry = "twice";
    return source;
  }

  size_t files() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(toolchain_.cache)) ++count;
    return count;
  }

  Toolchain toolchain_;
};

constexpr const char* kTwice =
    "extern \"C\" void twice_packed(void** a) { *static_cast<int*>(a[0]) *= 2; }\n";

TEST_F(HostLibrary, CompilesAndCallsAndCaches) {
  for (int round = 1; round <= 2; ++round) {
    const auto library = Library::build(source(kTwice), toolchain_);
    ASSERT_TRUE(library.ok()) << library.error().message;
    int value = 21;
    std::vector<void*> arguments = {&value};
    library->call(arguments);
    EXPECT_EQ(value, 42);
    EXPECT_EQ(files(), 1U);  // one library, no leftovers; the second round finds it
  }
}

TEST_F(HostLibrary, ReportsTheCompilersMessages) {
  const auto library = Library::build(source("int main( {"), toolchain_);
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.error().code, ErrorCode::IoError);
  EXPECT_NE(library.error().message.find("error"), std::string::npos);
}

TEST_F(HostLibrary, ReportsAMissingFunction) {
  const auto library = Library::build(source("int x;\n"), toolchain_);
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.error().message.find("need twice_packed"), std::string::npos);
}

}  // namespace
}  // namespace orrery::runtime::host
