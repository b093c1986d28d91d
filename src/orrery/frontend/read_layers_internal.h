// From keys to layers: the mixers and feed-forwards of a decoder or encoder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/frontend/config_keys.h"
#include "orrery/frontend/model.h"

namespace orrery::frontend {

/// Layers beyond this are a typing error.
constexpr int64_t kMostLayers = 1024;

/// Kinds of a layer's mixer in a stack of several.
enum class MixerKind { Full, Sliding, Chunked, Recurrent, None };

/// What a layer does, one entry a layer.
struct LayerPlan {
  MixerKind mixer = MixerKind::Full;
  bool dense = true;
  bool experts = false;
  bool rotary = true;
};

/// Sizes that all layers share.
struct Shared {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t width = 0;  // of the dense feed-forward
  int64_t window = 0;
  Attention attention;
  std::optional<Dense> dense;
  std::optional<Experts> experts;
  NormOrder order = NormOrder::Pre;
};

/// read_plan.cpp: which layers have windows, recurrences, experts.
std::vector<LayerPlan> read_plan(Keys& keys, const Shared& shared);

/// read_mixers.cpp
Attention read_attention(Keys& keys, int64_t hidden);
Mixer read_recurrence(Keys& keys, const Shared& shared);
LatentAttention read_latent(Keys& keys, const Shared& shared);
std::optional<Experts> read_experts(Keys& keys, const Shared& shared);
std::optional<graph::OpKind> find_activation(std::string_view name);
graph::OpKind read_activation(Keys& keys, std::string_view key, std::string_view missing);

/// All layers, in order.
std::vector<Layer> read_layers(Keys& keys, Shared& shared);

}  // namespace orrery::frontend
