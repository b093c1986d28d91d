# Measures operator cases that no constant is fitted on.
# SPDX-License-Identifier: Apache-2.0
"""Tables of operator cases drawn at random by a fixed seed, measured as the tables that the model
was fitted on were: none of these rows is for fitting. heldout.py OUT_FOLDER HOW_FOLDER [TABLE ...]
HOW_FOLDER has the timing protocol: common.py, gemm.py, attention.py, moe.py."""

import os
import random
import sys

OUT, HOW, *ONLY = sys.argv[1:]
os.environ["OUT"] = OUT
sys.argv = sys.argv[:1]
sys.path[:0] = [HOW, os.path.dirname(os.path.abspath(__file__))]

import torch

import attention
import gemm
import geometry_more
import moe
import rows
from common import sets_for, sweep

R = random.Random(20261130)
NK = [
    (5120, 5120),
    (13824, 5120),
    (5120, 13824),
    (1024, 4096),
    (18432, 3072),
    (3072, 9216),
    (2560, 9728),
    (7680, 2560),
    (12288, 4096),
    (4096, 11008),
    (2048, 6144),
    (151936, 2048),
]
SMALL_SETS = {
    "copy",
    "add",
    "mul",
    "gelu",
    "silu",
    "exp",
    "fill",
    "cast_fp32",
    "softmax",
    "layer_norm",
    "rms_norm",
    "sum_rows",
    "sum_cols",
    "sum_all",
    "argmax",
    "transpose",
    "topk8",
    "cumsum",
    "gather_rows",
}


def log(low, high, step=1):
    """A whole multiple of step, its logarithm uniform between the bounds."""
    return max(step, round(low * (high / low) ** R.random() / step) * step)


