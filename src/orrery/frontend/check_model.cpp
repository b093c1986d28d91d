// Sizes that do not fit together.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "orrery/base/text.h"
#include "orrery/frontend/model_writer_internal.h"

namespace orrery::frontend {

namespace {

/// Sizes beyond this are a typing error: the largest published model has 1e6 of anything, and
/// products of four of them must stay inside int64.
constexpr int64_t kLargestSize = int64_t{1} << 24;
constexpr int64_t kMostWeight = int64_t{1} << 48;  // elements of one weight

class Checker {
 public:
  std::vector<std::string> wrong;

  void positive(std::string_view what, int64_t value) {
    if (value < 1 || value > kLargestSize) {
      wrong.push_back(fmt::format("{}: got {}, need 1 to {}", what, value, kLargestSize));
    }
  }

  void optional(std::string_view what, int64_t value) {
    if (value < 0 || value > kLargestSize) {
      wrong.push_back(fmt::format("{}: got {}, need 0 to {}", what, value, kLargestSize));
    }
  }

  void operator()(std::monostate) {}

  void operator()(const Attention& attention) {
    positive("heads", attention.heads);
    positive("kv heads", attention.kv_heads);
    positive("head dim", attention.head_dim);
    positive("value dim", attention.value_dim);
    optional("window", attention.window);
    optional("chunk", attention.chunk);
    if (wrong.empty() && attention.heads % attention.kv_heads != 0) {
      wrong.push_back(fmt::format(
          "heads: got {} with {} kv heads, need a multiple", attention.heads, attention.kv_heads));
    }
    rotary("head dim", attention.rotary_dim, attention.head_dim);
  }

  void rotary(std::string_view what, int64_t size, int64_t all) {
    if (wrong.empty() && (size < 0 || size > all || size % 2 != 0)) {
      wrong.push_back(
          size == all
              ? fmt::format("{}: got {}, need an even number for the rotary embedding", what, size)
              : fmt::format("rotary dim: got {}, need an even number of at most {}", size, all));
    }
  }

  void operator()(const LatentAttention& latent) {
    positive("heads", latent.heads);
    optional("q_lora_rank", latent.q_rank);
    positive("kv_lora_rank", latent.kv_rank);
    positive("qk_nope_head_dim", latent.nope_dim);
    positive("qk_rope_head_dim", latent.rope_dim);
    positive("v_head_dim", latent.value_dim);
    rotary("qk_rope_head_dim", latent.rope_dim, latent.rope_dim);
    if (latent.indexer) {
      positive("index_n_heads", latent.indexer->heads);
      positive("index_head_dim", latent.indexer->head_dim);
      positive("index_topk", latent.indexer->topk);
      rotary("index_head_dim", latent.rope_dim, latent.indexer->head_dim);
      if (latent.q_rank == 0) {
        wrong.emplace_back("q_lora_rank: got none, need one for the indexer");
      }
    }
  }

  void operator()(const DeltaNet& delta) {
    positive("linear_num_key_heads", delta.k_heads);
    positive("linear_key_head_dim", delta.k_dim);
    positive("linear_num_value_heads", delta.v_heads);
    positive("linear_value_head_dim", delta.v_dim);
    positive("linear_conv_kernel_dim", delta.taps);
    if (wrong.empty() && delta.v_heads % delta.k_heads != 0) {
      wrong.push_back(
          fmt::format("linear_num_value_heads: got {} with {} key heads, need a "
                      "multiple",
                      delta.v_heads,
                      delta.k_heads));
    }
  }

  void operator()(const Lightning& lightning) {
    positive("heads", lightning.heads);
    positive("head dim", lightning.head_dim);
  }

  void operator()(const Mamba1& mamba) {
    positive("intermediate_size", mamba.inner);
    positive("state_size", mamba.state);
    positive("conv_kernel", mamba.taps);
    positive("time_step_rank", mamba.rank);
  }

  void operator()(const Mamba2& mamba) {
    positive("mamba_num_heads", mamba.heads);
    positive("mamba_head_dim", mamba.head_dim);
    positive("n_groups", mamba.groups);
    positive("ssm_state_size", mamba.state);
    positive("conv_kernel", mamba.taps);
    if (wrong.empty() && mamba.heads % mamba.groups != 0) {
      wrong.push_back(fmt::format(
          "mamba_num_heads: got {} with {} groups, need a multiple", mamba.heads, mamba.groups));
    }
  }

  void operator()(const ShortConv& conv) {
    positive("channels", conv.channels);
    positive("taps", conv.taps);
  }

  void layer(const Layer& layer, int64_t hidden) {
    std::visit(*this, layer.mixer);
    if (layer.beside) {
      (*this)(*layer.beside);
    }
    if (layer.cross) {
      (*this)(*layer.cross);
    }
    if (layer.dense) {
      positive("intermediate size", layer.dense->width);
    }
    if (layer.experts) {
      experts(*layer.experts, hidden);
    }
  }

  void experts(const Experts& experts, int64_t hidden) {
    positive("experts", experts.count);
    positive("experts per token", experts.topk);
    positive("expert width", experts.width);
    optional("shared expert width", experts.shared_width);
    optional("expert latent size", experts.latent);
    if (!wrong.empty()) {
      return;
    }
    if (experts.topk > experts.count * experts.ranks) {
      wrong.push_back(fmt::format("experts per token: got {} of {} experts, need at most as many",
                                  experts.topk,
                                  experts.count * experts.ranks));
    }
    int64_t elements = 0;
    if (__builtin_mul_overflow(experts.count, 2 * experts.width, &elements) ||
        __builtin_mul_overflow(elements, hidden, &elements) || elements > kMostWeight) {
      wrong.emplace_back("experts: got weights of over 2^48 numbers, need fewer");
    }
  }
};

}  // namespace

Result<void> check(const Model& model) {
  Checker checker;
  if (model.stack.groups.empty()) {
    checker.positive("layers", 0);
  }
  checker.positive("hidden size", model.hidden);
  checker.optional("positions", model.input.positions);
  checker.optional("embedding size", model.input.width);
  checker.optional("token types", model.input.types);
  checker.optional("patches", model.input.patches);
  checker.optional("numbers of a patch", model.input.patch_width);
  for (const LayerGroup& group : model.stack.groups) {
    checker.positive("layers", group.times);
    for (const Layer& layer : group.body) {
      if (checker.wrong.empty()) {
        checker.layer(layer, model.hidden);
      }
    }
  }
  if (model.input.vocabulary != 0 || model.input.patches == 0) {
    checker.positive("vocabulary", model.input.vocabulary);
  }
  if (!checker.wrong.empty()) {
    return make_error(
        ErrorCode::InvalidInput, "[frontend.model] {}: {}", model.name, join(checker.wrong, "; "));
  }
  for (const Model& encoder : model.encoder) {
    ORR_TRY_VOID(check(encoder));
  }
  for (const Model& tower : model.towers) {
    ORR_TRY_VOID(check(tower));
  }
  return {};
}

}  // namespace orrery::frontend
