// The rule by which cuBLAS takes an nvjet kernel, against what it took
// (test/validation/nvjet_choice_h200.csv: names by a profiler, no times).
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nvjet_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "orrery/machine/number_file.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

struct Taken {
  GemmCall call;
  std::string kernel;
};

GemmLayout layout_of(const std::string& text) {
  using enum GemmLayout;
  for (const auto layout : {NT, NN, TN, TT}) {
    if (name(layout) == text) {
      return layout;
    }
  }
  ADD_FAILURE() << text;
  return NT;
}

// "bf16,1,32,1536,7168,nt,nvjet_64x32_64x16_4x1_splitK_TNT"
std::vector<Taken> taken() {
  std::stringstream file(test::read("test/validation/nvjet_choice_h200.csv"));
  std::string line;
  std::getline(file, line);
  std::vector<Taken> all;
  while (std::getline(file, line)) {
    std::stringstream cells(line);
    std::vector<std::string> cell(7);
    for (auto& each : cell) {
      std::getline(cells, each, ',');
    }
    const bool fp8 = cell[0] == "fp8";
    const DType type = *parse_dtype(cell[0]);
    all.push_back({{.batch = std::stoll(cell[1]),
                    .m = std::stoll(cell[2]),
                    .n = std::stoll(cell[3]),
                    .k = std::stoll(cell[4]),
                    .input = type,
                    .output = fp8 ? DType::BF16 : type,
                    .layout = layout_of(cell[5])},
                   cell[6]});
  }
  return all;
}

TEST(NvjetTiles, EveryKernelTakenIsOneThatExists) {
  const auto tiles = nvjet_tiles();
  int64_t stages = 0;
  int64_t contiguous = 0;
  for (const Taken& each : taken()) {
    const auto kernel = parse_nvjet(each.kernel);
    ASSERT_TRUE(kernel) << each.kernel;
    EXPECT_NE(std::find(tiles.begin(), tiles.end(), kernel->tile), tiles.end()) << each.kernel;
    if (each.call.layout == GemmLayout::NT) {
      EXPECT_EQ(to_text(*kernel, each.call.layout), each.kernel);
      const int64_t bytes = each.call.input == DType::F8E4M3 ? 1 : 2;
      stages += nvjet_stages(kernel->tile, kernel->step, bytes, each.call.layout) == kernel->stages;
      ++contiguous;
    }
  }
  EXPECT_EQ(stages, contiguous);
}

TEST(NvjetRule, NamesTheVeryKernelForFourShapesOfNine) {
  const auto machine = test::machine("h200-sxm");
  auto file = machine::NumberFile::parse(test::read("libraries/cublas-13.toml"), "cublas-13.toml");
  ASSERT_TRUE(file.ok());
  const NvjetRule rule = read_nvjet_rule(*file);
  const auto tiles = nvjet_tiles();
  int64_t shapes = 0;
  int64_t same = 0;
  const auto all = taken();
  for (size_t i = 0; i < all.size(); i += 3) {  // a third: this is slow in a debug build
    if (all[i].call.layout == GemmLayout::NT) {
      const NvjetKernel kernel = nvjet_choice(all[i].call, tiles, rule, machine.chip);
      same += to_text(kernel, all[i].call.layout) == all[i].kernel ? 1 : 0;
      ++shapes;
    }
  }
  EXPECT_GT(static_cast<double>(same) / static_cast<double>(shapes), 0.43);
}

}  // namespace
}  // namespace orrery::library
