// Files: what is no regular file is never opened to read, what is written replaces a file whole.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace orrery {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FilesInAFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "orrery-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }

  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

  std::string refusal(const std::string& name, size_t most = kMostText) const {
    const Result<std::string> read = read_file(path(name), most);
    return read.ok() ? "" : read.error().message;
  }

  fs::path folder_;
};

TEST_F(FilesInAFolder, WhatIsNoRegularFileIsRefusedBeforeItIsOpened) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  fs::create_symlink("pipe", path("link"));
  EXPECT_THAT(refusal("pipe"), HasSubstr("got a pipe, need a regular file"));
  EXPECT_THAT(refusal("link"), HasSubstr("got a pipe, need a regular file"));
  EXPECT_THAT(refusal("."), HasSubstr("got a folder, need a regular file"));
  fs::create_symlink("/dev/zero", path("zero"));
  EXPECT_THAT(refusal("zero"), HasSubstr("got a device, need a regular file"));
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path("socket").copy(address.sun_path, sizeof(address.sun_path) - 1);
  ASSERT_EQ(bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_THAT(refusal("socket"), HasSubstr("got a socket, need a regular file"));
  close(socket);
}

TEST_F(FilesInAFolder, ALinkIsReadIfItEndsInARegularFile) {
  put("blob", "text");
  fs::create_symlink("blob", path("config.json"));
  EXPECT_EQ(*read_file(path("config.json")), "text");
  fs::create_symlink("nothing", path("lost"));
  EXPECT_THAT(refusal("lost"), HasSubstr("got no such file, need a file that can be read"));
  fs::create_symlink("round", path("round"));
  EXPECT_FALSE(read_file(path("round")).ok());
}

TEST_F(FilesInAFolder, OfTooManyBytesNoneIsRead) {
  put("big", std::string(100, 'x'));
  EXPECT_TRUE(read_file(path("big"), 100).ok());
  EXPECT_THAT(refusal("big", 99), HasSubstr("got 100 bytes, need at most 99"));
  fs::resize_file(path("big"), uintmax_t{8} << 30);  // with a hole that takes no room
  EXPECT_THAT(refusal("big"), HasSubstr("need at most 4194304"));
  fs::create_symlink("/proc/self/status", path("system"));  // whose size is 0
  EXPECT_THAT(refusal("system", 10), HasSubstr("got over 10 bytes"));
}

TEST_F(FilesInAFolder, AReplacedOneKeepsItsMode) {
  put("a", "old");
  fs::permissions(path("a"), fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_file(path("a"), "new").ok());
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(*read_file(path("a")), "new");
}

TEST_F(FilesInAFolder, AReadOnlyOneStays) {
  put("a", "old");
  fs::permissions(path("a"), fs::perms::owner_read);
  EXPECT_THAT(write_file(path("a"), "new").error().message, HasSubstr("read only"));
  EXPECT_EQ(*read_file(path("a")), "old");
}

TEST_F(FilesInAFolder, ALinkIsFollowedAndADeviceStaysADevice) {
  put("target", "old");
  fs::create_symlink("target", path("link"));
  ASSERT_TRUE(write_file(path("link"), "new").ok());
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(*read_file(path("target")), "new");
  fs::create_symlink("/dev/null", path("null"));
  EXPECT_TRUE(write_file(path("null"), "gone").ok());
  EXPECT_TRUE(fs::is_character_file(path("null")));
}

// What lies beside the target under a name like its own is somebody else's.
TEST_F(FilesInAFolder, NoOtherFileIsTouched) {
  put("theirs", "theirs");
  fs::create_symlink("theirs", path("page.html.part"));
  put("table.csv.part", "mine");
  ASSERT_TRUE(write_file(path("page.html"), "page").ok());
  ASSERT_TRUE(write_file(path("table.csv"), "table").ok());
  EXPECT_EQ(*read_file(path("theirs")), "theirs");
  EXPECT_EQ(*read_file(path("table.csv.part")), "mine");
  EXPECT_TRUE(fs::is_symlink(path("page.html.part")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 5) << "nothing is left behind";
}

TEST_F(FilesInAFolder, WhatCannotBeWrittenLeavesNothing) {
  EXPECT_THAT(write_file(path("none/a"), "x").error().message,
              HasSubstr("need a place that can be written"));
  EXPECT_THAT(write_file(folder_.string(), "x").error().message,
              HasSubstr("need a place that can be written"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace orrery
