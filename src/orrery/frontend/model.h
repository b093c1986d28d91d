// Models as plain data: sizes, kinds of layers and how often each comes, precisions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/graph/op.h"
#include "orrery/graph/scheme.h"

namespace orrery::frontend {

// A model is an embedding, a stack of layers and a head. A layer is one way of mixing tokens and
// one feed-forward, each between norms and residual sums; equal layers stand once, in groups:
//
//     llama-3.1-8b       32 x [attention 32/8 x 128, dense 14336]
//     qwen3-next-80b     12 x [delta net + experts, the same, the same, attention + experts]
//     deepseek-v3        3 x [latent attention + dense], 58 x [latent attention + experts]
//
// It says what is computed, not where it was read (huggingface.h) nor how it is written as a graph
// (model_graph.h). One rank's share of a model is a model again, with fewer heads, narrower layers
// and fewer experts; whatever is cut is cut here, before the graph is written.

/// A weight's place in a layer, for its precision.
enum class Part {
  Qkv,              // queries, keys and values; of latent attention: their down projections
  LatentUp,         // of latent attention: up projections of queries, keys and values
  Indexer,          // of sparse attention
  AttentionOutput,  // of every mixer
  MixerInput,       // of a recurrence
  Up,               // gate and up
  Down,
  Router,
  Experts,
  SharedUp,
  SharedDown,
  Head,
};
constexpr size_t kParts = static_cast<size_t>(Part::Head) + 1;
using Precisions = std::array<graph::Precision, kParts>;

enum class NormKind {
  Rms,
  Layer,
  LayerNoBias,   // a weight only
  LayerNoWeight  // OLMo's: neither weight nor bias
};

/// Where the norms of a sublayer f stand.
enum class NormOrder {
  Pre,        // h + f(norm h)
  Post,       // h + norm f(h)
  Both,       // h + norm f(norm h)
  AfterSum,   // norm(h + f(h)), as in the first transformers
  FromNormed  // norm h + f(norm h)
};

/// Norm of q and k before the rotary embedding.
enum class QkNorm {
  None,
  Head,       // over head_dim, one weight for all heads
  HeadLayer,  // the same as a layer norm
  PerHead,    // a layer norm over head_dim, a weight for each head
  Width,      // over all heads
  NoWeight    // over head_dim, without weights
};

struct Attention {
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  int64_t value_dim = 0;   // head_dim, unless values have their own
  int64_t rotary_dim = 0;  // 0: no rotary embedding
  int64_t window = 0;      // 0: full
  int64_t chunk = 0;       // attends inside chunks of so many tokens; 0: no chunks
  bool causal = true;
  bool cross = false;   // keys and values come from the encoder
  bool biased = false;  // a bias by distance on the scores (T5, ALiBi)
  bool sinks = false;
  double soft_cap = 0;
  double clip = 0;  // projections are clamped to +-clip; 0: not
  QkNorm qk_norm = QkNorm::None;
  bool value_norm = false;  // without weights
  bool qkv_bias = false;
  bool output_bias = false;
  bool output_gate = false;      // times sigmoid of a projection as wide as the heads
  bool head_gate = false;        // times softplus of a projection with one number a head
  bool values_are_keys = false;  // no projection of its own for the values
  bool operator==(const Attention&) const = default;
};

/// Choice of keys in sparse attention.
struct Indexer {
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t topk = 0;
  bool shared = false;  // takes the choice of the layer before
  bool operator==(const Indexer&) const = default;
};

/// Attention over a latent of all heads (DeepSeek's MLA).
struct LatentAttention {
  int64_t heads = 0;
  int64_t q_rank = 0;  // 0: queries are projected at once
  int64_t kv_rank = 0;
  int64_t nope_dim = 0;
  int64_t rope_dim = 0;
  int64_t value_dim = 0;
  bool bias = false;  // of the down and output projections
  std::optional<Indexer> indexer = {};
  bool operator==(const LatentAttention&) const = default;
};

/// Gated delta net.
struct DeltaNet {
  int64_t k_heads = 0;
  int64_t k_dim = 0;
  int64_t v_heads = 0;
  int64_t v_dim = 0;
  int64_t taps = 4;  // of the convolution
  bool operator==(const DeltaNet&) const = default;
};

/// Linear attention with a constant decay.
struct Lightning {
  int64_t heads = 0;
  int64_t head_dim = 0;
  bool operator==(const Lightning&) const = default;
};

struct Mamba1 {
  int64_t inner = 0;
  int64_t state = 0;
  int64_t taps = 4;
  int64_t rank = 0;  // of the projection to time steps
  bool conv_bias = true;
  bool bias = false;
  bool norms = false;  // RMS norms without weights of b, c and the time step
  bool operator==(const Mamba1&) const = default;
};

struct Mamba2 {
  int64_t heads = 0;
  int64_t head_dim = 0;
  int64_t groups = 0;
  int64_t state = 0;
  int64_t taps = 4;
  bool conv_bias = true;
  bool bias = false;
  bool norm = true;  // gated RMS norm before the output
  bool operator==(const Mamba2&) const = default;
};

/// A short convolution between two gates (LFM2).
struct ShortConv {
  int64_t channels = 0;
  int64_t taps = 3;
  bool bias = false;  // of all three products
  bool operator==(const ShortConv&) const = default;
};

using Mixer = std::variant<std::monostate,
                           Attention,
                           LatentAttention,
                           DeltaNet,
                           Lightning,
                           Mamba1,
                           Mamba2,
                           ShortConv>;

struct Dense {
  int64_t width = 0;
  bool gated = true;
  bool bias = false;
  graph::OpKind activation = graph::OpKind::Silu;
  bool operator==(const Dense&) const = default;
};

struct Experts {
  int64_t count = 0;    // on one GPU
  int64_t ranks = 1;    // GPUs that hold so many each
  int64_t sources = 1;  // groups of GPUs with tokens of their own (parallel.h)
  int64_t topk = 0;
  int64_t width = 0;
  bool gated = true;
  bool bias = false;
  graph::OpKind activation = graph::OpKind::Silu;
  bool router_bias = false;
  int64_t latent = 0;        // experts work in a projection of so many features; 0: in all
  int64_t shared_width = 0;  // of a dense part that every token passes; 0: none
  bool shared_gate = false;  // times a sigmoid of its own
  bool operator==(const Experts&) const = default;
};

struct Layer {
  Mixer mixer;
  std::optional<Mamba2> beside = {};    // reads what the mixer reads, and is added to it
  std::optional<Attention> cross = {};  // to the encoder, between mixer and feed-forward
  std::optional<Dense> dense = {};
  std::optional<Experts> experts = {};  // beside the dense part, if both are there
  NormOrder order = NormOrder::Pre;
  bool parallel = false;         // mixer and feed-forward read the same sum
  bool one_norm = false;         // of a parallel layer: they share a norm too
  double residual_scale = 1;     // of what is added
  double carried_scale = 1;      // of what it is added to
  int64_t extra_parameters = 0;  // that no operator here reads (scalars, biases of routing)
  Precisions precision = {};
  bool operator==(const Layer&) const = default;
};

/// `body` comes `times` times.
struct LayerGroup {
  int64_t times = 1;
  std::vector<Layer> body;
  bool operator==(const LayerGroup&) const = default;
};

struct Stack {
  std::vector<LayerGroup> groups;
  bool shared = false;  // all layers have the same weights (ALBERT)
  bool final_norm = true;
  bool operator==(const Stack&) const = default;
};

/// What enters: tokens, or patches of an image or of sound.
struct Input {
  int64_t vocabulary = 0;   // 0: patches
  int64_t width = 0;        // of a table's row if projected to hidden afterwards; 0: hidden
  int64_t positions = 0;    // rows of a table of positions
  bool learned = true;      // that table is a weight; else sines, made once
  int64_t types = 0;        // rows of a table of token types
  bool norm = false;        // after the sum
  double scale = 1;         // of the looked-up rows
  int64_t patches = 0;      // per image
  int64_t patch_width = 0;  // numbers of a patch
  bool patch_bias = true;
  bool class_token = false;
  bool halved = false;  // a second projection over three neighbours, every other one (Whisper)
  bool operator==(const Input&) const = default;
};

/// A projection after the stack.
struct Projection {
  int64_t width = 0;
  bool bias = true;
  std::optional<graph::OpKind> activation = {};
  bool norm_before = false;
  bool norm_after = false;
  int64_t merged = 1;  // neighbouring rows become one before it
  int64_t pooled = 1;  // neighbouring rows are averaged before it
  bool operator==(const Projection&) const = default;
};

/// Of which tokens the head's results are wanted.
enum class Wanted { Last, First, All };

struct Head {
  std::vector<Projection> before;
  bool logits = true;
  bool tied = false;  // reuses the embedding's table
  bool bias = false;
  double scale = 1;
  double soft_cap = 0;
  Wanted wanted = Wanted::Last;
  bool operator==(const Head&) const = default;
};

struct Model {
  std::string name;
  std::string family;  // model_type
  int64_t hidden = 0;
  int64_t most_positions = 0;  // trained context; 0: not stated
  NormKind norm = NormKind::Rms;
  double epsilon = 1e-5;
  Input input;
  Stack stack;
  Head head;
  bool decodes = true;  // has a step for one new token
  int64_t ranks = 1;    // that share every layer; the sizes here are one rank's (shard_model.h)
  DType dtype = DType::BF16;
  std::optional<DType> cache = {};  // of keys and values; left out: dtype
  graph::Precision head_precision = {};
  std::vector<Model> encoder;      // none or one; its results are the keys of cross attention
  std::vector<Model> towers;       // of images and sound, not part of a step
  int64_t extra_parameters = 0;    // beside those the graph reads
  std::vector<std::string> notes;  // what a prediction leaves out

  bool operator==(const Model&) const = default;
};

int64_t layer_count(const Stack& stack);

/// The same layers as few groups: periods of at most 16 layers, the shortest text first.
std::vector<LayerGroup> grouped(const std::vector<Layer>& layers);

/// All layers, one after the other.
std::vector<Layer> unrolled(const Stack& stack);

/// The first `layers` of a model; all if it has fewer.
void cut_layers(Model& model, int64_t layers);

/// The first attention of a stack, for tables; none if it has none.
const Attention* first_attention(const Stack& stack);

}  // namespace orrery::frontend
