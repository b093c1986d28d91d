// The one list of operators: name, inputs, attributes, and what each reads.
// SPDX-License-Identifier: Apache-2.0
//
// Everything that needs all operators expands this table: the enumeration, names, parser, printer,
// verifier. An operator is added by one row here, one case in infer.cpp (its result's shape) and a
// rule in each lowering that should understand it.
//
// Columns: enumerator, name in text forms, fewest and most inputs, attributes, operands.
// Shapes: [..] is any number of leading extents; a result without an arrow has the first one's.
//   rotary       x * cos + cat(-x2, x1) * sin along the last axis, where x = (x1, x2)
//   attention    grouped queries: h is a multiple of g
//   cache_write  gives the whole cache, whose last entries along the axis are the new ones
//   slice        begin < 0 counts from the end
//   permute      axis i of the result is axis order[i] of the input
#pragma once

// clang-format off
#define ORR_GRAPH_OPS(OP) \
  /* Matrix products and attention */ \
  OP(Linear, "linear", 2, 3, kNoAttribute)  /* x [.., k], w [n, k], bias [n] -> [.., n] */ \
  OP(Matmul, "matmul", 2, 2, kNoAttribute)  /* a [.., m, k], b [.., k, n] -> [.., m, n] */ \
  OP(Attention, "attention", 3, 3, kCausal | kWindow) /* q [b, h, s, d], k and v [b, g, t, d] */ \
  /* Rows: look-up, normalisation along the last axis */ \
  OP(Embedding, "embedding", 2, 2, kNoAttribute)     /* ids [..], table [v, c] -> [.., c] */ \
  OP(RmsNorm, "rms_norm", 2, 2, kEpsilon)            /* x [.., c], weight [c] */ \
  OP(LayerNorm, "layer_norm", 3, 3, kEpsilon)        /* x [.., c], weight [c], bias [c] */ \
  OP(Softmax, "softmax", 1, 1, kNoAttribute)         /* x [.., c] */ \
  OP(Rotary, "rotary", 3, 3, kNoAttribute)  /* x [b, h, s, d], cos, sin [s, d] */ \
  /* Element by element; operands broadcast from the right */ \
  OP(Add, "add", 2, 2, kNoAttribute) \
  OP(Mul, "mul", 2, 2, kNoAttribute) \
  OP(Neg, "neg", 1, 1, kNoAttribute) \
  OP(Silu, "silu", 1, 1, kNoAttribute)               /* x / (1 + exp(-x)) */ \
  OP(Gelu, "gelu", 1, 1, kNoAttribute)               /* x Phi(x), by erf */ \
  OP(Copy, "copy", 1, 1, kNoAttribute)               /* dense in memory */ \
  OP(Cat, "cat", 2, 8, kAxis)                        /* joined along an axis */ \
  OP(CacheWrite, "cache_write", 2, 2, kAxis)         /* cache, its newest entries */ \
  /* Views: no data moves */ \
  OP(Slice, "slice", 1, 1, kAxis | kBegin | kSize) \
  OP(Reshape, "reshape", 1, 1, kShape) \
  OP(Permute, "permute", 1, 1, kOrder)
// clang-format on
