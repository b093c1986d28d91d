// Sweeps as values, CSV and text.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/sweep.h"

#include <gtest/gtest.h>

namespace orrery::report {
namespace {

/// Two machines, three batches, two contexts; the second machine's first point failed.
Sweep sweep() {
  Sweep sweep;
  sweep.subject = "m";
  sweep.settings = {{.machine = "one",
                     .machine_title = "One",
                     .library = "l",
                     .library_version = "L",
                     .clock = "steady"},
                    {.machine = "two",
                     .machine_title = "Two",
                     .library = "l",
                     .library_version = "L",
                     .clock = "steady"}};
  sweep.axes = {{"batch", {"1", "2", "3"}}, {"kind", {"a,b", "c"}}};
  for (int i = 0; i < 12; ++i) {
    SweepPoint point;
    point.time = Duration::picoseconds(int64_t{1000000} * (i + 1));
    point.low = point.time;
    point.high = point.time;
    sweep.points.push_back(point);
  }
  sweep.points[6].error = "no \"kernel\"";
  return sweep;
}

TEST(Sweep, TheLastAxisIsFastestAndMachinesSlowest) {
  const Sweep grid = sweep();
  EXPECT_EQ(grid.points_per_machine(), 6U);
  EXPECT_EQ(grid.value(0, 0) + grid.value(0, 1), "1a,b");
  EXPECT_EQ(grid.value(1, 0) + grid.value(1, 1), "1c");
  EXPECT_EQ(grid.value(2, 0) + grid.value(2, 1), "2a,b");
  EXPECT_EQ(grid.value(11, 0) + grid.value(11, 1), "3c");
}

TEST(Sweep, CurvesRunAlongTheLongestAxisOfNumbers) {
  Sweep grid = sweep();
  EXPECT_EQ(curve_axis(grid), 0U);
  grid.axes[0].values = {"x", "y", "z"};
  EXPECT_EQ(curve_axis(grid), 2U);  // none
}

TEST(Sweep, CsvQuotesWhatItHasToAndKeepsItsColumns) {
  const std::string csv = to_csv(sweep());
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "machine,batch,kind,time_us,low_us,high_us,bound,tokens_per_second,memory_bytes,fits,"
            "error");
  EXPECT_NE(csv.find("one,1,\"a,b\",1,1,1,latency,0,0,1,\n"), std::string::npos);
  EXPECT_NE(csv.find("two,1,\"a,b\",,,,,,,,\"no \"\"kernel\"\"\"\n"), std::string::npos);
}

TEST(Sweep, TextSaysHowManyPointsWereNotPredicted) {
  EXPECT_NE(to_text(sweep()).find("not predicted, 1 point: no \"kernel\"\n"), std::string::npos);
}

TEST(Sweep, TextHasEachWarningOnce) {
  Sweep grid = sweep();
  for (SweepPoint& point : grid.points) {
    point.warnings = {"all"};
  }
  grid.points[2].warnings.emplace_back("one");
  const std::string text = to_text(grid);
  EXPECT_NE(text.find("warning: all\nwarning: one (1 of 12 points)\n"), std::string::npos);
  EXPECT_NE(to_json(grid).find("\"one\""), std::string::npos);
}

TEST(Sweep, FitsIfOnePredictedPointDoes) {
  Sweep grid = sweep();
  for (SweepPoint& point : grid.points) {
    point.fits = false;
  }
  EXPECT_FALSE(any_fits(grid));
  grid.points[6].fits = true;  // which was not predicted
  EXPECT_FALSE(any_fits(grid));
  grid.points[7].fits = true;
  EXPECT_TRUE(any_fits(grid));
}

TEST(Sweep, LongTablesShowEveryNthRowAndSaySo) {
  Sweep grid = sweep();
  grid.axes = {{"batch", {}}};
  for (int i = 1; i <= 100; ++i) {
    grid.axes[0].values.push_back(std::to_string(i));
  }
  grid.points.assign(200, grid.points[0]);
  EXPECT_NE(to_text(grid).find("one of 3 rows, of 100"), std::string::npos);
}

}  // namespace
}  // namespace orrery::report
