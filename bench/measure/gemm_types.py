# Measures int8, block-scaled fp8 and 4-bit products on a GPU.
# SPDX-License-Identifier: Apache-2.0
"""gemm_types.csv: int8, fp8 with 128-blocks and int4 weights through PyTorch's own entry points
(torch._int_mm, torch._scaled_mm with 1x128 and 128x128 block scales, torch._weight_int4pack_mm),
timed as gemm.csv is, with kernel names and launch geometry. About 25 s.
HOW=folder of the measured tables' scripts (common.py) OUT=folder gemm_types.py [BUDGET_S]"""

import json
import os
import sys
import tempfile
import time

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, os.environ["HOW"])
from common import budget, sets_for, time_graph, writer

COLS = ["dtype", "batch", "m", "n", "k", "family"]
# (n, k) of decoders: llama3-8b qkv, o, gate_up, down; 70b o; deepseek-v3 q_b, o, shared gate_up,
# q_a + kv_a, shared down
NK = [
    (6144, 4096),
    (4096, 4096),
    (28672, 4096),
    (4096, 14336),
    (8192, 8192),
    (24576, 1536),
    (7168, 16384),
    (4096, 7168),
    (2112, 7168),
    (7168, 2048),
]


def shapes():
    """20 shapes: every (n, k) twice, once with few rows and once with many."""
    few, many = (
        [1, 16, 64, 4, 32, 128, 8, 1, 64, 16],
        [2048, 8192, 512, 4096, 1024, 2048, 512, 8192, 256, 4096],
    )
    return [(m, n, k) for (n, k), m in zip(NK, few, strict=False)] + [
        (m, n, k) for (n, k), m in zip(NK, many, strict=False)
    ]


def sets(m, n, k, sizes):
    """Copies to rotate among; sizes: bytes of an element of weight, activation and result."""
    wbytes, abytes, obytes = sizes
    return sets_for(int(n * k * wbytes + m * k * abytes + m * n * obytes))


def int8(m, n, k):
    def go():
        ns = sets(m, n, k, (1, 1, 4))
        a = [torch.randint(-128, 127, (m, k), device="cuda", dtype=torch.int8) for _ in range(ns)]
        b = [torch.randint(-128, 127, (n, k), device="cuda", dtype=torch.int8) for _ in range(ns)]
        return (lambda i: torch._int_mm(a[i], b[i].t())), ns

    return go


