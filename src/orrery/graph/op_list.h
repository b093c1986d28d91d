// The one list of operators: name, inputs, attributes, and what each reads.
// SPDX-License-Identifier: Apache-2.0
//
// Everything that needs all operators expands this table: the enumeration, names, parser, printer,
// verifier. An operator is added by one row here, one case in infer.cpp (its result's shape) and a
// rule in each lowering that should understand it.
//
// Columns: enumerator, name in text forms, fewest and most inputs, attributes, operands.
// Shapes: [..] is any number of leading extents; a result without an arrow has the first one's.
//   linear       x [.., k], w [n, k], bias [n] -> [.., n]; a quantised one has a scale of
//                rank 2 (scheme.h), which comes last
//   head_linear  x [b, h, s, k], w [h, n, k] -> [b, h, s, n]
//   attention    q [b, h, s, d], k [b, g, t, d], v [b, g, t, e], sinks [h] -> [b, h, s, e]; h is a
//                multiple of g; sinks are a logit per head beside the keys'
//   latent_attention  q [b, h, s, d], cache [b, t, d], ids [b, s, k] -> [b, h, s, size]: one
//                key for all heads, whose first `size` numbers are the value; ids: keys it sees
//   index_keys   q [b, s, h, d], keys [b, t, d], w [b, s, h] -> i32 [b, s, size]: for each query
//                the keys with the largest sum over h of w_h relu(q_h k)
//   moe          x [.., c], logits [.., e], up [h, i, c], down [h, c, i]: each row to the `size`
//                experts of its largest logits, of which this GPU holds h and others as many each;
//                gate and up (one, if not gated), activation, down; then biases of rank 2 and
//                scales of rank 3. `sources` groups of GPUs have rows of their own, which go to
//                the experts and back
//   gated_delta  q, k [b, s, g, d], v [b, s, h, e], a, b [b, s, h], decay, bias [h],
//                state [b, h, d, e] -> v's
//   lightning    q, k, v [b, s, h, d], state [b, h, d, d]
//   mamba1       x, dt [b, s, c], a [c, n], b, c [b, s, n], d [c], state [b, c, n]
//   mamba2       x [b, s, h, p], dt [b, s, h], b, c [b, s, g, n], a, d, bias [h],
//                state [b, h, p, n]
//   causal_conv  x [b, s, c], w [c, w], state [b, c, w], bias [c]: one filter of w taps a channel
//   all_reduce   x, added up over as many ranks as `size`
//   rotary       x [b, h, s, d], cos, sin [s, r]: x * cos + cat(-x2, x1) * sin along the first
//                r <= d
//   cache_write  gives the whole cache, whose last entries along the axis are the new ones
//   slice        begin < 0 counts from the end
//   permute      axis i of the result is axis order[i] of the input
#pragma once

// clang-format off
#define ORR_GRAPH_OPS(OP) \
  /* Matrix products and attention */ \
  OP(Linear, "linear", 2, 4, kScheme | kGroup | kActivations) \
  OP(Matmul, "matmul", 2, 2, kNoAttribute)  /* a [.., m, k], b [.., k, n] -> [.., m, n] */ \
  OP(HeadLinear, "head_linear", 2, 2, kNoAttribute) \
  OP(Attention, "attention", 3, 4, kCausal | kWindow | kChunk | kSoftCap | kBiased) \
  OP(LatentAttention, "latent_attention", 2, 3, kSize | kCausal) \
  OP(IndexKeys, "index_keys", 3, 3, kSize | kCausal) \
  OP(Moe, "moe", 4, 8, kSize | kSources | kActivation | kScheme | kGroup | kActivations) \
  /* Recurrences */ \
  OP(GatedDelta, "gated_delta", 8, 8, kNoAttribute) \
  OP(Lightning, "lightning", 4, 4, kNoAttribute) \
  OP(Mamba1, "mamba1", 7, 7, kNoAttribute) \
  OP(Mamba2, "mamba2", 8, 8, kNoAttribute) \
  OP(CausalConv, "causal_conv", 3, 4, kNoAttribute) \
  OP(AllReduce, "all_reduce", 1, 1, kSize) \
  /* Rows: look-up, normalisation along the last axis */ \
  OP(Embedding, "embedding", 2, 2, kNoAttribute)     /* ids [..], table [v, c] -> [.., c] */ \
  OP(RmsNorm, "rms_norm", 1, 2, kEpsilon)            /* x [.., c], weight [c] */ \
  OP(LayerNorm, "layer_norm", 1, 3, kEpsilon)        /* x [.., c], weight [c], bias [c] */ \
  OP(Softmax, "softmax", 1, 1, kNoAttribute)         /* x [.., c] */ \
  OP(Rotary, "rotary", 3, 3, kNoAttribute) \
  /* Element by element; operands broadcast from the right */ \
  OP(Add, "add", 2, 2, kNoAttribute) \
  OP(Mul, "mul", 2, 2, kNoAttribute) \
  OP(Neg, "neg", 1, 1, kNoAttribute) \
  OP(Scale, "scale", 1, 1, kFactor)                  /* x * factor */ \
  OP(Clamp, "clamp", 1, 1, kFactor)                  /* between -factor and factor */ \
  OP(Silu, "silu", 1, 1, kNoAttribute)               /* x / (1 + exp(-x)) */ \
  OP(Gelu, "gelu", 1, 1, kNoAttribute)               /* x Phi(x), by erf */ \
  OP(GeluTanh, "gelu_tanh", 1, 1, kNoAttribute)      /* x Phi(x), by tanh */ \
  OP(QuickGelu, "quick_gelu", 1, 1, kNoAttribute)    /* x / (1 + exp(-1.702 x)) */ \
  OP(Relu, "relu", 1, 1, kNoAttribute) \
  OP(Relu2, "relu2", 1, 1, kNoAttribute)             /* relu(x)^2 */ \
  OP(Sigmoid, "sigmoid", 1, 1, kNoAttribute) \
  OP(Softplus, "softplus", 1, 1, kNoAttribute)       /* log(1 + exp(x)) */ \
  OP(Tanh, "tanh", 1, 1, kNoAttribute) \
  OP(Copy, "copy", 1, 1, kNoAttribute)               /* dense in memory */ \
  OP(Cat, "cat", 2, 8, kAxis)                        /* joined along an axis */ \
  OP(CacheWrite, "cache_write", 2, 2, kAxis)         /* cache, its newest entries */ \
  /* Views: no data moves */ \
  OP(Slice, "slice", 1, 1, kAxis | kBegin | kSize) \
  OP(Reshape, "reshape", 1, 1, kShape) \
  OP(Permute, "permute", 1, 1, kOrder) \
  OP(Expand, "expand", 1, 1, kShape)                 /* extents of 1 repeated */
// clang-format on
