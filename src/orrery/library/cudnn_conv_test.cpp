// Convolution: which kernels run around the product, and what the rules say of odd shapes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/cudnn_conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::library {
namespace {

const machine::Machine& h200() {
  static const machine::Machine kMachine = test::machine("h200-sxm");
  return kMachine;
}

Result<Candidates> ask(const ConvCall& call) {
  static const Library kLibrary = test::libraries(h200());
  return kLibrary.candidates(call, h200().chip);
}

Candidates candidates(const ConvCall& call) {
  auto all = ask(call);
  EXPECT_TRUE(all.ok()) << all.error().to_string();
  return all.ok() ? *std::move(all) : Candidates{};
}

// ResNet's 3 x 3 convolution of 128 channels.
ConvCall middle() {
  return {.batch = 8, .c = 128, .h = 28, .w = 28, .k = 128, .r = 3, .s = 3, .pad = 1};
}

bool begins(const kernel::Profile& profile, std::string_view name) {
  return profile.kernel.starts_with(name);
}

TEST(Convolution, WithChannelsFirstIsTransposedThereAndBack) {
  for (const auto& sequence : candidates(middle())) {
    ASSERT_EQ(sequence.size(), 4U);
    EXPECT_EQ(sequence[0].kernel, "nchwToNhwcKernel");
    EXPECT_EQ(sequence[1].kernel, "nchwToNhwcKernel");
    EXPECT_EQ(sequence[3].kernel, "nhwcToNchwKernel");
    // 784 pixels make 25 blocks of 32, 128 channels 4, 8 images; of the filters' 9 taps one.
    EXPECT_EQ(sequence[0].units, 25 * 4 * 8);
    EXPECT_EQ(sequence[1].units, 1 * 4 * 128);
  }
}

TEST(Convolution, WithChannelsLastRunsAlone) {
  auto call = middle();
  call.layout = ImageLayout::Nhwc;
  const auto all = candidates(call);
  EXPECT_GT(all.size(), 5U);
  for (const auto& sequence : all) {
    EXPECT_EQ(sequence.size(), 1U);
  }
}

TEST(Convolution, OfThreeChannelsIsPaddedOrRunsOnLanes) {
  ConvCall call{
      .batch = 8, .c = 3, .h = 224, .w = 224, .k = 64, .r = 7, .s = 7, .stride = 2, .pad = 3};
  call.layout = ImageLayout::Nhwc;
  bool lanes = false;
  for (const auto& sequence : candidates(call)) {
    lanes = lanes || sequence.size() == 1;
    EXPECT_TRUE(sequence.size() == 1 || sequence[0].kernel == "memset");
  }
  EXPECT_TRUE(lanes);
}

TEST(Convolution, OfOneByOneFiltersIsAProduct) {
  const ConvCall call{.batch = 8, .c = 256, .h = 56, .w = 56, .k = 64};
  for (const auto& sequence : candidates(call)) {
    EXPECT_TRUE(begins(sequence[0], "nvjet")) << sequence[0].kernel;
  }
  // 49 pixels are no whole 16-byte pieces: cuBLAS' own kernels do not take them.
  const ConvCall odd{.batch = 8, .c = 256, .h = 7, .w = 7, .k = 64};
  for (const auto& sequence : candidates(odd)) {
    EXPECT_FALSE(begins(sequence[0], "nvjet")) << sequence[0].kernel;
  }
}

TEST(Convolution, DepthwiseWithChannelsFirstIsPyTorchs) {
  const ConvCall call{.batch = 8,
                      .c = 144,
                      .h = 56,
                      .w = 56,
                      .k = 144,
                      .r = 3,
                      .s = 3,
                      .stride = 2,
                      .pad = 1,
                      .groups = 144};
  const auto all = candidates(call);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(begins(all[0][0], "conv_depthwise2d_forward_kernel"));
  EXPECT_EQ(all[0][0].units, 882);  // 8 * 144 * 28 * 28 outputs, 1024 a block
}

TEST(Convolution, GroupsOfOddWidthRunOneAfterTheOther) {
  const ConvCall call{
      .batch = 8, .c = 448, .h = 28, .w = 28, .k = 448, .r = 3, .s = 3, .pad = 1, .groups = 8};
  const auto odd = candidates(call);
  ASSERT_FALSE(odd.empty());
  EXPECT_EQ(odd[0].size(), 2 * 4U);  // two rounds of four groups: there, there, product, back
  auto even = call;
  even.c = even.k = 256;
  const auto whole = candidates(even);
  ASSERT_FALSE(whole.empty());
  EXPECT_EQ(whole[0].size(), 4U);
}

TEST(Convolution, NarrowGroupsOfOneImageRunDirectly) {
  ConvCall call{
      .batch = 1, .c = 64, .h = 56, .w = 56, .k = 64, .r = 3, .s = 3, .pad = 1, .groups = 32};
  const auto one = candidates(call);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one[0].size(), 1U);
  EXPECT_TRUE(begins(one[0][0], "conv2d_grouped_direct_kernel")) << one[0][0].kernel;
  EXPECT_EQ(one[0][0].units, 196) << "64 x 56 x 56 outputs, 1024 a block";
  call.batch = 8;
  for (const auto& sequence : candidates(call)) {
    EXPECT_GT(sequence.size(), 1U) << "transposed there and back";
  }
}

TEST(Convolution, RejectsShapesThatCannotBe) {
  auto large = middle();
  large.r = large.s = 31;
  EXPECT_EQ(ask(large).error().code, ErrorCode::InvalidInput);
  auto groups = middle();
  groups.groups = 3;
  EXPECT_EQ(ask(groups).error().code, ErrorCode::InvalidInput);
  auto type = middle();
  type.dtype = DType::I8;
  EXPECT_EQ(ask(type).error().code, ErrorCode::Unsupported);
}

TEST(Convolution, EverySizeGivesFiniteCounts) {
  std::mt19937_64 random(5);
  const auto size = [&](int most) { return int64_t{1} + static_cast<int64_t>(random() % most); };
  for (int i = 0; i < 2000; ++i) {
    ConvCall call{
        .batch = size(300), .c = size(600), .h = size(300), .w = size(300), .k = size(600)};
    call.r = call.s = size(7);
    call.stride = size(4);
    call.pad = call.r / 2;
    call.groups = i % 3 == 0 ? call.c : 1;
    call.k = i % 3 == 0 ? call.c : call.k;
    call.layout = i % 2 == 0 ? ImageLayout::Nchw : ImageLayout::Nhwc;
    call.dtype = i % 5 == 0 ? DType::F32 : i % 7 == 0 ? DType::F16 : DType::BF16;
    auto all = ask(call);
    if (!all.ok()) {
      // A 16-bit product of odd sizes belongs to cuBLAS, which may have no rule for it.
      EXPECT_EQ(all.error().code, ErrorCode::Unsupported) << all.error().to_string();
      continue;
    }
    for (const auto& sequence : *all) {
      for (const auto& profile : sequence) {
        EXPECT_GT(profile.units, 0) << to_text(call);
        EXPECT_TRUE(std::isfinite(profile.traffic.l2_read.value())) << to_text(call);
      }
    }
  }
}

}  // namespace
}  // namespace orrery::library
