# Times FlashAttention 2 over packed sequences: a chunk behind its cache beside decoding sequences.
# SPDX-License-Identifier: Apache-2.0
"""python bench/measure/packed_attention.py OUT.csv: on a GPU with PyTorch 2.11.

One call of the variable-length entry in a CUDA graph, replayed over several caches of keys, so that
they come from DRAM. `layout` token: keys lie [token][head][dim], as projections write them; head:
[head][token][dim]. Each result is compared with attention in float32 before it is timed.
"""

import csv
import itertools
import statistics
import sys

import torch

L2_FLUSH = 320 << 20  # bytes of all caches together
WARM_MS, WINDOW_MS = 15.0, 20.0
MODELS = [(32, 8, 128), (32, 8, 64), (28, 4, 128), (16, 16, 64), (64, 8, 128), (8, 8, 128)]
STEPS = [  # chunk, behind, decodes, context of each
    (96, 16384, 0, 0),
    (128, 16384, 0, 0),
    (128, 65536, 0, 0),
    (256, 16384, 0, 0),
    (384, 4096, 0, 0),
    (1024, 16384, 0, 0),
    (3072, 4096, 0, 0),
    (64, 0, 8, 4096),
    (64, 0, 8, 16384),
    (64, 0, 48, 1024),
    (256, 1024, 48, 4096),
    (1024, 4096, 128, 1024),
    (128, 4096, 1, 16384),
    (128, 24576, 48, 1024),
    (384, 24576, 8, 4096),
    (768, 0, 128, 3072),
]
# One long sequence of few rows beside 1, 2, 3 .. short ones: who shares an SM with whom.
BESIDE = [(128, 24576, decodes, 1024) for decodes in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24)]
BESIDE += [(128, 49152, 4, context) for context in (64, 1024, 4096)]
BESIDE += [(256, 24576, decodes, 1024) for decodes in (1, 2, 4, 8)]


def lengths(step):
    chunk, behind, decodes, context = step
    queries = [chunk] * (chunk > 0) + [1] * decodes
    keys = [chunk + behind] * (chunk > 0) + [context] * decodes
    return queries, keys


def offsets(sizes):
    total = [0]
    for size in sizes:
        total.append(total[-1] + size)
    return torch.tensor(total, device="cuda", dtype=torch.int32)


def cache(keys, heads, dim, layout):
    if layout == "token":
        return torch.randn(keys, heads, dim, device="cuda", dtype=torch.bfloat16)
    return torch.randn(heads, keys, dim, device="cuda", dtype=torch.bfloat16).transpose(0, 1)


def reference(q, k, v, queries, keys):
    """Of the first and the last sequence, in float32."""
    results, at_q, at_k = {}, 0, 0
    for i, (nq, nk) in enumerate(zip(queries, keys, strict=True)):
        if i in (0, len(queries) - 1):
            rows = range(0, nq, max(1, nq // 4))
            group = q.shape[1] // k.shape[1]
            ks = k[at_k : at_k + nk].float().repeat_interleave(group, 1)
            vs = v[at_k : at_k + nk].float().repeat_interleave(group, 1)
            for row in rows:
                seen = nk - nq + row + 1
                scores = torch.einsum("hd,khd->hk", q[at_q + row].float(), ks[:seen])
                weights = torch.softmax(scores / q.shape[2] ** 0.5, -1)
                results[at_q + row] = torch.einsum("hk,khd->hd", weights, vs[:seen])
        at_q, at_k = at_q + nq, at_k + nk
    return results


def time_graph(run, sets):
    for i in range(sets):
        run(i)
    torch.cuda.synchronize()
    calls = max(sets, 6)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(calls):
            run(i % sets)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    once = max(1e-3, begin.elapsed_time(end))
    for _ in range(max(1, int(WARM_MS / once))):
        graph.replay()
    count = max(5, min(400, int(WINDOW_MS / once)))
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for event in events[1:]:
        graph.replay()
        event.record()
    torch.cuda.synchronize()
    times = [a.elapsed_time(b) * 1e3 / calls for a, b in itertools.pairwise(events)]
    return statistics.median(times), min(times)


def measure(model, step, layout):
    heads, kv_heads, dim = model
    queries, keys = lengths(step)
    total_q, total_k = sum(queries), sum(keys)
    size = 2 * total_k * kv_heads * dim * 2
    sets = max(1, min(16, -(-L2_FLUSH // size)))
    pairs = [[cache(total_k, kv_heads, dim, layout) for _ in range(2)] for _ in range(sets)]
    q = torch.randn(total_q, heads, dim, device="cuda", dtype=torch.bfloat16)
    ends = offsets(queries), offsets(keys)

    def run(i):
        return torch.ops.aten._flash_attention_forward(
            q, *pairs[i], *ends, max(queries), max(keys), 0.0, True, False
        )[0]

    result = run(0)
    wrong = max(
        ((result[row].float() - ref).norm() / ref.norm()).item()
        for row, ref in reference(q, *pairs[0], queries, keys).items()
    )
    if not wrong < 2e-2:
        raise ValueError(f"relative error: got {wrong}, need below 2e-2")
    return time_graph(run, sets)


def main():
    with open(sys.argv[1], "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(
            "heads kv_heads head_dim chunk chunk_context decodes decode_context layout "
            "latency_us min_us".split()
        )
        for model in MODELS:
            for step in STEPS + BESIDE:
                for layout in ("token", "head") if step in STEPS else ("token",):
                    median, least = measure(model, step, layout)
                    rows.writerow([*model, *step, layout, f"{median:.2f}", f"{least:.2f}"])
                    file.flush()
                    torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
