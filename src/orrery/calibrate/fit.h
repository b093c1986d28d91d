// From samples to numbers: plain functions that need no GPU.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "orrery/machine/machine.h"

namespace orrery::calibrate {

/// Of an even number of values the mean of the middle two. There must be one.
double median(std::vector<double> values);

/// One point of a curve.
struct Point {
  double x = 0;
  double y = 0;
};

/// A rate over bytes in flight: peak * x / (x^sharpness + knee^sharpness)^(1 / sharpness). Far
/// below the knee it is a latency's worth, x / (knee / peak). Errors are weighed relative to y.
struct Saturation {
  double peak = 0;
  double knee = 0;  // bytes
  double sharpness = 0;
};

Saturation saturation(const std::vector<Point>& points);

/// Reads over a growing set: x bytes, y seconds a byte. With this capacity machine::resident_share
/// and two levels (a hit's time and a miss's) explain them best.
struct Knee {
  double capacity = 0;
  double hit = 0;
  double miss = 0;
};

Knee knee(const std::vector<Point>& points);

/// Rates of DRAM in bytes a second: reads alone, writes alone, one read for a write, two for one.
struct Mixtures {
  double read = 0;
  double write = 0;
  double copy = 0;
  double add = 0;
};

/// dram.write and dram.mix (cost/memory.h). Where writes among reads cost less than alone, the rate
/// is that of writes alone and mix the share saved. Where they cost more (the bus turns round), no
/// share below 1 can say so: rate and mix then are those that give copy and add.
struct Writes {
  double rate = 0;
  double mix = 0;
};

Writes fit_writes(const Mixtures& rates);

/// The median y of the stair whose x lie between the two.
double stair(const std::vector<Point>& points, double low, double high);

/// One state of load: share of time that the matrix pipes were busy, and clocks over the fastest.
struct Load {
  double share = 0;
  double burst = 0;
  double steady = 0;
};

/// The powers of plan/clock.h on a curve of given base and exponent, which the loads that are busy
/// nearly all the time explain best. Zeros: no such load lowers the clock.
struct ClockCurve {
  double base = 0;
  double exponent = 0;
};

struct ClockFit {
  ClockCurve curve;
  double burst = 0;
  double steady = 0;
};

ClockFit fit_clock(const std::vector<Load>& loads, const ClockCurve& curve);

/// The energy of products that leave the clock at this load, relative to those of the fit: mean of
/// both states.
double energy(const Load& load, const ClockFit& fit);

/// Of at least two values.
double standard_deviation(const std::vector<double>& values);

/// When a clock falls from its first to its last level: x seconds, y clocks. 0: it does not fall.
double drop_time(const std::vector<Point>& points);

}  // namespace orrery::calibrate
