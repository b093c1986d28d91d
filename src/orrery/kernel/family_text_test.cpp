// Tests of the families' programs: well formed, and written and read without loss.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"
#include "orrery/kernel/parse.h"
#include "orrery/kernel/print.h"
#include "orrery/kernel/verify.h"

namespace orrery::kernel {
namespace {

class FamilyText : public testing::Test {
 protected:
  void expect_sound(const Result<Program>& program) {
    ASSERT_TRUE(program.ok()) << program.error().to_string();
    const std::string text = print(*program);
    const Result<void> verified = verify(*program);
    EXPECT_TRUE(verified.ok()) << verified.error().to_string() << "\n" << text;
    const Result<Program> back = parse(text);
    ASSERT_TRUE(back.ok()) << back.error().to_string() << "\n" << text;
    EXPECT_TRUE(*back == *program) << text;
    EXPECT_EQ(print(*back), text);
    hashes_.insert(text_hash(*program));
    texts_.insert(text);
  }

  void TearDown() override {
    EXPECT_EQ(hashes_.size(), texts_.size());
    EXPECT_GT(texts_.size(), 3U);
  }

  std::set<uint64_t> hashes_;
  std::set<std::string> texts_;
};

machine::Chip chip_with(int64_t cores, double shared) {
  machine::Chip chip;
  chip.core.count = cores;
  chip.core.shared_per_cta = Bytes(shared);
  chip.core.shared_capacity = Bytes(shared + 1024);
  return chip;
}

machine::Chip chip_for(Target target) {
  return target == Target::Sm90a ? chip_with(132, 232448) : chip_with(304, 65536);
}

TEST_F(FamilyText, Gemm) {
  const Epilogue epilogue =
      linear_epilogue({.bias = true, .activation = Activation::GeluTanh, .residual = true});
  for (const Target target : {Target::Sm90a, Target::Gfx942}) {
    for (const GemmExtents extents : {GemmExtents{4096, 4096, 4096},
                                      GemmExtents{16, 8192, 8192},
                                      GemmExtents{256, 512, 65536},
                                      GemmExtents{1, 128, 64}}) {
      const GemmConfig base{.target = target, .epilogue = epilogue};
      for (const GemmConfig& config : gemm_configs(extents, chip_for(target), base)) {
        expect_sound(gemm_program(config));
        if (config.parts > 1) expect_sound(gemm_combine_program(config));
      }
    }
  }
}

TEST_F(FamilyText, DecodeAttention) {
  for (const Target target : {Target::Sm90a, Target::Gfx942}) {
    for (const DecodeExtents extents :
         {DecodeExtents{1, 8, 8, 100'000}, DecodeExtents{64, 8, 4, 4096}}) {
      const DecodeConfig base{.target = target, .group = target == Target::Sm90a ? 64 : 16};
      for (const DecodeConfig& config : decode_configs(extents, chip_for(target), base)) {
        expect_sound(decode_attention_program(config));
        if (config.parts > 1) expect_sound(decode_combine_program(config));
      }
    }
  }
}

TEST_F(FamilyText, AddRmsNorm) {
  for (const Target target : {Target::Sm90a, Target::Gfx942}) {
    for (const int64_t cols : {128, 1024, 4095, 8192, 100'000}) {
      const AddRmsNormConfig base{.target = target, .aligned = cols % 8 == 0};
      for (const auto& config : add_rms_norm_configs(4096, cols, chip_for(target), base)) {
        expect_sound(add_rms_norm_program(config));
      }
    }
  }
}

// test/golden/kernel/NAME.kernel is the text of each family's default program: a change of a family
// shows in review.
void expect_golden(const Result<Program>& program, const std::string& name) {
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const std::string path =
      std::string(ORRERY_SOURCE_DIR) + "/test/golden/kernel/" + name + ".kernel";
  std::ifstream in(path);
  const std::string golden(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(print(*program), golden) << path << " should hold:\n" << print(*program);
}

TEST(FamilyGolden, DefaultPrograms) {
  expect_golden(gemm_program({.epilogue = linear_epilogue({.bias = true})}), "gemm");
  expect_golden(gemm_program({.target = Target::Gfx942,
                              .tile_n = 128,
                              .tile_k = 32,
                              .ring = 2,
                              .warps = 4,
                              .column_warps = 2,
                              .persistent = false}),
                "gemm_gfx942");
  expect_golden(decode_attention_program({}), "decode_attention");
  expect_golden(add_rms_norm_program({}), "add_rms_norm");
}

}  // namespace
}  // namespace orrery::kernel
