// Shipped models: their counts against an independent count.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "orrery/frontend/huggingface.h"
#include "orrery/frontend/model_size.h"
#include "orrery/session/catalog.h"
#include "test/support/tree.h"

namespace orrery::session {
namespace {

// test/validation/model_counts.csv: model, parameters, bytes of keys and values a token, source.
TEST(Models, CountsAreThoseOfAnIndependentCount) {
  const Catalog catalog({.home = ORRERY_SOURCE_DIR});
  std::istringstream table(test::read("test/validation/model_counts.csv"));
  std::string line;
  std::getline(table, line);
  int rows = 0;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string name;
    std::string parameters;
    std::string cache;
    std::getline(fields, name, ',');
    std::getline(fields, parameters, ',');
    std::getline(fields, cache, ',');
    const auto model = catalog.model(name);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    const auto size = frontend::size_of(*model);
    ASSERT_TRUE(size.ok()) << size.error().to_string();
    EXPECT_NEAR(size->parameters / std::stod(parameters), 1, 0.001) << name;
    EXPECT_EQ(size->cache_per_token.value(), std::stod(cache)) << name;
    ++rows;
  }
  EXPECT_GE(rows, 25);
}

/// One row of test/validation/family_counts.txt: parameters|source|config.json.
struct FamilyCount {
  double parameters = 0;
  std::string config;
};

std::vector<FamilyCount> family_counts() {
  std::vector<FamilyCount> rows;
  std::istringstream table(test::read("test/validation/family_counts.txt"));
  for (std::string line; std::getline(table, line);) {
    const size_t source = line.find('|');
    const size_t config = line.find('|', source + 1);
    if (line.starts_with('#') || config == std::string::npos) {
      continue;
    }
    rows.push_back({std::stod(line.substr(0, source)), line.substr(config + 1)});
  }
  return rows;
}

// Class defaults and published sizes of each family, against PyTorch's own count.
TEST(Models, FamiliesHaveAsManyParametersAsTheirClasses) {
  const std::vector<FamilyCount> rows = family_counts();
  EXPECT_GE(rows.size(), 70U);
  for (const FamilyCount& row : rows) {
    const auto model = frontend::read_huggingface(row.config, "test");
    ASSERT_TRUE(model.ok()) << model.error().to_string() << row.config;
    const auto size = frontend::size_of(*model);
    ASSERT_TRUE(size.ok()) << size.error().to_string() << row.config;
    EXPECT_NEAR((size->parameters + size->towers) / row.parameters, 1, 0.002) << row.config;
  }
}

}  // namespace
}  // namespace orrery::session
