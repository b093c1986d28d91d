// Tests of the decode-attention family: layouts that chain, refusals, offered configurations.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/family/decode_attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "orrery/kernel/geometry.h"

namespace orrery::kernel {
namespace {

const Buffer& find(const Program& program, std::string_view name) {
  const auto at = std::find_if(program.buffers.begin(),
                               program.buffers.end(),
                               [&](const Buffer& buffer) { return buffer.name == name; });
  EXPECT_NE(at, program.buffers.end()) << name;
  return *at;
}

machine::Chip hopper() {
  machine::Chip chip;
  chip.core.count = 132;
  chip.core.shared_per_cta = Bytes(232448);
  chip.core.shared_capacity = Bytes(233472);
  chip.core.shared_reserved = Bytes(1024);
  return chip;
}

TEST(DecodeAttention, ScoresAreLaidOutAsTheOperandOfTheSecondProduct) {
  const Program nvidia = decode_attention_program({}).value();
  EXPECT_TRUE(same_holders(find(nvidia, "scores").fragment, find(nvidia, "p").fragment));
  const Program amd =
      decode_attention_program({.target = Target::Gfx942, .group = 16, .tile_s = 32, .ring = 2})
          .value();
  EXPECT_TRUE(same_holders(find(amd, "scores").fragment, find(amd, "p").fragment));
}

TEST(DecodeAttention, RowStatisticsMeetBothProductsInTheSameRegisters) {
  for (const DecodeConfig& config :
       {DecodeConfig{}, DecodeConfig{.target = Target::Gfx942, .group = 16, .tile_s = 16}}) {
    const Program p = decode_attention_program(config).value();
    const Buffer& sum = find(p, "sum");
    EXPECT_TRUE(is_projection(sum.fragment, find(p, "scores").fragment, sum.axes));
    EXPECT_TRUE(is_projection(sum.fragment, find(p, "o").fragment, sum.axes));
  }
}

TEST(DecodeAttention, KeysAndValuesArriveApart) {
  // The first product must not wait for V: three ring groups (Q, K, V), each with full and empty
  // barriers.
  const Program p = decode_attention_program({.ring = 3}).value();
  EXPECT_EQ(ring_groups(p).size(), 3U);
  EXPECT_EQ(shared_plan(p).barriers, 2 * (1 + 3 + 3));
}

TEST(DecodeAttention, PartsAreUnitsOfTheirOwnAndLeaveThreePartialTensors) {
  const Program p = decode_attention_program({.parts = 6}).value();
  Extents e;
  e.set("b", 2);
  e.set("h", 8);
  e.set("g", 4);
  e.set("s", 1000);
  EXPECT_EQ(unit_map(p, e).value().units(), 2 * 8 * 6);
  EXPECT_EQ(p.tensors.size(), 6U);
  EXPECT_TRUE(decode_combine_program({.parts = 6}).ok());
  EXPECT_FALSE(decode_combine_program({.parts = 1}).ok());
}

TEST(DecodeAttention, RefusalsGiveEveryReason) {
  const auto got = decode_attention_program({.head_dim = 80, .group = 8, .tile_s = 24});
  ASSERT_FALSE(got.ok());
  const std::string& text = got.error().message;
  EXPECT_NE(text.find("group: got 8, need 64"), std::string::npos) << text;
  EXPECT_NE(text.find("head dim: got 80"), std::string::npos) << text;
  EXPECT_NE(text.find("tile s: got 24"), std::string::npos) << text;
  EXPECT_FALSE(decode_attention_program({.parts = 0}).ok());
}

TEST(DecodeConfigs, OfferKernelsForBothTargets) {
  machine::Chip cdna = hopper();
  cdna.core.count = 304;
  cdna.core.shared_per_cta = Bytes(65536);
  cdna.core.shared_capacity = Bytes(65536);
  cdna.core.shared_reserved = Bytes(0);
  EXPECT_GE(decode_configs({1, 8, 8, 16384}, cdna, {.target = Target::Gfx942}).size(), 2U);
  EXPECT_GE(decode_configs({1, 8, 8, 16384}, hopper(), {}).size(), 2U);
}

TEST(DecodeCombine, RowsThatLanesDoNotDivideEvenlyLieOverFewerLanes) {
  for (const int64_t head_dim : {16, 80, 192}) {
    EXPECT_TRUE(decode_combine_program({.target = Target::Gfx942,
                                        .head_dim = head_dim,
                                        .group = 16,
                                        .tile_s = 16,
                                        .ring = 1,
                                        .parts = 2})
                    .ok())
        << head_dim;
  }
}

TEST(DecodeConfigs, FitTheirShareOfAnSmAndFillTheChip) {
  const auto configs = decode_configs({1, 8, 8, 16384}, hopper(), {});
  EXPECT_GE(configs.size(), 10U);
  bool divided = false;
  for (const DecodeConfig& config : configs) {
    const int64_t bytes = shared_plan(decode_attention_program(config).value()).total;
    EXPECT_LE((bytes + 1024) * config.ctas_per_sm, 233472);
    divided = divided || config.parts >= 16;
  }
  EXPECT_TRUE(divided);
}

}  // namespace
}  // namespace orrery::kernel
