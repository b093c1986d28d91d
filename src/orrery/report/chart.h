// Charts of letters: curves in a terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace orrery::report {

/// A curve; all values above zero.
struct Curve {
  std::string name;
  std::vector<std::pair<double, double>> points;
};

struct ChartLabels {
  std::string x;
  std::string y;
  std::string (*y_text)(double value);  // of the values beside the axis
};

/// The curves over each other, 64 x 16 marks: a letter each, '*' where two meet. An axis whose
/// values span more than a factor of 8 is logarithmic, and its label says so. Empty without two
/// points.
///
///     time, logarithmic
///     21.0 ms |                               a
///             |               a
///      1.2 ms |a      a
///             +--------------------------------
///              1                            256   batch, logarithmic
///     a h200
std::string chart(const std::vector<Curve>& curves, const ChartLabels& labels);

}  // namespace orrery::report