def block_scale(n, k):
    """Scales of 128x128 blocks of an operand, padded along k to a multiple of 4 for cuBLASLt."""
    kb = -(-k // 128)
    s = torch.rand(-(-n // 128), -(-kb // 4) * 4, device="cuda") + 0.5
    return s, kb


def fp8_block(m, n, k):
    def go():
        ns = sets(m, n, k, (1, 1, 2))
        a = [torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn) for _ in range(ns)]
        b = [torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn) for _ in range(ns)]
        kb = -(-k // 128)
        scale_a = [
            (torch.rand(kb, m, device="cuda") + 0.5).t() for _ in range(ns)
        ]  # (m, kb), outer-dim-major
        scale_b = [block_scale(n, k)[0] for _ in range(ns)]
        v1 = lambda i: torch._scaled_mm(
            a[i], b[i].t(), scale_a[i], scale_b[i][:, :kb].t(), out_dtype=torch.bfloat16
        )

        def v2(i, padded):
            import torch.nn.functional as F

            kind = F.ScalingType
            sb = scale_b[i].t() if padded else scale_b[i][:, :kb].t()
            return F.scaled_mm(
                a[i],
                b[i].t(),
                scale_a[i],
                kind.BlockWise1x128,
                sb,
                kind.BlockWise128x128,
                output_dtype=torch.bfloat16,
            )

        errors = []
        for run in (v1, lambda i: v2(i, True), lambda i: v2(i, False)):
            try:
                run(0)
                torch.cuda.synchronize()
                return run, ns
            except Exception as e:
                errors.append(str(e)[:200])
        raise RuntimeError(" // ".join(errors))

    return go


def w4a16(m, n, k):
    def go():
        ns = sets(m, n, k, (0.5, 2, 2))
        a = [torch.randn(m, k, device="cuda", dtype=torch.bfloat16) for _ in range(ns)]
        b = [
            torch.ops.aten._convert_weight_to_int4pack(
                torch.randint(0, 255, (n, k // 2), device="cuda", dtype=torch.uint8), 8
            )
            for _ in range(ns)
        ]
        scales = [
            torch.rand(k // 128, n, 2, device="cuda", dtype=torch.bfloat16) for _ in range(ns)
        ]
        return (lambda i: torch._weight_int4pack_mm(a[i], b[i], 128, scales[i])), ns

    return go


def names_and_geometry(part):
    """Per case: (summed kernel us, names, 'grid;block;registers;shared memory' per kernel)."""
    trace = os.path.join(tempfile.mkdtemp(), "trace.json")
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for build in part:
            run = None
            try:
                run, ns = build()
                run(0)
                torch.cuda.synchronize()
                torch.cuda._sleep(2000)
                run(min(1, ns - 1))
                torch.cuda._sleep(2000)
                torch.cuda.synchronize()
            except Exception:
                torch.cuda._sleep(2000)
                torch.cuda._sleep(2000)
            run = None
    torch.cuda.empty_cache()
    p.export_chrome_trace(trace)
    with open(trace) as t:
        ev = [
            e
            for e in json.load(t)["traceEvents"]
            if e.get("cat") in ("kernel", "gpu_memset", "gpu_memcpy")
        ]
    ev.sort(key=lambda e: e["ts"])
    out, inside = [[] for _ in part], False
    i = -1
    x = lambda a: "x".join(map(str, a))
    for e in ev:
        if "spin_kernel" in e["name"]:
            inside = not inside
            i += inside
        elif inside and i < len(part):
            a = e.get("args", {})
            out[i].append(
                (
                    e["dur"],
                    e["name"][:150],
                    ";".join(
                        [
                            x(a.get("grid", [])),
                            x(a.get("block", [])),
                            str(a.get("registers per thread", "")),
                            str(a.get("shared memory", "")),
                        ]
                    ),
                )
            )
    return [
        (sum(d for d, _, _ in c), "|".join(n for _, n, _ in c), "|".join(g for _, _, g in c))
        for c in out
    ]


def survey(name, cols, cases, budget_s=float("inf"), min_ms=40.0):
    t0, n, chunk = time.time(), 0, 40
    f, w = writer(
        name, [*cols, "latency_us", "min_us", "kernel_us", "sm_mhz", "watts", "kernels", "geometry"]
    )
    with f:
        for c0 in range(0, len(cases), chunk):
            if time.time() - t0 > budget_s:
                print(f"{name}: budget spent at case {c0} of {len(cases)}")
                break
            part, timed = cases[c0 : c0 + chunk], []
            for row, build in part:
                run = None
                try:
                    run, ns = build()
                    timed.append(time_graph(run, ns, min_ms))
                except Exception as e:
                    print(name, row, "refused:", str(e)[:500].replace("\n", " "))
                    timed.append(None)
                run = None
                torch.cuda.empty_cache()
            got = names_and_geometry([b for _, b in part])
            for (row, _), t, g in zip(part, timed, got, strict=False):
                if t is None:
                    continue
                n += 1
                w.writerow(
                    [
                        *list(row),
                        f"{t[0]:.3f}",
                        f"{t[1]:.3f}",
                        f"{g[0]:.3f}",
                        t[2],
                        f"{t[3]:.0f}",
                        g[1],
                        g[2],
                    ]
                )
            f.flush()
    print(f"{name}: {n} rows of {len(cases)}, {time.time() - t0:.0f} s", flush=True)


if __name__ == "__main__":
    cases = []
    for dt, build, least in (("fp8_block", fp8_block, 1), ("int8", int8, 17), ("w4a16", w4a16, 1)):
        for m, n, k in shapes():
            m = max(m, least)
            if dt == "int8" and m == 17:
                m = 32  # _int_mm wants more than 16 rows
            cases.append(((dt, 1, m, n, k, "llm"), build(m, n, k)))
    survey("gemm_types", COLS, cases, budget())
