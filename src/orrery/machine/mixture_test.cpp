// Mixtures: against a search, and no file that we ship moves data faster than its data sheet.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/mixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace orrery::machine {
namespace {

Dram dram_of(double read, double write, double mix) {
  Dram dram;
  dram.bandwidth = BytesPerSecond(1000e9);
  dram.read = BytesPerSecond(read * 1e9);
  dram.write = BytesPerSecond(write * 1e9);
  dram.mix = mix;
  return dram;
}

double searched(const Dram& dram) {
  double most = 0;
  for (int i = 0; i <= 10000; ++i) {
    const double x = i / 10000.0;
    const double write = (1 - x) / dram.write.value() * (1 - dram.mix * x);
    most = std::max(most, 1 / (x / dram.read.value() + write));
  }
  return most;
}

TEST(Mixture, TheFastestIsThatOfASearch) {
  for (const double read : {700.0, 930.0, 980.0}) {
    for (const double write : {690.0, 979.0}) {
      for (const double mix : {0.0, 0.05, 0.298, 0.9}) {
        const Dram dram = dram_of(read, write, mix);
        EXPECT_NEAR(fastest_mixture(dram).value() / searched(dram), 1, 1e-6)
            << read << " " << write << " " << mix;
      }
    }
  }
}

TEST(Mixture, TheLargestMixReachesTheBandwidthAndNoMore) {
  for (const double read : {700.0, 930.0, 980.0, 1000.0}) {
    for (const double write : {690.0, 979.0, 1000.0}) {
      Dram dram = dram_of(read, write, 0);
      const double most = largest_mix(dram);
      ASSERT_GE(most, 0);
      dram.mix = std::min(0.999, most);
      EXPECT_LE(fastest_mixture(dram).value(), 1000e9 * (1 + 1e-9));
      if (most < 0.9) {
        dram.mix = most + 0.01;
        EXPECT_GT(fastest_mixture(dram).value(), 1000e9);
      }
    }
  }
}

}  // namespace
}  // namespace orrery::machine
