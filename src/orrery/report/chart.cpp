// Draws charts of letters.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace orrery::report {

namespace {

constexpr int kColumns = 64;
constexpr int kRows = 16;
constexpr double kLogarithmicFrom = 8;
constexpr std::string_view kMarks = "abcdefghijklmnopqrstuvwxyz";

/// One axis: values to places.
struct Scale {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;

  void see(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }

  bool logarithmic() const { return most / least > kLogarithmicFrom; }

  /// From 0 to places - 1.
  int place(double value, int places) const {
    if (most == least) {
      return 0;
    }
    const double share = logarithmic() ? std::log(value / least) / std::log(most / least)
                                       : (value - least) / (most - least);
    return static_cast<int>(std::lround(share * (places - 1)));
  }

  double value(double share) const {
    return logarithmic() ? least * std::pow(most / least, share) : least + share * (most - least);
  }

  std::string_view word() const { return logarithmic() ? ", logarithmic" : ""; }
};

std::vector<std::string> drawn(const std::vector<Curve>& curves, const Scale& x, const Scale& y) {
  std::vector<std::string> rows(kRows, std::string(kColumns, ' '));
  for (size_t i = 0; i < curves.size(); ++i) {
    const char mark = kMarks[i % kMarks.size()];
    for (const auto& [across, up] : curves[i].points) {
      const int row = kRows - 1 - y.place(up, kRows);
      char& at = rows[static_cast<size_t>(row)][static_cast<size_t>(x.place(across, kColumns))];
      at = at == ' ' || at == mark ? mark : '*';
    }
  }
  return rows;
}

std::string number(double value) {
  return fmt::format("{:.6g}", value);
}

}  // namespace

std::string chart(const std::vector<Curve>& curves, const ChartLabels& labels) {
  Scale x;
  Scale y;
  size_t points = 0;
  for (const Curve& curve : curves) {
    for (const auto& [across, up] : curve.points) {
      x.see(across);
      y.see(up);
      ++points;
    }
  }
  if (points < 2 || x.least == x.most) {
    return "";
  }
  std::string text = fmt::format("{}{}\n", labels.y, y.word());
  const std::vector<std::string> rows = drawn(curves, x, y);
  constexpr int kLabelEvery = 5;
  for (int row = 0; row < kRows; ++row) {
    const bool labelled = row % kLabelEvery == 0;
    const std::string label = labelled ? labels.y_text(y.value(1.0 - row / (kRows - 1.0))) : "";
    std::string line = fmt::format("{:>10} |{}", label, rows[static_cast<size_t>(row)]);
    text += line.erase(line.find_last_not_of(' ') + 1) + '\n';
  }
  text += fmt::format("{:>10} +{}\n", "", std::string(kColumns, '-'));
  const std::string first = number(x.least);
  text += fmt::format("{:>10}  {}{:>{}}   {}{}\n",
                      "",
                      first,
                      number(x.most),
                      kColumns - static_cast<int>(first.size()),
                      labels.x,
                      x.word());
  for (size_t i = 0; i < curves.size() && curves.size() > 1; ++i) {
    text += fmt::format("  {} {}\n", kMarks[i % kMarks.size()], curves[i].name);
  }
  return text;
}

}  // namespace orrery::report
