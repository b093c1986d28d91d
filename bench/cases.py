# The shapes that the emitted kernels are compared on, and the configurations they are run with.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from typing import Any

GEMM_SHAPES = [  # m, n, k
    (16, 4096, 4096),
    (16, 28672, 4096),
    (16, 4096, 14336),
    (64, 6144, 4096),
    (64, 4096, 14336),
    (256, 4096, 4096),
    (256, 28672, 4096),
    (1024, 4096, 4096),
    (1024, 28672, 4096),
    (4096, 4096, 4096),
    (4096, 4096, 14336),
    (8192, 8192, 8192),
]
# Measured after every constant and rule was settled: they judge, nothing is tuned on them.
GEMM_SHAPES += [
    (32, 14336, 4096),
    (128, 5120, 5120),
    (512, 8192, 8192),
    (777, 5120, 13824),
    (2048, 14336, 4096),
]
FUSED_SHAPES = [(64, 4096, 14336), (4096, 4096, 4096)]  # gelu(a b + bias) + residual
NORM_SHAPES = [  # rows, cols
    (16384, 4096),
    (8192, 8192),
    (65536, 2048),
    (4096, 16384),
    (2048, 4096),
    (128, 8192),
]
NORM_SHAPES += [(32768, 1024), (8192, 5120), (1000, 7168)]
DECODE_SHAPES = [  # b, heads, kv_heads, s, d
    (32, 32, 8, 1024, 128),
    (64, 32, 8, 4096, 128),
    (128, 32, 8, 1025, 128),
    (1, 32, 8, 16384, 128),
    (8, 64, 8, 8192, 128),
    (16, 32, 8, 2048, 64),
    (4, 28, 4, 3000, 128),
    (64, 64, 8, 4096, 64),
]
DECODE_SHAPES += [(16, 32, 8, 4096, 128), (2, 64, 8, 32768, 128), (48, 40, 8, 2500, 128)]
# Shapes that fit no tile: ends of every axis are tested.
GEMM_ODD = [(1, 8, 8), (7, 104, 72), (130, 264, 200), (257, 1000, 4104), (300, 520, 64)]
NORM_ODD = [(1, 8), (3, 1000), (7, 4104), (5, 1001)]
DECODE_ODD = [(1, 8, 8, 1, 128), (2, 12, 4, 65, 128), (3, 8, 1, 130, 64), (1, 5, 5, 1000, 64)]


def swapped(tile_m: int, parts: int = 1, tile_k: int = 128, **more: Any) -> dict[str, Any]:
    """Weights on the instruction's rows: for few tokens."""
    ring = more.pop("ring", 10 if tile_k == 128 else 12)
    return {
        "swapped": True,
        "tile_n": 64,
        "tile_m": tile_m,
        "tile_k": tile_k,
        "ring": ring,
        "warps": 4,
        "parts": parts,
        "persistent": parts == 1,
        **more,
    }


def wide(tile_m: int, tile_n: int, ring: int = 4, **more: Any) -> dict[str, Any]:
    """Two warpgroups."""
    return {"tile_m": tile_m, "tile_n": tile_n, "ring": ring, "warps": 8, **more}


LARGE = [
    wide(128, 256, cluster_m=2),
    wide(128, 256, cluster_n=2),
    wide(256, 128, store_ring=1, cluster_n=2),
    wide(256, 128, store_ring=1, cluster_m=2),
    wide(128, 256),
]


def gemm_configs(m: int, n: int, k: int) -> list[dict[str, Any]]:
    """Configurations worth timing on an H200 (132 SMs)."""
    if m <= 16:
        return [
            swapped(16),
            swapped(16, ring=5, ctas_per_sm=2),
            swapped(16, parts=2),
            swapped(16, parts=4, ring=5, ctas_per_sm=2),
        ]
    if m <= 64:
        return [
            swapped(64, tile_k=64),
            swapped(64, tile_k=64, parts=2),
            swapped(64, tile_k=64, parts=4, ring=6, ctas_per_sm=2),
        ]
    if m <= 256:
        return [
            wide(128, 64, ring=8, cluster_m=2, group=1),
            wide(128, 64, ring=8, cluster_m=2),
            wide(128, 128, ring=6, cluster_m=2),
            wide(128, 224, cluster_m=2),
            wide(128, 256, cluster_m=2),
        ]
    return LARGE
