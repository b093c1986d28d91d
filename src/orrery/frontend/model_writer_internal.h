// Writes one step of a model into a graph builder; a file per part of a layer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/graph/builder.h"

namespace orrery::frontend {

/// A product's outputs, whether it has a bias, and its precision.
struct Product {
  int64_t outputs = 0;
  bool bias = false;
  graph::Precision precision = {};
};

class Writer {
 public:
  Writer(const Model& model, Phase phase);

  Result<graph::Graph> run() &&;

 private:
  using ValueId = graph::ValueId;
  using Dim = graph::Dim;
  using OpKind = graph::OpKind;

  // model_graph.cpp: operators with the names of the layer at hand
  std::string named(std::string_view name) const;
  ValueId weight(std::string_view name, graph::Shape shape);
  ValueId op(std::string_view name,
             OpKind kind,
             std::vector<ValueId> inputs,
             graph::Attributes attributes = {});
  ValueId norm(std::string_view name, ValueId x, int64_t size);
  ValueId plain_norm(std::string_view name, ValueId x, OpKind kind, int64_t size, int weights);
  ValueId linear(std::string_view name, ValueId x, const Product& product);
  ValueId part(std::string_view name, ValueId x, int64_t first, int64_t count);
  ValueId reshape(std::string_view name, ValueId x, graph::Shape shape);
  ValueId permute(std::string_view name, ValueId x, std::vector<int64_t> order);
  ValueId scaled(std::string_view name, ValueId x, double factor);
  ValueId reduced(std::string_view name, ValueId part);
  int64_t width(ValueId x) const;
  const graph::Precision& precision(const Layer& layer, Part part) const;

  // model_graph.cpp: the whole
  ValueId embedded();
  ValueId patches();
  ValueId with_positions(ValueId x, Dim tokens);
  static std::string place(size_t index);
  ValueId stack(const Stack& stack, ValueId x);
  ValueId layer(const Layer& layer, ValueId h);
  ValueId parallel_layer(const Layer& layer, ValueId h);
  /// `f` of h between its norms, added to h.
  template <class F>
  ValueId sublayer(const Layer& layer, std::string_view name, ValueId h, F&& f);
  ValueId head(ValueId x);
  ValueId projected(std::string_view name, ValueId x, const Projection& projection);
  void encode();
  void rotary_tables();

  // write_attention.cpp
  ValueId mixer(const Layer& layer, ValueId x);
  ValueId mixer_and_beside(const Layer& layer, ValueId x);
  ValueId attention(const Layer& layer, const Attention& attention, ValueId x);
  ValueId cross_attention(const Layer& layer, const Attention& attention, ValueId x);

  struct Heads {
    ValueId q;
    ValueId k;
    ValueId v;
    ValueId gate;
  };

  Heads heads(const Layer& layer, const Attention& attention, ValueId x);
  ValueId by_head(std::string_view name, ValueId x, int64_t heads, int64_t size);
  ValueId joined(const Attention& attention, ValueId mixed, ValueId gate);
  ValueId turned(std::string_view name, ValueId x, const Attention& attention, bool narrow);
  ValueId rotary(std::string_view name, ValueId x, int64_t size);
  ValueId cached(std::string_view name, ValueId entries, int64_t axis);
  ValueId token_gate(const Layer& layer, const Attention& attention, ValueId x, ValueId joined);

  // write_latent.cpp
  struct Latents {
    ValueId q;         // [b, s, h (nope + rope)] after its up projection
    ValueId q_latent;  // before it
    ValueId kv;        // [b, s, kv_rank]
    ValueId k_rope;    // [b, 1, s, rope]
  };

  ValueId latent_attention(const Layer& layer, const LatentAttention& latent, ValueId x);
  Latents latents(const Layer& layer, const LatentAttention& latent, ValueId x);
  ValueId expanded(const Layer& layer, const LatentAttention& latent, const Latents& from);
  ValueId absorbed(const LatentAttention& latent, const Latents& from, ValueId ids);
  ValueId chosen(const Layer& layer, const LatentAttention& latent, ValueId x, ValueId q_latent);
  std::pair<ValueId, ValueId> split_queries(const LatentAttention& latent, ValueId q);

  // write_recurrence.cpp
  ValueId state(std::string_view name, graph::Shape shape, DType dtype);
  ValueId convolved(std::string_view name, ValueId x, int64_t taps, bool bias);
  ValueId delta_net(const Layer& layer, const DeltaNet& delta, ValueId x);
  ValueId lightning(const Layer& layer, const Lightning& lightning, ValueId x);
  ValueId mamba1(const Layer& layer, const Mamba1& mamba, ValueId x);
  ValueId mamba2(const Layer& layer, const Mamba2& mamba, ValueId x);
  ValueId short_conv(const Layer& layer, const ShortConv& conv, ValueId x);

  // write_feed_forward.cpp
  ValueId feed_forward(const Layer& layer, ValueId x);
  ValueId activated(ValueId x, OpKind kind, std::string_view prefix);
  ValueId dense(const Layer& layer, const Dense& dense, ValueId x, bool shared);
  ValueId experts(const Layer& layer, const Experts& experts, ValueId x);
  ValueId expert_weight(std::string_view name,
                        const Experts& experts,
                        std::pair<int64_t, int64_t> rows_cols,
                        const graph::Precision& precision);

  const Model* m_;  // the decoder, or its encoder while that is written
  bool decode_;
  bool mixed_;
  graph::Builder b_;
  Dim batch_;
  Dim seq_;      // tokens that are new
  Dim context_;  // tokens attended to
  Dim source_;   // the encoder's tokens
  std::string prefix_;
  bool shared_weights_ = false;
  ValueId table_;          // of the embedding
  ValueId source_states_;  // the encoder's results, of a prefill
  ValueId ids_;            // keys chosen by the last indexer
  std::vector<std::pair<int64_t, std::pair<ValueId, ValueId>>> tables_;  // cos, sin by size
};

/// What does not fit together in a model, all of it.
Result<void> check(const Model& model);

}  // namespace orrery::frontend
