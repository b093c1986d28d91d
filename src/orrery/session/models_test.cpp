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

/// Parameters that a step looks up instead of multiplying: the rows of tables that are not the
/// head's too.
double looked_up(const frontend::Model& model) {
  const frontend::Input& input = model.input;
  const int64_t row = input.width > 0 ? input.width : model.hidden;
  const int64_t table = model.head.tied ? 0 : input.vocabulary * row;
  return static_cast<double>(table + (input.positions + input.types) * row);
}

// A token multiplies every parameter that it meets once, a multiply-add as 2: the usual count (2 N,
// Kaplan et al., arXiv 2001.08361, section 2.1), at a context of 1. Norms multiply nothing here, so
// it is a little less; recurrences add their states.
TEST(Models, ATokenMultipliesEveryParameterItMeets) {
  const Catalog catalog({.home = ORRERY_SOURCE_DIR});
  int models = 0;
  for (const std::string& name : catalog.models()) {
    const auto model = catalog.model(name);
    ASSERT_TRUE(model.ok()) << model.error().to_string();
    if (!model->decodes || !model->encoder.empty()) {
      continue;
    }
    const auto size = frontend::size_of(*model);
    ASSERT_TRUE(size.ok()) << name << size.error().to_string();
    const double expected = 2 * (size->active - looked_up(*model));
    EXPECT_NEAR(size->flops_per_token.value() / expected, 1, 0.02) << name;
    ++models;
  }
  EXPECT_GE(models, 25);
}

}  // namespace
}  // namespace orrery::session
