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
  explicit Divider(const Parallel& parallel) : parallel_(parallel) {}

  void stack(Stack& stack) {
    for (LayerGroup& group : stack.groups) {
      for (Layer& each : group.body) {
        layer(each);
      }
    }
  }

  /// What does not divide, each once.
  const std::vector<std::string>& wrong() const { return wrong_; }

  bool met_experts() const { return met_experts_; }

 private:
  void divide(std::string_view what, int64_t& size) { divide(what, size, parallel_.tp); }

  void divide(std::string_view what, int64_t& size, int64_t ranks) {
    if (size % ranks == 0) {
      size /= ranks;
      return;
    }
    std::string text = fmt::format("{} {}", size, what);
    if (std::find(wrong_.begin(), wrong_.end(), text) == wrong_.end()) {
      wrong_.push_back(std::move(text));
    }
  }

  /// Heads that are copied where there are fewer than ranks.
  void divide_or_copy(std::string_view what, int64_t& heads) {
    if (heads > 0 && heads < parallel_.tp && parallel_.tp % heads == 0) {
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
                          [this](Mamba2& each) { mamba2(each); },
                          [this](ShortConv& each) { divide("channels", each.channels); }},
               mixer);
  }

  void mamba2(Mamba2& each) {
    divide("heads", each.heads);
    divide_or_copy("groups", each.groups);
  }

  void layer(Layer& layer) {
    mixer(layer.mixer);
    if (layer.beside) {
      mamba2(*layer.beside);
    }
    if (layer.cross) {
      attention(*layer.cross);
    }
    if (layer.dense) {
      divide("columns of the feed-forward part", layer.dense->width);
    }
    if (layer.experts) {
      experts(*layer.experts);
    }
  }

  void experts(Experts& each) {
    met_experts_ = true;
    divide("experts", each.count, parallel_.ep);
    divide("columns of an expert", each.width, parallel_.cuts());
    divide("columns of the shared expert", each.shared_width);
    each.ranks = parallel_.ep;
    each.sources = parallel_.groups();
  }

  Parallel parallel_;
  bool met_experts_ = false;
  std::vector<std::string> wrong_;
};

constexpr int64_t kMostRanks = 64;

Result<void> check_ranks(std::string_view what, int64_t ranks) {
  if (ranks < 1 || ranks > kMostRanks) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.shard] {}: got {}, need 1 to {}",
                      what,
                      ranks,
                      kMostRanks);
  }
  return {};
}

Result<void> check_parallel(const Parallel& parallel) {
  ORR_TRY_VOID(check_ranks("tp", parallel.tp));
  ORR_TRY_VOID(check_ranks("ep", parallel.ep));
  if (parallel.tp % parallel.ep != 0 && parallel.ep % parallel.tp != 0) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.shard] tp and ep: got {} and {}, need one a multiple of the other",
                      parallel.tp,
                      parallel.ep);
  }
  return {};
}

}  // namespace

Result<Model> shard(Model model, const Parallel& parallel) {
  ORR_TRY_VOID(check_parallel(parallel));
  if (parallel == Parallel{}) {
    return model;
  }
  Divider divider(parallel);
  divider.stack(model.stack);
  for (Model& encoder : model.encoder) {
    divider.stack(encoder.stack);
    encoder.ranks = parallel.tp;
  }
  if (parallel.ep > 1 && !divider.met_experts()) {
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.shard] ep: got {} for {}, need 1 (it has no experts)",
                      parallel.ep,
                      model.name);
  }
  if (!divider.wrong().empty()) {
    const std::string ranks =
        parallel.ep == 1 ? fmt::format("tp: got {}", parallel.tp)
                         : fmt::format("tp and ep: got {} and {}", parallel.tp, parallel.ep);
    return make_error(ErrorCode::InvalidInput,
                      "[frontend.shard] {} for {}, need a number that divides them",
                      ranks,
                      join(divider.wrong(), ", "));
  }
  model.ranks = parallel.tp;
  model.input.vocabulary = (model.input.vocabulary + parallel.tp - 1) / parallel.tp;
  return model;
}

}  // namespace orrery::frontend
