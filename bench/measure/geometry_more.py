# Lists launch geometry of the kernels of measured cases.
# SPDX-License-Identifier: Apache-2.0
"""geometry_more.csv: grid, block, registers, shared memory and duration of every kernel of one
call, for the cases of membound2, gemm2, attention2 and conv tables.
geometry_more.py TABLES_FOLDER OUT_FOLDER"""

import csv
import json
import os
import sys
import tempfile

import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

import rows

KEYS = {
    "membound2": "op dtype rows cols",
    "gemm2": "dtype m n k layout",
    "attention2": "backend dtype batch heads kv_heads seq_q seq_kv head_dim causal",
    "conv": "dtype batch c h w k r s stride pad groups layout",
}


def gemm2(dtype, m, n, k, layout):
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    d = {"tf32": torch.float32, **rows.DT}[dtype]
    a = (
        torch.randn(m, k, device="cuda", dtype=d)
        if layout[0] == "n"
        else torch.randn(k, m, device="cuda", dtype=d).t()
    )
    b = (
        torch.randn(k, n, device="cuda", dtype=d)
        if layout[1] == "n"
        else torch.randn(n, k, device="cuda", dtype=d).t()
    )
    o = torch.empty(m, n, device="cuda", dtype=d)
    return lambda: torch.mm(a, b, out=o)


def attention2(*case):
    _, dtype, b, h, kv, sq, skv, d, causal = case
    make = lambda heads, seq: torch.randn(b, heads, seq, d, device="cuda", dtype=rows.DT[dtype])
    q, k, v = make(h, sq), make(kv, skv), make(kv, skv)
    aten = torch.ops.aten
    out, lse, cum_q, cum_k, max_q, max_k, seed, offset, _ = (
        aten._scaled_dot_product_flash_attention(q, k, v, 0.0, bool(causal))
    )
    grad = torch.randn(b, h, sq, d, device="cuda", dtype=rows.DT[dtype])
    saved = (out, lse, cum_q, cum_k, max_q, max_k, 0.0, bool(causal), seed, offset)
    return lambda: aten._scaled_dot_product_flash_attention_backward(grad, q, k, v, *saved)


def conv(*case):
    dtype, batch, c, h, w, k, r, s, stride, pad, groups, layout = case
    form = torch.channels_last if layout == "nhwc" else torch.contiguous_format
    x = torch.randn(batch, c, h, w, device="cuda", dtype=rows.DT[dtype]).to(memory_format=form)
    f = torch.randn(k, c // groups, r, s, device="cuda", dtype=rows.DT[dtype]).to(
        memory_format=form
    )
    return lambda: F.conv2d(x, f, None, stride, pad, 1, groups)


BUILD = {"membound2": rows.call, "gemm2": gemm2, "attention2": attention2, "conv": conv}


def chunk_events(cases, build):
    """The profiler's events of one call of each case, split by spin kernels."""
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for case in cases:
            try:
                run = build(*case)
                run()
                torch.cuda.synchronize()
                torch.cuda._sleep(2000)
                run()
                torch.cuda._sleep(2000)
                torch.cuda.synchronize()
            except Exception as error:
                print("skipped", case, str(error)[:120])
                torch.cuda._sleep(2000)
                torch.cuda._sleep(2000)
            run = None
    torch.cuda.empty_cache()
    trace = os.path.join(tempfile.mkdtemp(), "trace.json")
    p.export_chrome_trace(trace)
    with open(trace) as t:
        events = [
            e
            for e in json.load(t)["traceEvents"]
            if e.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy")
        ]
    return sorted(events, key=lambda e: e["ts"])


def main():
    tables, out = sys.argv[1:3]
    join = lambda a: "x".join(map(str, a))
    with open(os.path.join(out, "geometry_more.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow("family case kernel grid block registers shared_memory duration_us".split())
        for table, keys in KEYS.items():
            with open(os.path.join(tables, table + ".csv"), newline="") as g:
                cases = [
                    tuple(int(r[c]) if r[c].isdigit() else r[c] for c in keys.split())
                    for r in csv.DictReader(g)
                ]
            for start in range(0, len(cases), 40):
                part, inside, i = cases[start : start + 40], False, -1
                for e in chunk_events(part, BUILD[table]):
                    if "spin_kernel" in e["name"]:
                        inside = not inside
                        i += inside
                    elif inside and i < len(part):
                        a = e.get("args", {})
                        w.writerow(
                            [
                                table,
                                " ".join(map(str, part[i])),
                                e["name"][:300],
                                join(a.get("grid", [])),
                                join(a.get("block", [])),
                                a.get("registers per thread", ""),
                                a.get("shared memory", ""),
                                f"{e['dur']:.2f}",
                            ]
                        )
            f.flush()
            print(table, len(cases), flush=True)


if __name__ == "__main__":
    main()
