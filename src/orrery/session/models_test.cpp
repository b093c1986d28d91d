// Shipped models: their counts against an independent count.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>
#include <string>

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

}  // namespace
}  // namespace orrery::session
