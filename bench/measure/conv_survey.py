# Measures convolutions of nets and of random sizes on a GPU.
# SPDX-License-Identifier: Apache-2.0
"""conv_survey.csv: latency of 990 convolutions of today's nets and of random sizes in a CUDA graph,
cold L2; conv_kernels.csv: the kernels of 2,177 (grid, block, registers, shared memory, duration).
conv_survey.py MEASURING_FOLDER OUT_FOLDER; the first holds common.py (sets_for, time_graph)"""

import csv
import json
import os
import random
import statistics as st
import sys
import tempfile
import time

sys.path.insert(0, sys.argv[1])
import torch
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile

OUT = sys.argv[2]
KERNEL_BUDGET = 55.0
LATENCY_BUDGET = 40.0
DT = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
# c.h.k.r.s.stride.pad.groups: layers of today's nets
NETS = [
    tuple(map(int, text.split(".")))
    for text in """
    3.224.64.7.7.2.3.1 64.56.64.1.1.1.0.1 64.56.64.3.3.1.1.1 64.56.256.1.1.1.0.1
    256.56.64.1.1.1.0.1 256.56.128.1.1.1.0.1 128.56.128.3.3.2.1.1 128.28.512.1.1.1.0.1
    256.56.512.1.1.2.0.1 512.28.128.1.1.1.0.1 128.28.128.3.3.1.1.1 512.28.256.1.1.1.0.1
    256.28.256.3.3.2.1.1 256.14.1024.1.1.1.0.1 512.28.1024.1.1.2.0.1 1024.14.256.1.1.1.0.1
    256.14.256.3.3.1.1.1 1024.14.512.1.1.1.0.1 512.14.512.3.3.2.1.1 512.7.2048.1.1.1.0.1
    1024.14.2048.1.1.2.0.1 2048.7.512.1.1.1.0.1 512.7.512.3.3.1.1.1 64.56.128.3.3.2.1.1
    64.56.128.1.1.2.0.1 128.28.256.3.3.2.1.1 256.14.512.3.3.2.1.1 3.224.64.3.3.1.1.1
    64.224.64.3.3.1.1.1 64.112.128.3.3.1.1.1 128.112.128.3.3.1.1.1 128.56.256.3.3.1.1.1
    256.56.256.3.3.1.1.1 256.28.512.3.3.1.1.1 512.28.512.3.3.1.1.1 512.14.512.3.3.1.1.1
    3.224.32.3.3.2.1.1 3.224.16.3.3.2.1.1 32.112.32.3.3.1.1.32 32.112.16.1.1.1.0.1
    16.112.96.1.1.1.0.1 96.112.96.3.3.2.1.96 96.56.24.1.1.1.0.1 24.56.144.1.1.1.0.1
    144.56.144.3.3.1.1.144 144.56.144.3.3.2.1.144 144.56.144.5.5.2.2.144 144.28.40.1.1.1.0.1
    40.28.240.1.1.1.0.1 240.28.240.5.5.1.2.240 240.28.240.3.3.2.1.240 240.14.80.1.1.1.0.1
    80.14.480.1.1.1.0.1 480.14.480.3.3.1.1.480 480.14.480.5.5.1.2.480 480.14.112.1.1.1.0.1
    112.14.672.1.1.1.0.1 672.14.672.5.5.1.2.672 672.14.672.5.5.2.2.672 672.7.192.1.1.1.0.1
    192.7.1152.1.1.1.0.1 1152.7.1152.5.5.1.2.1152 1152.7.320.1.1.1.0.1 320.7.1280.1.1.1.0.1
    144.1.6.1.1.1.0.1 960.1.240.1.1.1.0.1 120.1.32.1.1.1.0.1 3.224.96.4.4.4.0.1
    96.56.96.7.7.1.3.96 192.28.192.7.7.1.3.192 384.14.384.7.7.1.3.384 768.7.768.7.7.1.3.768
    96.56.192.2.2.2.0.1 192.28.384.2.2.2.0.1 384.14.768.2.2.2.0.1 3.224.768.16.16.16.0.1
    3.224.1024.14.14.14.0.1 3.224.384.16.16.16.0.1 4.64.320.3.3.1.1.1 320.64.320.3.3.1.1.1
    320.64.320.3.3.2.1.1 320.32.640.3.3.1.1.1 640.32.640.3.3.1.1.1 320.32.640.1.1.1.0.1
    640.16.1280.3.3.1.1.1 1280.16.1280.3.3.1.1.1 2560.16.1280.3.3.1.1.1 1280.8.1280.3.3.1.1.1
    960.64.320.3.3.1.1.1 320.64.4.3.3.1.1.1 128.128.128.3.3.1.1.1 512.64.512.3.3.1.1.1
    128.256.3.3.3.1.1.1 32.56.128.3.3.1.1.4 128.56.128.3.3.1.1.32 256.56.256.3.3.2.1.32
    256.28.256.3.3.1.1.32 512.14.512.3.3.1.1.32 1024.7.1024.3.3.1.1.32 224.56.224.3.3.1.1.4
    448.28.448.3.3.1.1.8 896.14.896.3.3.1.1.16 2016.7.2016.3.3.1.1.36 64.56.64.3.3.1.1.2
    256.28.256.3.3.1.1.4 128.56.32.3.3.1.1.1 128.28.32.3.3.1.1.1 128.14.32.3.3.1.1.1
    128.7.32.3.3.1.1.1 96.56.128.1.1.1.0.1 416.14.128.1.1.1.0.1 768.17.192.1.7.1.0.1
    """.split()
]


