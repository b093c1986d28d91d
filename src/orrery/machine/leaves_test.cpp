// The two readers of number files agree: on every file of the tree, and on what becomes of them
// when a byte changes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/leaves.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>

namespace orrery::machine {
namespace {

std::vector<std::string> number_files() {
  std::set<std::filesystem::path> paths;  // in an order that is the same everywhere
  for (const char* folder : {"machines", "libraries"}) {
    const auto place = std::filesystem::path(ORRERY_SOURCE_DIR) / folder;
    for (const auto& entry : std::filesystem::directory_iterator(place)) {
      if (entry.path().extension() == ".toml") {
        paths.insert(entry.path());
      }
    }
  }
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  return texts;
}

/// What read_plain takes, read_toml reads the same.
::testing::AssertionResult agree(const std::string& text) {
  const auto plain = read_plain(text);
  if (!plain) {
    return ::testing::AssertionSuccess();
  }
  const auto full = read_toml(text, "test.toml");
  if (!full.ok()) {
    return ::testing::AssertionFailure() << full.error().to_string();
  }
  return *plain == *full ? ::testing::AssertionSuccess()
                         : ::testing::AssertionFailure() << "other leaves of:\n"
                                                         << text;
}

TEST(Leaves, EveryFileOfTheTreeIsPlain) {
  const auto texts = number_files();
  ASSERT_GT(texts.size(), 50U);
  for (const std::string& text : texts) {
    const auto plain = read_plain(text);
    ASSERT_TRUE(plain.has_value()) << text.substr(0, 200);
    EXPECT_GT(plain->size(), 3U);
    EXPECT_TRUE(agree(text));
  }
}

TEST(Leaves, ReadersAgreeOnChangedFiles) {
  constexpr std::string_view kBytes = "\"[]{}=,.#\n\\ -_+0129eEaT'\t\r\x80";
  std::mt19937 random(1);
  const auto below = [&random](size_t count) { return random() % count; };
  size_t plain = 0;
  for (const std::string& whole : number_files()) {
    for (int i = 0; i < 60; ++i) {
      // A short piece, so that the change is often near what it breaks.
      const size_t first = whole.find('\n', below(whole.size()));
      std::string text = first == std::string::npos ? whole : whole.substr(first + 1, 600);
      text = text.substr(0, text.rfind('\n') + 1);
      if (text.empty()) {
        continue;
      }
      const size_t at = below(text.size());
      const char byte = kBytes[below(kBytes.size())];
      const size_t how = below(4);
      how == 0   ? text.erase(at, 1)
      : how == 1 ? text.insert(at, 1, byte)
      : how == 2 ? text.replace(at, 1, 1, byte)
                 : text.append(text);
      plain += read_plain(text) ? 1 : 0;
      EXPECT_TRUE(agree(text));
    }
  }
  EXPECT_GT(plain, 300U);  // else nothing was compared
}

TEST(Leaves, ReadsThePlainForm) {
  const auto leaves = read_plain(R"(# a comment
id = "x"  # and one more
[a.b]
list = [
    "one", "two",  # of three
    "three" ]
empty = []

n = { value = -1.5e3, unit = "MB", source = "fitted", date = 2026-12-31, note = "" }
)");
  ASSERT_TRUE(leaves.has_value());
  ASSERT_EQ(leaves->size(), 4U);
  EXPECT_EQ((*leaves)[0].content, decltype(Leaf::content)(std::string("x")));
  EXPECT_EQ((*leaves)[1].key, "a.b.list");
  EXPECT_EQ((*leaves)[1].line, 4U);
  EXPECT_EQ(std::get<std::vector<std::string>>((*leaves)[1].content).size(), 3U);
  EXPECT_TRUE(std::get<std::vector<std::string>>((*leaves)[2].content).empty());
  EXPECT_EQ(std::get<Number>((*leaves)[3].content),
            (Number{"a.b.n", -1500, "MB", Source::Fitted, "", "2026-12-31"}));
}

TEST(Leaves, LeavesEverythingElseToTheOtherReader) {
  const std::array texts = {
      R"(a = 'x')",
      R"(a = "\n")",
      R"(a = """x""")",
      R"(a.b = "x")",
      R"("a" = "x")",
      R"(a = "x" b = "y")",
      R"(a = 1)",
      R"(a = ["x", 1])",
      R"(a = ["x" "y"])",
      R"(a = ["x")",
      "a = \"\xC3\xA9\"",
      "a = \"x\"\r\n",
      "a = \"x\"\na = \"y\"\n",
      "[a]\n[a]\n",
      "[[a]]\n",
      "[a.b]\n[a]\nb = \"x\"\n",
      "[a]\nunit = \"x\"\n",
      "[a.value]\nb = \"x\"\n",
      R"(n = {})",
      R"(n = { value = 1, unit = "1", source = "fitted" })",
      R"(n = { value = 1, unit = "1", source = "guess", date = 2026-01-01 })",
      R"(n = { value = 1, unit = "", source = "fitted", date = 2026-01-01 })",
      R"(n = { value = 1, value = 1, unit = "1", source = "fitted", date = 2026-01-01 })",
      R"(n = { value = 01, unit = "1", source = "fitted", date = 2026-01-01 })",
      R"(n = { value = 1., unit = "1", source = "fitted", date = 2026-01-01 })",
      R"(n = { value = 1e999, unit = "1", source = "fitted", date = 2026-01-01 })",
      R"(n = { value = 0x1, unit = "1", source = "fitted", date = 2026-01-01 })",
      R"(n = { value = inf, unit = "1", source = "fitted", date = 2026-01-01 })",
      R"(n = { value = 1, unit = "1", source = "fitted", date = 2026-02-29 })",
      R"(n = { value = 1, unit = "1", source = "fitted", date = 2026-01-01, })",
      R"(n = { value = 1, unit = "1", source = "fitted", date = 2026-01-01T00:00:00 })",
      R"(n = { value = 1, unit = "1", source = "fitted", date = 2026-01-01, why = "x" })",
  };
  for (const char* text : texts) {
    EXPECT_FALSE(read_plain(text).has_value()) << text;
  }
}

// As deep as keys have parts goes the reader, and a table of every prefix would be kept.
TEST(Leaves, RefusesWhatIsDeeperThanAnyNumberFile) {
  const auto key = [](size_t parts) {
    std::string text = "a";
    for (size_t i = 1; i < parts; ++i) {
      text += ".a";
    }
    return text;
  };
  const auto refused = [](const std::string& text, const std::string& line) {
    const auto leaves = read_toml(text, "deep");
    return !read_plain(text) && !leaves.ok() &&
           leaves.error().message.find("need fewer (deep:" + line + ")") != std::string::npos;
  };
  for (const size_t parts : {kMostParts + 1, size_t{50000}}) {
    EXPECT_TRUE(refused(key(parts) + " = 1\n", "1"));
    EXPECT_TRUE(refused("\n[" + key(parts) + "]\n", "2"));
    EXPECT_TRUE(refused("x = { " + key(parts) + " = 1 }\n", "1"));
    EXPECT_TRUE(refused("a = \"\"\"\n\"\"\"\"\n[" + key(parts) + "]\n", "3"));
  }
  EXPECT_TRUE(refused("x = " + std::string(100, '[') + std::string(100, ']') + "\n", "1"));
  EXPECT_TRUE(agree("[" + key(kMostParts - 1) + "]\nb = \"\"\n"));
  EXPECT_TRUE(read_toml(key(kMostParts) + " = \"\"\n", "deep").ok());
  const std::string dots(1000, '.');
  EXPECT_TRUE(read_toml("a = \"" + dots + "\"  # " + dots + "\nb = '" + dots + "[{'\n", "x").ok());
}

// Each key of a section is compared with all before it.
TEST(Leaves, ALongSectionIsNoPlainForm) {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += "a" + std::to_string(i) + " = \"\"\n";
  }
  EXPECT_FALSE(read_plain(text).has_value());
  EXPECT_EQ(read_toml(text, "long")->size(), 50000U);
}

}  // namespace
}  // namespace orrery::machine
