# Measures latent attention, sliding windows and packed lengths on a GPU.
# SPDX-License-Identifier: Apache-2.0
"""attention_mla_window.csv: MLA (192 / 128 and absorbed 576 / 512), sliding windows and packed
lengths of the cases in test/validation/attention_mla_window.csv, timed as attention.csv is.
About 45 s. HOW=folder of the measured tables' scripts (common.py) OUT=folder CASES=folder of that
table attention_mla_window.py [BUDGET_S]"""

import os
import sys

sys.path.insert(0, os.environ.get("HOW", "."))
import common
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

COLUMNS = (
    "backend dtype batch heads kv_heads seq_q seq_kv head_dim head_dim_v causal window lengths"
).split()
BACKEND = {
    "flash": SDPBackend.FLASH_ATTENTION,
    "cudnn": SDPBackend.CUDNN_ATTENTION,
    "efficient": SDPBackend.EFFICIENT_ATTENTION,
}


def random(*sizes):
    return torch.randn(*sizes, device="cuda", dtype=torch.bfloat16)


def own_layout(case, sets, tokens_q, tokens_kv, lengths):
    """FlashAttention's own operator: batch, tokens, heads, or packed."""

    def shape(tokens):
        return (tokens,) if lengths else (case["batch"], tokens // case["batch"])

    q = [random(*shape(tokens_q), case["heads"], case["head_dim"]) for _ in range(sets)]
    k = [random(*shape(tokens_kv), case["kv_heads"], case["head_dim"]) for _ in range(sets)]
    v = [random(*shape(tokens_kv), case["kv_heads"], case["head_dim_v"]) for _ in range(sets)]
    starts = None
    if lengths:
        sums = [sum(lengths[:i]) for i in range(len(lengths) + 1)]
        starts = torch.tensor(sums, device="cuda", dtype=torch.int32)
    window = {}
    if case["window"]:
        window = {"window_size_left": case["window"], "window_size_right": 0}

    def run(i):
        return torch.ops.aten._flash_attention_forward(
            q[i], k[i], v[i], starts, starts, case["seq_q"], case["seq_kv"], 0.0,
            bool(case["causal"]), False, **window,
        )  # fmt: skip

    return run


def build(*values):
    case = dict(zip(COLUMNS, values, strict=True))
    lengths = [int(x) for x in str(case["lengths"]).split()]

    def go():
        tokens_q = sum(lengths) or case["batch"] * case["seq_q"]
        tokens_kv = sum(lengths) or case["batch"] * case["seq_kv"]
        dims = case["head_dim"] + case["head_dim_v"]
        heads = tokens_q * case["heads"] + tokens_kv * case["kv_heads"]
        sets = common.sets_for(2 * heads * dims, 24)
        if case["window"] or lengths:
            return own_layout(case, sets, tokens_q, tokens_kv, lengths), sets
        b, kv = case["batch"], case["kv_heads"]
        q = [random(b, case["heads"], case["seq_q"], case["head_dim"]) for _ in range(sets)]
        k = [random(b, kv, case["seq_kv"], case["head_dim"]) for _ in range(sets)]
        v = [random(b, kv, case["seq_kv"], case["head_dim_v"]) for _ in range(sets)]

        def run(i):
            with sdpa_kernel(BACKEND[case["backend"]]):
                return F.scaled_dot_product_attention(
                    q[i], k[i], v[i], is_causal=bool(case["causal"])
                )

        return run, sets

    return go


if __name__ == "__main__":
    cases = common.read_cases("attention_mla_window", COLUMNS)
    built = [(case, build(*case)) for case in cases]
    common.sweep("attention_mla_window", COLUMNS, built, common.budget())