def gemm_cases():
    out = [
        ("bf16", 1, log(8, 8192, 8), log(32, 8192, 8), log(32, 8192, 8), "random")
        for _ in range(36)
    ]
    out += [(t, 1, log(1, 8192), *R.choice(NK), "llm") for t in ["bf16"] * 30 + ["fp8"] * 18]
    out += [
        ("bf16", log(2, 64), log(16, 1024, 8), log(16, 1024, 8), log(32, 1024, 8), "bmm")
        for _ in range(16)
    ]
    out += [
        (t, 1, log(8, 4096, 8), log(32, 4096, 8), log(32, 4096, 8), "random")
        for t in ["fp16"] * 12 + ["tf32"] * 12 + ["fp32"] * 8
    ]
    out += [("bf16", 1, log(8, 4096), log(33, 4096), log(33, 4096), "random") for _ in range(14)]
    out = [
        (
            t,
            b,
            m,
            max(16, n // 16 * 16) if t == "fp8" else n,
            max(16, k // 16 * 16) if t == "fp8" else k,
            f,
        )
        for t, b, m, n, k, f in out
    ]
    return [(c, gemm.build(*c[:5])) for c in out]


def gemm2_cases():
    out = [
        (
            "bf16",
            log(16, 8192, 8),
            log(64, 8192, 8),
            log(64, 8192, 8),
            R.choice(["nn", "tn", "tt"]),
            "layout",
        )
        for _ in range(18)
    ]
    out += [("fp32", log(16, 4096), log(16, 4096), log(16, 4096), "nt", "fp32") for _ in range(14)]
    out += [
        (R.choice(["bf16", "fp16"]), log(31, 4096), log(31, 4096), log(31, 4096), "nt", "odd")
        for _ in range(12)
    ]

    def build(c):
        def go():
            size = 4 if c[0] == "fp32" else 2
            n = sets_for(size * (c[1] * c[3] + c[2] * c[3] + c[1] * c[2]))
            runs = [geometry_more.gemm2(*c[:5]) for _ in range(n)]
            return (lambda i: runs[i]()), n

        return go

    return [(c, build(c)) for c in out]


def attention_cases():
    out = []
    for backend in ("flash", "cudnn"):
        for _ in range(22):
            kv = R.choice([2, 4, 8])
            heads = kv * R.choice([1, 2, 4, 8])
            seq = R.choice([log(128, 8192), log(128, 8192, 128)])
            chunk = R.random() < 0.2
            out.append(
                (
                    backend,
                    "bf16",
                    log(1, 8),
                    heads,
                    kv,
                    max(2, seq // 4) if chunk else seq,
                    seq,
                    R.choice([64, 128, 128, 256]),
                    0 if chunk else R.randint(0, 1),
                )
            )
        for _ in range(18):
            kv = R.choice([2, 4, 8])
            out.append(
                (
                    backend,
                    "bf16",
                    log(1, 128),
                    kv * R.choice([1, 4, 8]),
                    kv,
                    1,
                    log(128, 16384),
                    R.choice([64, 128, 128]),
                    0,
                )
            )
    return [(c, attention.build(*c)) for c in out]


def attention2_cases():
    out = []
    for _ in range(10):
        heads = R.choice([8, 12, 16, 32])
        out.append(
            (
                "flash_backward",
                "bf16",
                log(1, 16),
                heads,
                heads,
                *[log(256, 4096, 128)] * 2,
                R.choice([64, 128]),
                R.randint(0, 1),
            )
        )

    def build(c):
        def go():
            runs = [
                geometry_more.attention2(*c)
                for _ in range(sets_for(8 * 2 * c[2] * c[3] * c[5] * c[7], 8))
            ]
            return (lambda i: runs[i]()), len(runs)

        return go

    return [(c, build(c)) for c in out]


def rows_cases(small):
    out = []
    for op in rows.OPERATORS:
        if (op in SMALL_SETS) != small:
            continue
        for dtype in ("bf16", "bf16", "bf16", "fp32", "fp32"):
            r = log(16, 65536)
            out.append(
                (op, dtype, r, log(32, min(32768, max(64, (1 << 28) // r)), R.choice([1, 8, 64])))
            )

    def build(c):
        def go():
            size = 4 if c[1] == "fp32" else 2
            runs = [
                rows.call(*c) for _ in range(sets_for(3 * size * c[2] * c[3], 48 if small else 16))
            ]
            return (lambda i: runs[i]()), len(runs)

        return go

    return [(c, build(c)) for c in out]


def grouped_cases():
    out = []
    for _ in range(22):
        experts, topk = R.choice([(8, 2), (16, 4), (64, 6), (128, 8), (60, 4)])
        tokens, zipf = log(1, 16384), R.choice([0, 0.8])
        n, k = R.choice(
            [(28672, 4096), (1536, 2048), (2048, 768), (2816, 2048), (5760, 2880), (2048, 1408)]
        )
        weights = [1 / (1 + i) ** zipf for i in range(experts)]
        R.shuffle(weights)
        count = [0] * experts
        for _ in range(tokens):
            left = list(range(experts))
            for _ in range(topk):
                e = R.choices(left, [weights[i] for i in left])[0]
                left.remove(e)
                count[e] += 1
        total = sum(count)
        row = (
            "random",
            "bf16",
            experts,
            topk,
            tokens,
            total,
            n,
            k,
            "up",
            zipf,
            max(count),
            sum(c > 0 for c in count),
            " ".join(map(str, count)),
        )
        out.append((row, moe.build(experts, total, n, k, count)))
    return out


def conv_cases():
    out = []
    for _ in range(40):
        c, size = R.choice(
            [(64, 56), (128, 28), (256, 14), (512, 7), (96, 56), (192, 28), (384, 14), (3, 224)]
        )
        r = R.choice([1, 3, 3, 5, 7]) if c > 3 else R.choice([3, 7])
        groups = (
            R.choice([1, 1, 1, c if r > 1 else 1, 32 if c % 32 == 0 and r == 3 else 1])
            if c > 3
            else 1
        )
        stride = R.choice([1, 1, 2])
        k = c if groups > 1 else R.choice([64, 128, 256, 512])
        row = (
            R.choice(["bf16", "bf16", "fp16", "fp32"]),
            R.choice([1, 8, 32, 64, 128]),
            c,
            size,
            size,
            k,
            r,
            r,
            stride,
            r // 2,
            groups,
            R.choice(["nchw", "nhwc"]),
        )

        def build(row=row):
            z = 4 if row[0] == "fp32" else 2
            n = sets_for(z * row[1] * row[3] * row[4] * (row[2] + row[5] // row[8] ** 2), 24)
            runs = [geometry_more.conv(*row) for _ in range(n)]
            return (lambda i: runs[i]()), n

        out.append((row, build))
    return out


def tables():
    """Name, key columns, cases, seconds and options of each table. All cases are drawn, in this
    order, whatever is measured."""
    k = geometry_more.KEYS
    keys = ["op", "dtype", "rows", "cols"]
    return [
        ("gemm", gemm.COLS, gemm_cases(), 110, {}),
        ("gemm2", [*k["gemm2"].split(), "family"], gemm2_cases(), 40, {"min_ms": 30.0}),
        ("attention", attention.COLS, attention_cases(), 60, {}),
        ("attention2", attention.COLS, attention2_cases(), 25, {"min_ms": 25.0}),
        ("membound", keys, rows_cases(True), 60, {"min_ms": 20.0}),
        ("membound2", keys, rows_cases(False), 80, {"min_ms": 15.0}),
        ("grouped_gemm", moe.COLS, grouped_cases(), 40, {"chunk": 30}),
        ("conv", k["conv"].split(), conv_cases(), 40, {"min_ms": 20.0}),
    ]


if __name__ == "__main__":
    torch.manual_seed(1)
    for name, columns, cases, seconds, options in tables():
        if not ONLY or name in ONLY:
            sweep(name, columns, cases, seconds, **options)
