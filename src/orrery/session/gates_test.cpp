// Whole models, mixed steps and layers on two GPUs against measurements: the errors that are
// promised.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "orrery/session/session.h"
#include "test/support/tree.h"

namespace orrery::session {
namespace {

using Rows = std::vector<validate::Compared>;

Rows compared(const std::string& table) {
  const Session session({.home = ORRERY_SOURCE_DIR});
  const std::string path = std::string(ORRERY_SOURCE_DIR) + "/test/validation/" + table;
  const auto files = session.validate({.files = {path}, .machine = "h200"});
  EXPECT_TRUE(files.ok()) << files.error().to_string();
  return files.ok() ? files->front().validation.compared : Rows{};
}

double error(const validate::Compared& row) {
  return std::abs(row.predicted.microseconds() / row.measured.microseconds() - 1);
}

struct Errors {
  int rows = 0;
  double mean = 0;
  double worst = 0;
};

/// Of the families whose names begin with `family`.
Errors errors(const Rows& rows, const std::string& family) {
  Errors all;
  for (const validate::Compared& row : rows) {
    if (row.family.starts_with(family)) {
      ++all.rows;
      all.mean += error(row);
      all.worst = std::max(all.worst, error(row));
    }
  }
  all.mean /= std::max(1, all.rows);
  return all;
}

TEST(Gates, DecodersAreWithinThreePercentInAGraphAndTwentyEager) {
  const Rows rows = compared("models.csv");
  const Errors graph = errors(rows, "eager_graph");
  EXPECT_EQ(graph.rows, 47);
  EXPECT_LE(graph.mean, 0.03);
  EXPECT_LE(graph.worst, 0.08);
  const Errors inductor = errors(rows, "inductor_default");
  EXPECT_EQ(inductor.rows, 8);
  EXPECT_LE(inductor.mean, 0.06);
  const Errors eager = errors(rows, "eager ");
  EXPECT_EQ(eager.rows, 39);
  EXPECT_LE(eager.mean, 0.20);
}

/// Fields of a line of models.csv that say which case it is, and its mode.
struct Case {
  std::string key;
  std::string mode;
};

std::vector<Case> cases() {
  std::istringstream table(test::read("test/validation/models.csv"));
  std::string line;
  std::getline(table, line);
  std::vector<Case> all;
  while (std::getline(table, line)) {
    std::istringstream in(line);
    std::vector<std::string> fields;
    for (std::string field; std::getline(in, field, ',');) {
      fields.push_back(field);
    }
    const std::string key = fields[0] + fields[1] + fields[3] + fields[4] + fields[5] + fields[6];
    all.push_back({key, fields[2]});
  }
  return all;
}

TEST(Gates, WhatTorchInductorGainsIsWithinTwelveHundredths) {
  const std::vector<Case> all = cases();
  std::map<std::string, const validate::Compared*> graphs;
  const Rows rows = compared("models.csv");
  for (const validate::Compared& row : rows) {
    if (all.at(row.row).mode == "eager_graph") {
      graphs[all.at(row.row).key] = &row;
    }
  }
  int ratios = 0;
  for (const validate::Compared& row : rows) {
    const auto graph = graphs.find(all.at(row.row).key);
    if (all.at(row.row).mode != "inductor_default" || graph == graphs.end()) {
      continue;
    }
    const double measured = graph->second->measured.microseconds() / row.measured.microseconds();
    const double predicted = graph->second->predicted.microseconds() / row.predicted.microseconds();
    EXPECT_NEAR(predicted, measured, 0.12) << all.at(row.row).key;
    ++ratios;
  }
  EXPECT_EQ(ratios, 8);
}

TEST(Gates, LayersOnTwoGpusAreWithinSixPercent) {
  const Errors layers = errors(compared("tp2_layers.csv"), "tp");
  EXPECT_EQ(layers.rows, 20);
  EXPECT_LE(layers.mean, 0.06);
}

TEST(Gates, MixedStepsAreWithinTenPercent) {
  const Rows rows = compared("mixed.csv");
  Errors steps;
  for (const validate::Compared& row : rows) {
    if (row.family.find("attention") == std::string::npos) {
      ++steps.rows;
      steps.mean += error(row);
    }
  }
  ASSERT_EQ(steps.rows, 37);
  EXPECT_LE(steps.mean / steps.rows, 0.10);
}

}  // namespace
}  // namespace orrery::session
