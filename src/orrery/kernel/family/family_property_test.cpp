// Whatever the configuration: a family refuses it, saying why, or its program passes the verifier.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <string>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"
#include "orrery/kernel/verify.h"

namespace orrery::kernel {
namespace {

constexpr int kTrials = 1000;

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}

  template <class T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[random_() % values.size()];
  }

 private:
  std::mt19937 random_;
};

/// Counts how often a program was made, so that the test cannot pass by refusing everything.
void expect_sound(const Result<Program>& program, int& made) {
  if (!program.ok()) {
    EXPECT_NE(program.error().message.find("got"), std::string::npos) << program.error().message;
    return;
  }
  ++made;
  const auto verified = verify(*program);
  EXPECT_TRUE(verified.ok()) << program->name << ": " << verified.error().to_string();
}

GemmConfig random_gemm(Dice& dice) {
  GemmConfig c;
  c.target = dice.pick({Target::Sm90a, Target::Gfx942});
  c.dtype = dice.pick({DType::BF16, DType::F16});
  c.tile_m = dice.pick<int64_t>({8, 16, 32, 48, 64, 96, 128, 256});
  c.tile_n = dice.pick<int64_t>({16, 32, 64, 96, 128, 160, 256, 320});
  c.tile_k = dice.pick<int64_t>({8, 16, 32, 64, 128});
  c.ring = dice.pick<int64_t>({1, 2, 3, 4});
  c.swapped = dice.pick({false, true});
  c.warps = dice.pick<int64_t>({1, 2, 4, 8});
  c.column_warps = dice.pick<int64_t>({1, 1, 2, 4});
  c.instruction = dice.pick<MmaShape>({{}, {32, 32, 8}, {16, 16, 16}});
  c.cluster_m = dice.pick<int64_t>({1, 1, 2});
  c.cluster_n = dice.pick<int64_t>({1, 1, 2});
  c.group = dice.pick<int64_t>({1, 8});
  c.persistent = dice.pick({false, true});
  c.parts = dice.pick<int64_t>({1, 1, 2, 5});
  c.store_ring = dice.pick<int64_t>({1, 2});
  c.pad = dice.pick<int64_t>({0, 4, 8});
  c.ctas_per_sm = dice.pick<int64_t>({1, 2});
  c.epilogue = linear_epilogue({.bias = dice.pick({false, true}),
                                .activation = dice.pick({Activation::None, Activation::Silu}),
                                .residual = dice.pick({false, true}),
                                .dtype = c.dtype});
  return c;
}

TEST(FamilyProperty, GemmIsRefusedOrSound) {
  Dice dice(1);
  int made = 0;
  for (int i = 0; i < kTrials; ++i) {
    const GemmConfig config = random_gemm(dice);
    expect_sound(gemm_program(config), made);
    if (config.parts > 1) {
      expect_sound(gemm_combine_program(config), made);
    }
  }
  EXPECT_GT(made, kTrials / 20);
}

TEST(FamilyProperty, AddRmsNormIsRefusedOrSound) {
  Dice dice(2);
  int made = 0;
  for (int i = 0; i < kTrials; ++i) {
    expect_sound(add_rms_norm_program({.target = dice.pick({Target::Sm90a, Target::Gfx942}),
                                       .dtype = dice.pick({DType::BF16, DType::F16, DType::F32}),
                                       .rows = dice.pick<int64_t>({1, 2, 3, 8}),
                                       .row_warps = dice.pick<int64_t>({1, 2, 5, 8, 16, 32}),
                                       .vectors = dice.pick<int64_t>({1, 2, 3, 8, 64}),
                                       .aligned = dice.pick({false, true}),
                                       .looped = dice.pick({false, true})}),
                 made);
  }
  EXPECT_GT(made, kTrials / 20);
}

TEST(FamilyProperty, DecodeAttentionIsRefusedOrSound) {
  Dice dice(3);
  int made = 0;
  for (int i = 0; i < kTrials; ++i) {
    const DecodeConfig config{.target = dice.pick({Target::Sm90a, Target::Gfx942}),
                              .dtype = dice.pick({DType::BF16, DType::F16}),
                              .head_dim = dice.pick<int64_t>({16, 64, 80, 128, 192, 256}),
                              .group = dice.pick<int64_t>({16, 64}),
                              .tile_s = dice.pick<int64_t>({16, 32, 48, 64, 128, 256}),
                              .ring = dice.pick<int64_t>({1, 2, 3, 4}),
                              .parts = dice.pick<int64_t>({1, 2, 7}),
                              .ctas_per_sm = dice.pick<int64_t>({1, 2, 3})};
    expect_sound(decode_attention_program(config), made);
    if (config.parts > 1) {
      expect_sound(decode_combine_program(config), made);
    }
  }
  EXPECT_GT(made, kTrials / 20);
}

}  // namespace
}  // namespace orrery::kernel
