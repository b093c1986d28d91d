# Measures products of many shapes on a GPU, with the kernels taken.
# SPDX-License-Identifier: Apache-2.0
"""gemm_survey.csv: which of its older kernels cuBLAS takes: random fp32, tf32 and odd bf16 / fp16
shapes (and few rows: gemv), timed as gemm.csv is (shorter window), with kernel names and launch
geometry. About 50 s.
HOW=folder of the measured tables' scripts OUT=folder gemm_survey.py [BUDGET_S]"""

import random

from gemm_types import COLS, budget, survey
import gemm

R = random.Random(7)


def log(lo, hi, step=1):
    return max(lo, round(lo * (hi / lo) ** R.random() / step) * step)


def draw(dt, few=False):
    step = 8 if dt in ("fp32", "tf32") else 1
    while True:
        m = R.choice([1, 1, 2, 3, 4, 6, 8, 16]) if few else log(16, 12288, step)
        n, k = log(32, 12288, step), log(32, 8192, step)
        if 2.0 * m * n * k <= (4e10 if dt == "fp32" else 1.5e11) and m * n <= 3e8:
            break
    if step == 1:  # one of n, k (or both) is not a multiple of 8
        if R.random() < 0.5:
            n, k = n // 2 * 2, k // 2 * 2
        if n % 8 == 0 and k % 8 == 0:
            k += R.choice([1, 2, 4])
    return m, n, k


def odd_fp32():
    m, n, k = draw("fp32")
    return m + R.choice([0, 1, 3]), n + R.choice([0, 1, 2]), k + R.choice([1, 2, 3])


def cases():
    out = []
    add = lambda dt, fam, s: out.append(((dt, 1, *s, fam), gemm.build(dt, 1, *s)))
    for _ in range(100):
        add("fp32", "fp32", draw("fp32"))
    for i in range(110):
        d = "bf16" if i % 2 else "fp16"
        add(d, "odd", draw(d))
    for _ in range(50):
        add("tf32", "tf32", draw("tf32"))
    for i in range(30):
        d = ("fp32", "bf16", "fp16")[i % 3]
        add(d, "few_rows", draw(d, few=True))
    for _ in range(12):
        add("fp32", "odd_fp32", odd_fp32())
        add("tf32", "odd_tf32", odd_fp32())
    for s in (
        (1, 4096, 4096),
        (1, 14336, 4096),
        (2, 4096, 4096),
        (8, 4096, 4096),
        (1, 4096, 14336),
        (1, 128256, 4096),
    ):
        for d in ("bf16", "fp16", "fp32", "tf32"):
            add(d, "gemv", s)
    return out


if __name__ == "__main__":
    survey("gemm_survey", COLS, cases(), budget(), min_ms=15.0)
