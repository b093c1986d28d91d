// Tests of the fits: synthetic samples with noise give back what they were made of.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "orrery/plan/clock.h"

namespace orrery::calibrate {
namespace {

/// Factors around 1.
class Noise {
 public:
  explicit Noise(double relative) : spread_(0, relative) {}

  double operator()() { return 1 + spread_(random_); }

 private:
  std::mt19937 random_{1};
  std::normal_distribution<double> spread_;
};

TEST(Fit, MedianOfEvenCountsIsTheMiddlesMean) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Fit, MedianIgnoresAnOutlier) {
  EXPECT_EQ(median({1, 1, 1, 1, 900}), 1);
}

TEST(Fit, StandardDeviationIsOfASample) {
  EXPECT_NEAR(standard_deviation({2, 4, 4, 4, 5, 5, 7, 9}), std::sqrt(32.0 / 7), 1e-12);
}

TEST(Fit, SaturationFindsPeakAndLatency) {
  constexpr double kPeak = 4.6e12, kKnee = 12e3, kSharpness = 2.5;
  Noise noise(0.01);
  std::vector<Point> points;
  for (double x = 1 << 11; x <= 1 << 18; x *= 2) {
    const double all =
        std::pow(std::pow(x, kSharpness) + std::pow(kKnee, kSharpness), 1 / kSharpness);
    points.push_back({x, kPeak * x / all * noise()});
  }
  const Saturation fit = saturation(points);
  EXPECT_NEAR(fit.peak / kPeak, 1, 0.02);
  EXPECT_NEAR(fit.knee / kKnee, 1, 0.05);
}

TEST(Fit, SaturationOfALineIsItsLatencyWhereNothingSaturates) {
  std::vector<Point> points;
  for (double x = 1; x <= 8; x *= 2) points.push_back({x, 3 * x});
  const Saturation fit = saturation(points);
  EXPECT_NEAR(fit.peak / fit.knee, 3, 0.2);
}

TEST(Fit, KneeFindsCapacityAndBothLevels) {
  machine::L2 l2;
  l2.effective = Bytes(41e6);
  Noise noise(0.02);
  std::vector<Point> points;
  for (double x = 8e6; x < 300e6; x *= 1.12) {
    const double hits = machine::resident_share(x, l2);
    points.push_back({x, (hits / 7.7e12 + (1 - hits) / 4.5e12) * noise()});
  }
  const Knee fit = knee(points);
  EXPECT_NEAR(fit.capacity / 41e6, 1, 0.03);
  EXPECT_NEAR(fit.hit * 7.7e12, 1, 0.02);
  EXPECT_NEAR(fit.miss * 4.5e12, 1, 0.02);
}

TEST(Fit, StairIsTheMedianOfItsTread) {
  const std::vector<Point> points = {{1, 290}, {2, 291}, {4, 289}, {100, 690}};
  EXPECT_EQ(stair(points, 0, 10), 290);
  EXPECT_EQ(stair(points, 50, 200), 690);
  EXPECT_EQ(stair(points, 200, 300), 0);
}

/// Rates of the formula of cost/memory.h.
Mixtures mixtures(double read, double write, double mix) {
  const auto rate = [&](double share) {
    return 1 / (share / read + (1 - share) / write * (1 - mix * share));
  };
  return {.read = read, .write = write, .copy = rate(1.0 / 2), .add = rate(2.0 / 3)};
}

TEST(Fit, WritesThatCostLessAmongReadsKeepTheirOwnRate) {
  const Writes fit = fit_writes(mixtures(4450, 3312, 0.298));
  EXPECT_NEAR(fit.rate, 3312, 1e-6);
  EXPECT_NEAR(fit.mix, 0.298, 1e-9);
}

TEST(Fit, WritesThatCostMoreAmongReadsGiveTheMixtures) {
  const Mixtures rates{.read = 4535, .write = 4600, .copy = 4170, .add = 4300};
  const Writes fit = fit_writes(rates);
  EXPECT_LT(fit.rate, 4000);
  const Mixtures again = mixtures(rates.read, fit.rate, fit.mix);
  EXPECT_NEAR(again.copy, rates.copy, 1e-6);
  EXPECT_NEAR(again.add, rates.add, 1e-6);
}

TEST(Fit, WritesNeverHaveAMixBelowZero) {
  const Writes fit = fit_writes({.read = 4535, .write = 4600, .copy = 4170, .add = 4200});
  EXPECT_EQ(fit.mix, 0);
  EXPECT_GT(fit.rate, 0);
}

/// Clocks of plan/clock.h over the fastest.
double clock_of(const ClockCurve& curve, double power, double share) {
  machine::Clock clock;
  clock.max = Hertz(1e9);
  clock.base_power = curve.base;
  clock.exponent = curve.exponent;
  return plan::clock_hertz(clock, power, share, 0) / 1e9;
}

TEST(Fit, ClockFindsThePowersOfFullLoad) {
  const ClockCurve curve{.base = 0.116, .exponent = 8.17};
  Noise noise(0.002);
  std::vector<Load> loads;
  for (const double share : {1.0, 0.99, 1.0, 0.8, 0.5}) {
    loads.push_back(
        {share, clock_of(curve, 4.9, share) * noise(), clock_of(curve, 17.3, share) * noise()});
  }
  const ClockFit fit = fit_clock(loads, curve);
  // A thousandth of the clock is eight of the power.
  EXPECT_NEAR(fit.burst / 4.9, 1, 0.04);
  EXPECT_NEAR(fit.steady / 17.3, 1, 0.04);
  const Load hot{1, clock_of(curve, 4.9 * 1.25, 1), clock_of(curve, 17.3 * 1.25, 1)};
  EXPECT_NEAR(energy(hot, fit), 1.25, 0.05);
}

TEST(Fit, ClockThatDoesNotFallHasNoPowers) {
  const ClockFit fit = fit_clock({{1, 1, 1}, {0.9, 1, 1}}, {.base = 0.1, .exponent = 3});
  EXPECT_EQ(fit.burst, 0);
  EXPECT_EQ(fit.steady, 0);
}

TEST(Fit, DropIsFoundInNoise) {
  Noise noise(0.004);
  std::vector<Point> points;
  for (double t = 0; t < 0.15; t += 0.001) {
    points.push_back({t, (t < 0.043 ? 1.65e9 : 1.42e9) * noise()});
  }
  EXPECT_NEAR(drop_time(points), 0.043, 0.002);
}

TEST(Fit, LevelClocksHaveNoDrop) {
  Noise noise(0.002);
  std::vector<Point> points;
  for (double t = 0; t < 0.15; t += 0.001) points.push_back({t, 1.9e9 * noise()});
  EXPECT_EQ(drop_time(points), 0);
}

}  // namespace
}  // namespace orrery::calibrate
