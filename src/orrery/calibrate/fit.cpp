// Fits: see fit.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "orrery/base/check.h"

namespace orrery::calibrate {
namespace {

/// y = at + slope * x by least squares, each point with its weight, and what is left.
struct Line {
  double at = 0;
  double slope = 0;
  double rest = 0;
};

struct Weighed {
  double x = 0;
  double y = 0;
  double weight = 1;
};

Line line(const std::vector<Weighed>& points) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Weighed& p : points) {
    w += p.weight;
    x += p.weight * p.x;
    y += p.weight * p.y;
    xx += p.weight * p.x * p.x;
    xy += p.weight * p.x * p.y;
  }
  const double spread = w * xx - x * x;
  Line fit;
  fit.slope = spread > 0 ? (w * xy - x * y) / spread : 0;
  fit.at = (y - fit.slope * x) / w;
  for (const Weighed& p : points) {
    const double miss = p.y - fit.at - fit.slope * p.x;
    fit.rest += p.weight * miss * miss;
  }
  return fit;
}

}  // namespace

double median(std::vector<double> values) {
  ORR_CHECK(!values.empty()) << "no values";
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

namespace {

/// The best peak of a curve with this knee and sharpness, and what is left.
double peak_of(const std::vector<Point>& points, Saturation& fit) {
  double one = 0, two = 0;
  const auto shape = [&](double x) {
    return x / std::pow(std::pow(x, fit.sharpness) + std::pow(fit.knee, fit.sharpness),
                        1 / fit.sharpness);
  };
  for (const Point& p : points) {
    const double g = shape(p.x) / p.y;
    one += g;
    two += g * g;
  }
  fit.peak = one / two;
  double rest = 0;
  for (const Point& p : points) {
    const double miss = fit.peak * shape(p.x) / p.y - 1;
    rest += miss * miss;
  }
  return rest;
}

}  // namespace

Saturation saturation(const std::vector<Point>& points) {
  ORR_CHECK(!points.empty()) << "no points";
  double low = points.front().x, high = low;
  for (const Point& p : points) {
    low = std::min(low, p.x);
    high = std::max(high, p.x);
  }
  Saturation best;
  double least = std::numeric_limits<double>::infinity();
  for (double sharpness = 1; sharpness <= 10; sharpness *= 1.1) {
    for (double at = low / 4; at <= high * 4; at *= 1.01) {
      Saturation fit{.knee = at, .sharpness = sharpness};
      const double rest = peak_of(points, fit);
      if (rest < least) {
        least = rest;
        best = fit;
      }
    }
  }
  return best;
}

Knee knee(const std::vector<Point>& points) {
  Knee best;
  double least = std::numeric_limits<double>::infinity();
  for (double bytes = 1e6; bytes < 1e9; bytes *= 1.005) {
    machine::L2 l2;
    l2.effective = Bytes(bytes);
    std::vector<Weighed> rest;
    for (const Point& p : points) {
      rest.push_back({machine::resident_share(p.x, l2), p.y, 1 / (p.y * p.y)});
    }
    const Line fit = line(rest);
    if (fit.rest < least) {
      least = fit.rest;
      best = {.capacity = bytes, .hit = fit.at + fit.slope, .miss = fit.at};
    }
  }
  return best;
}

Writes fit_writes(const Mixtures& rates) {
  // Seconds of a written byte in a mixture of which a share is read: (1 / all - share / read) /
  // (1 - share) = (1 - mix * share) / write.
  const auto cost = [&](double all, double share) {
    return (1 / all - share / rates.read) / (1 - share);
  };
  constexpr double kCopy = 1.0 / 2, kAdd = 2.0 / 3;
  const double copy = cost(rates.copy, kCopy), add = cost(rates.add, kAdd);
  const double saved = ((1 - copy * rates.write) / kCopy + (1 - add * rates.write) / kAdd) / 2;
  if (saved >= 0) return {rates.write, std::min(saved, 0.99)};
  const double slope = (copy - add) / (kAdd - kCopy);
  if (slope <= 0) return {2 / (copy + add), 0};
  const double alone = copy + slope * kCopy;
  return {1 / alone, slope / alone};
}

double stair(const std::vector<Point>& points, double low, double high) {
  std::vector<double> on;
  for (const Point& p : points) {
    if (p.x >= low && p.x <= high) on.push_back(p.y);
  }
  return on.empty() ? 0 : median(std::move(on));
}

namespace {

/// The tensor power at which the curve has this clock at this share of use.
double power_at(double clock, double share, const ClockCurve& curve) {
  return (std::pow(clock, -curve.exponent) - curve.base) / share;
}

}  // namespace

ClockFit fit_clock(const std::vector<Load>& loads, const ClockCurve& curve) {
  constexpr double kBusy = 0.97;
  constexpr double kFallen = 0.985;  // of the fastest clock: below it is the curve
  std::vector<double> burst, steady;
  for (const Load& load : loads) {
    if (load.share < kBusy || load.steady > kFallen) continue;
    burst.push_back(power_at(load.burst, load.share, curve));
    steady.push_back(power_at(load.steady, load.share, curve));
  }
  if (burst.empty()) return {curve, 0, 0};
  return {curve, std::max(0.0, median(std::move(burst))), std::max(0.0, median(std::move(steady)))};
}

double energy(const Load& load, const ClockFit& fit) {
  return (power_at(load.burst, load.share, fit.curve) / fit.burst +
          power_at(load.steady, load.share, fit.curve) / fit.steady) /
         2;
}

double standard_deviation(const std::vector<double>& values) {
  ORR_CHECK(values.size() > 1) << "too few values";
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const auto count = static_cast<double>(values.size());
  for (const double value : values) squares += (value - sum / count) * (value - sum / count);
  return std::sqrt(squares / (count - 1));
}

double drop_time(const std::vector<Point>& points) {
  constexpr size_t kEnds = 5;  // points that make a level
  constexpr double kLeast = 0.01;
  if (points.size() < 4 * kEnds) return 0;
  std::vector<double> first, last;
  for (size_t i = 0; i < kEnds; ++i) {
    first.push_back(points[1 + i].y);
    last.push_back(points[points.size() - 1 - i].y);
  }
  const double high = median(first), low = median(last);
  if (high - low < kLeast * high) return 0;
  for (size_t i = 1; i + 2 < points.size(); ++i) {
    const double level = median({points[i].y, points[i + 1].y, points[i + 2].y});
    if (level < (high + low) / 2) return points[i].x;
  }
  return 0;
}

}  // namespace orrery::calibrate
