// shard: divides sizes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/shard_model.h"

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/base/text.h"

namespace orrery::frontend {

namespace {

template <class... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <class... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

class Divider {
 public:
  explicit Divider(int64_t ranks) : ranks_(ranks) {}

  void stack(Stack& stack) {
    for (LayerGroup& group : stack.groups) {
      for (Layer& each : group.body) {
        layer(each);
      }
    }
  }

  /// What does not divide, each once.
  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  void divide(std::string_view what, int64_t& size) {
    if (size % ranks_ == 0) {
      size /= ranks_;
      return;
    }
    std::string text = fmt::format("{} {}", size, what);
    if (std::find(wrong_.begin(), wrong_.end(), text) == wrong_.end()) {
      wrong_.push_back(std::move(text));
    }
  }

  /// Heads that are copied where there are fewer than ranks.
  void divide_or_copy(std::string_view what, int64_t& heads) {
    if (heads > 0 && heads < ranks_ && ranks_ % heads == 0) {
      heads = 1;
    } else {
      divide(what, heads);
    }
  }

  void attention(Attention& each) {
    divide("heads", each.heads);
    divide_or_copy("key heads", each.kv_heads);
  }

  void mixer(Mixer& mixer) {
    std::visit(Overloaded{[](std::monostate&) {},
                          [this](Attention& each) { attention(each); },
                          [this](LatentAttention& each) { divide("heads", each.heads); },
                          [this](DeltaNet& each) {
                            divide("key heads", each.k_heads);
                            divide("value heads", each.v_heads);
                          },
                          [this](Lightning& each) { divide("heads", each.heads); },
                          [this](Mamba1& each) { divide("channels", each.inner); },
                          [this](Mamba2& each) {
                            divide("heads", each.heads);
                            divide_or_copy("groups", each.groups);
                          }},
               mixer);
  }

  void layer(Layer& layer) {
    mixer(layer.mixer);
    if (layer.cross) {
      attention(*layer.cross);
    }
    if (layer.dense) {
      divide("columns of the feed-forward part", layer.dense->width);
    }
    if (layer.experts) {
      divide("columns of an expert", layer.experts->width);
      divide("columns of the shared expert", layer.experts->shared_width);
    }
  }

  int64_t ranks_;
  std::vector<std::string> wrong_;
};

}  // namespace

Result<Model> shard(Model model, int64_t ranks) {
  constexpr int64_t kMostRanks = 64;
  if (ranks < 1 || ranks > kMostRanks) {
    return make_error(
        ErrorCode::InvalidInput, "[frontend.shard] tp: got {}, need 1 to {}", ranks, kMostRanks);
  }
  if (ranks == 1) {
    return model;
  }
  Divider divider(ranks);
  divider.stack(model.stack);
  for (Model& encoder : model.encoder) {
    divider.stack(encoder.stack);
    encoder.ranks = ranks;
  }
  if (!divider.wrong().empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.shard] tp: got {} for {}, need a number that divides them",
                      ranks,
                      join(divider.wrong(), ", "));
  }
  model.ranks = ranks;
  model.input.vocabulary = (model.input.vocabulary + ranks - 1) / ranks;
  return model;
}

}  // namespace orrery::frontend
