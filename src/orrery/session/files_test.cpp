// Folders: pipes are no files of one.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace orrery::session {
namespace {

namespace fs = std::filesystem;

class FilesInAFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "orrery-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

TEST_F(FilesInAFolder, APipeIsNoFileOfAFolder) {
  ASSERT_EQ(mkfifo(path("x.toml").c_str(), 0600), 0);
  ASSERT_TRUE(write_file(path("y.toml"), "").ok());
  EXPECT_THAT(files_in(folder_.string(), ".toml"), ::testing::ElementsAre(path("y.toml")));
}

}  // namespace
}  // namespace orrery::session
