// Groups of layers.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/model.h"

#include <algorithm>

namespace orrery::frontend {

namespace {

constexpr size_t kLongestPeriod = 16;
constexpr size_t kGroupCost = 1;  // a group is worth as much text as a layer

/// Layers as numbers, equal ones alike.
std::vector<size_t> kinds_of(const std::vector<Layer>& layers) {
  std::vector<size_t> kinds;
  std::vector<size_t> first;  // index of the first layer of each kind
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto same = std::find_if(
        first.begin(), first.end(), [&](size_t at) { return layers[at] == layers[i]; });
    kinds.push_back(static_cast<size_t>(same - first.begin()));
    if (same == first.end()) {
      first.push_back(i);
    }
  }
  return kinds;
}

/// How a text of layers from some index on begins: a period and how often it comes.
struct Choice {
  size_t cost = 0;
  size_t period = 1;
  size_t times = 1;
};

/// The cheapest groups of the layers from `begin` on, those behind them being chosen.
Choice best_from(const std::vector<size_t>& kinds, size_t begin, const std::vector<Choice>& after) {
  Choice best{.cost = kinds.size() * 4};
  for (size_t period = 1; period <= std::min(kLongestPeriod, kinds.size() - begin); ++period) {
    size_t end = begin + period;  // of what repeats
    while (end < kinds.size() && kinds[end] == kinds[end - period]) {
      ++end;
    }
    const size_t most = (end - begin) / period;
    for (size_t times = most; times >= 1; --times) {
      const size_t cost = kGroupCost + period + after[begin + times * period].cost;
      if (cost < best.cost) {
        best = {cost, period, times};
      }
    }
  }
  return best;
}

}  // namespace

int64_t layer_count(const Stack& stack) {
  int64_t count = 0;
  for (const LayerGroup& group : stack.groups) {
    count += group.times * static_cast<int64_t>(group.body.size());
  }
  return count;
}

std::vector<LayerGroup> grouped(const std::vector<Layer>& layers) {
  const std::vector<size_t> kinds = kinds_of(layers);
  std::vector<Choice> choices(layers.size() + 1);
  for (size_t i = layers.size(); i-- > 0;) {
    choices[i] = best_from(kinds, i, choices);
  }
  std::vector<LayerGroup> groups;
  for (size_t i = 0; i < layers.size(); i += choices[i].period * choices[i].times) {
    const auto begin = layers.begin() + static_cast<ptrdiff_t>(i);
    groups.push_back({static_cast<int64_t>(choices[i].times),
                      {begin, begin + static_cast<ptrdiff_t>(choices[i].period)}});
  }
  return groups;
}

std::vector<Layer> unrolled(const Stack& stack) {
  std::vector<Layer> layers;
  for (const LayerGroup& group : stack.groups) {
    for (int64_t i = 0; i < group.times; ++i) {
      layers.insert(layers.end(), group.body.begin(), group.body.end());
    }
  }
  return layers;
}

void cut_layers(Model& model, int64_t layers) {
  int64_t left = layers;
  std::vector<LayerGroup> kept;
  for (LayerGroup& group : model.stack.groups) {
    const auto period = static_cast<int64_t>(group.body.size());
    const int64_t whole = std::min(group.times, left / period);
    left -= whole * period;
    if (whole > 0) {
      kept.push_back({whole, group.body});
    }
    if (whole < group.times) {
      group.body.resize(static_cast<size_t>(std::min(left, period)));
      left = 0;
      if (!group.body.empty()) {
        kept.push_back({1, std::move(group.body)});
      }
    }
  }
  model.stack.groups = std::move(kept);
}

const Attention* first_attention(const Stack& stack) {
  for (const LayerGroup& group : stack.groups) {
    for (const Layer& layer : group.body) {
      if (const auto* attention = std::get_if<Attention>(&layer.mixer)) {
        return attention;
      }
    }
  }
  return nullptr;
}

}  // namespace orrery::frontend
