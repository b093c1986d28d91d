// The one list of operators: name, inputs, attributes, and what each computes.
// SPDX-License-Identifier: Apache-2.0
//
// Everything that needs all operators expands this table: the enumeration, names, parser, printer,
// verifier. An operator is added by one row here, one case in infer.cpp (its result's shape) and
// one rule in each lowering that should understand it.
//
// Columns: enumerator, name in text forms, fewest and most inputs, attributes that it has.
// Shapes: [..] is any number of leading extents.
#pragma once

// clang-format off
#define ORR_GRAPH_OPS(OP)                                                                               \
  /* Matrix products and attention */                                                                   \
  OP(Linear,     "linear",      2, 3, kNoAttribute)          /* x [.., k], w [n, k], bias [n] -> [.., n] */   \
  OP(Matmul,     "matmul",      2, 2, kNoAttribute)          /* a [.., m, k], b [.., k, n] -> [.., m, n] */   \
  OP(Attention,  "attention",   3, 3, kCausal | kWindow)     /* q [b, h, s, d], k and v [b, g, t, d] -> q */  \
  /* Rows: normalisation along the last axis, look-up */                                                \
  OP(Embedding,  "embedding",   2, 2, kNoAttribute)          /* ids [..], table [v, c] -> [.., c] */          \
  OP(RmsNorm,    "rms_norm",    2, 2, kEpsilon)              /* x [.., c], weight [c] -> x */                 \
  OP(LayerNorm,  "layer_norm",  3, 3, kEpsilon)              /* x [.., c], weight [c], bias [c] -> x */       \
  OP(Softmax,    "softmax",     1, 1, kNoAttribute)          /* x [.., c] -> x, over the last axis */         \
  OP(Rotary,     "rotary",      3, 3, kNoAttribute)          /* x [b, h, s, d], cos and sin [s, d] -> x: */   \
                                                             /* x * cos + cat(-x2, x1) * sin, x = (x1, x2) */ \
  /* Element by element; operands broadcast from the right */                                          \
  OP(Add,        "add",         2, 2, kNoAttribute)                                                     \
  OP(Mul,        "mul",         2, 2, kNoAttribute)                                                     \
  OP(Neg,        "neg",         1, 1, kNoAttribute)                                                     \
  OP(Silu,       "silu",        1, 1, kNoAttribute)          /* x / (1 + exp(-x)) */                          \
  OP(Gelu,       "gelu",        1, 1, kNoAttribute)          /* x Phi(x), with the error function */          \
  OP(Copy,       "copy",        1, 1, kNoAttribute)          /* the same values, dense in memory */           \
  OP(Cat,        "cat",         2, 8, kAxis)                 /* joined along an axis */                       \
  OP(CacheWrite, "cache_write", 2, 2, kAxis)                 /* cache, new: the last entries along an axis */ \
                                                             /* become `new`; gives the whole cache */         \
  /* Views: no data moves */                                                                            \
  OP(Slice,      "slice",       1, 1, kAxis | kBegin | kSize) /* begin < 0 counts from the end */             \
  OP(Reshape,    "reshape",     1, 1, kShape)                                                           \
  OP(Permute,    "permute",     1, 1, kOrder)                /* result axis i is input axis order[i] */
// clang-format on