def random_case(rng):
    c = rng.choice([8, 12, 16, 24, 32, 40, 48, 64, 72, 96, 128, 160, 200, 256, 320, 512, 768])
    k = rng.choice([8, 16, 24, 32, 48, 64, 96, 100, 128, 160, 200, 256, 320, 512, 768])
    h = rng.choice([7, 8, 13, 14, 16, 20, 28, 31, 32, 40, 56, 64, 80, 112])
    r = rng.choice([1, 1, 3, 3, 3, 5, 5, 7])
    stride = rng.choice([1, 1, 1, 2])
    if rng.random() < 0.15:
        return (c, h, c, r if r > 1 else 3, r if r > 1 else 3, stride, (r if r > 1 else 3) // 2, c)
    return (c, h, k, r, r, stride, r // 2, 1)


def cases():
    out = []
    for batch in (1, 8, 64, 32, 256):
        for dt in ("bf16", "fp32", "fp16"):
            if dt == "fp16" and batch not in (8,):
                continue
            if dt == "fp32" and batch not in (1, 64):
                continue
            if batch in (32, 256) and dt != "bf16":
                continue
            for lay in ("nchw", "nhwc"):
                for s in NETS:
                    out.append((dt, batch, *s, lay))
    rng = random.Random(7)
    for _ in range(420):
        out.append(
            (
                rng.choice(["bf16", "fp16", "fp16", "fp32"]),
                rng.choice([1, 2, 4, 8, 16, 32, 64, 128]),
                *random_case(rng),
                rng.choice(["nchw", "nhwc"]),
            )
        )
    out = [c for c in dict.fromkeys(out) if cost(c)[0] < 1.2e9 and cost(c)[1] < 1.5e12]
    rng.shuffle(out)
    return out


def cost(c):
    dt, b, ch, h, k, r, s, stride, pad, g, _lay = c
    e = 4 if dt == "fp32" else 2
    p, q = (h + 2 * pad - r) // stride + 1, (h + 2 * pad - s) // stride + 1
    return e * (
        b * ch * h * h + k * ch // g * r * s + b * k * p * q
    ), 2.0 * b * k * p * q * ch // g * r * s


def build(c, sets=1):
    dt, b, ch, h, k, r, s, stride, pad, g, lay = c
    fmt = torch.channels_last if lay == "nhwc" else torch.contiguous_format
    xs = [
        torch.randn(b, ch, h, h, device="cuda", dtype=DT[dt]).contiguous(memory_format=fmt)
        for _ in range(sets)
    ]
    ws = [
        torch.randn(k, ch // g, r, s, device="cuda", dtype=DT[dt]).contiguous(memory_format=fmt)
        for _ in range(sets)
    ]
    return lambda i: F.conv2d(xs[i], ws[i], None, stride, pad, 1, g)


COLS = "dtype batch c h k r s stride pad groups layout".split()


def traced(part, flush):
    """The cases of part that ran, and per case three lists of its device events, L2 cold."""
    trace = os.path.join(tempfile.mkdtemp(), "trace.json")
    good = []
    with profile(activities=[ProfilerActivity.CUDA]) as p:
        for c in part:
            try:
                run = build(c)
                run(0)
                torch.cuda.synchronize()
            except Exception as e:
                print(c, str(e)[:100])
                continue
            good.append(c)
            for _ in range(3):
                flush.max()
                torch.cuda._sleep(2000)  # spin kernels mark where a call begins and ends
                run(0)
                torch.cuda._sleep(2000)
            torch.cuda.synchronize()
    p.export_chrome_trace(trace)
    with open(trace) as t:
        kinds = ("kernel", "gpu_memset", "gpu_memcpy")
        events = [e for e in json.load(t)["traceEvents"] if e.get("cat") in kinds]
    events.sort(key=lambda e: e["ts"])
    groups, inside = [], False
    for e in events:
        if "spin_kernel" in e["name"]:
            inside = not inside
            groups += [[]] if inside else []
        elif inside:
            groups[-1].append(e)
    return [(c, groups[3 * i : 3 * i + 3]) for i, c in enumerate(good)]


def rows_of(c, reps):
    x = lambda a: "x".join(map(str, a))
    for j, e in enumerate(reps[0]):
        a = e.get("args", {})
        sizes = [x(a.get("grid", [])), x(a.get("block", []))]
        sizes += [a.get("registers per thread", ""), a.get("shared memory", "")]
        yield [*c, j, e["name"][:400], *sizes, f"{st.median(g[j]['dur'] for g in reps):.3f}"]


def kernels(todo):
    flush = torch.zeros(160 << 20, dtype=torch.uint8, device="cuda")
    start = time.time()
    with open(os.path.join(OUT, "conv_kernels.csv"), "w", newline="") as f:
        w = csv.writer(f)
        w.writerow([*COLS, *"index kernel grid block registers shared_memory duration_us".split()])
        for c0 in range(0, len(todo), 100):
            if time.time() - start > KERNEL_BUDGET:
                break
            for c, reps in traced(todo[c0 : c0 + 100], flush):
                if len(reps) == 3 and len({len(g) for g in reps}) == 1:
                    w.writerows(rows_of(c, reps))


def latencies(todo):
    from common import sets_for, time_graph

    start = time.time()
    with open(os.path.join(OUT, "conv_survey.csv"), "w", newline="") as f:
        w = csv.writer(f)
        sizes = "dtype batch c h w k r s stride pad groups layout"
        w.writerow([*sizes.split(), "latency_us", "min_us", "sm_mhz", "watts"])
        for c in todo:
            if time.time() - start > LATENCY_BUDGET:
                break
            sets = sets_for(int(cost(c)[0]), 24)
            try:
                median, least, mhz, watts = time_graph(build(c, sets), sets, 20.0)
            except Exception as e:
                print(c, str(e)[:100])
                continue
            dt, batch, ch, h, *rest = c
            w.writerow(
                [dt, batch, ch, h, h, *rest, f"{median:.3f}", f"{least:.3f}", mhz, f"{watts:.0f}"]
            )
            f.flush()


if __name__ == "__main__":
    todo = cases()
    print(len(todo), "cases")
    kernels(todo)
    torch.cuda.empty_cache()
    latencies(todo)
