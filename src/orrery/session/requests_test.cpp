// Requests: the short form, mistakes of files.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/requests.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "orrery/base/file.h"

namespace orrery::session {
namespace {

TEST(Requests, CountTokensAndCache) {
  const auto requests = parse_requests("1x2048@8192,3x1@512,7");
  ASSERT_TRUE(requests.ok()) << requests.error().to_string();
  ASSERT_EQ(requests->size(), 5U);
  EXPECT_EQ((*requests)[0], (passes::Request{.tokens = 2048, .cached = 8192}));
  EXPECT_EQ((*requests)[3], (passes::Request{.tokens = 1, .cached = 512}));
  EXPECT_EQ((*requests)[4], (passes::Request{.tokens = 7, .cached = 0}));
}

TEST(Requests, RefusesWhatIsNoRequest) {
  for (const char* text : {"",
                           "x",
                           "1x",
                           "0x1",
                           "1x0@5",
                           "2x1@-1",
                           "1x1@",
                           "99999x1",
                           "1,,1",
                           "1x99999999999999999999"}) {
    EXPECT_FALSE(parse_requests(text).ok()) << text;
  }
}

TEST(Requests, WhatIsWrongInAFileNamesItsLine) {
  std::string path = ::testing::TempDir() + "/requests-XXXXXX";
  const int file = mkstemp(path.data());
  ASSERT_GE(file, 0);
  close(file);
  ASSERT_TRUE(write_file(path, "chunk,context\n1,2\n\nabc,5\n").ok());
  const auto requests = read_requests(path);
  ASSERT_FALSE(requests.ok());
  EXPECT_EQ(requests.error().message,
            "[validate.fields] chunk: got 'abc', need 1 to 67108864 (" + path + ":4)");
  ASSERT_TRUE(write_file(path, "chunk,contxt\n1,2\n").ok());
  EXPECT_EQ(
      read_requests(path).error().message,
      "[session.requests] columns: got chunk, contxt, need chunk and context (" + path + ":1)");
  unlink(path.c_str());
}

}  // namespace
}  // namespace orrery::session
