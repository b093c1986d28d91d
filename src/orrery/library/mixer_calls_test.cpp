// Calls of recurrent layers and sparse attention: their texts and kinds.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/mixer_calls.h"

#include <gtest/gtest.h>

#include "orrery/library/call.h"

namespace orrery::library {
namespace {

TEST(MixerCalls, TextNamesEverySizeAndThePhase) {
  StateMixCall call;
  call.kind = StateMix::Mamba2;
  call.step = true;
  call.batch = 32;
  call.k_heads = 8;
  call.k_dim = 128;
  call.v_heads = 64;
  call.v_dim = 64;
  EXPECT_EQ(to_text(Call{call}),
            "state_mix kind=mamba2 phase=decode batch=32 seq=1 k_heads=8 k_dim=128 v_heads=64 "
            "v_dim=64 dtype=bf16 state_dtype=f32");
  EXPECT_EQ(name(Call{call}), "state_mix");
}

TEST(MixerCalls, TextLeavesOutWhatIsUsual) {
  const Conv1dCall usual{.batch = 2, .seq = 64, .channels = 8192};
  EXPECT_EQ(to_text(Call{usual}),
            "causal_conv1d phase=prefill batch=2 seq=64 channels=8192 dtype=bf16");
  const Conv1dCall short_taps{.batch = 2, .seq = 64, .channels = 8192, .taps = 3};
  EXPECT_EQ(to_text(Call{short_taps}),
            "causal_conv1d phase=prefill batch=2 seq=64 channels=8192 taps=3 dtype=bf16");
}

TEST(MixerCalls, EveryKindIsReadBackByItsName) {
  for (const StateMix kind : {StateMix::GatedDelta,
                              StateMix::KimiDelta,
                              StateMix::Lightning,
                              StateMix::Mamba1,
                              StateMix::Mamba2}) {
    const auto read = parse_state_mix(name(kind));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, kind);
  }
}

TEST(MixerCalls, UnknownKindNamesThoseThereAre) {
  const auto read = parse_state_mix("mamba3");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("mamba2"), std::string::npos);
}

}  // namespace
}  // namespace orrery::library
