# Measures blocks of PyTorch's row kernels alone, and the rows of test/validation/rows_h200.csv.
# SPDX-License-Identifier: Apache-2.0
"""rows_chain.py OUT_FOLDER HOW_FOLDER: writes

rows_chain.csv  durations (CUPTI) of launches of one block, of one with a remainder, of one a
                multiprocessor, with operands in L2: the chains in libraries/pytorch-2.toml
rows_more.csv   latencies in a CUDA graph over 16 sets of operands

HOW_FOLDER has the timing protocol (common.py). About 50 s on one GPU. The numbers in the tree come
from an earlier form of this script, with operators of its own."""

import os
import sys

OUT, HOW = sys.argv[1:]
os.environ["OUT"] = OUT
sys.argv = sys.argv[:1]
sys.path[:0] = [HOW, os.path.dirname(os.path.abspath(__file__))]

import torch

import rows
from common import profile_cases, sets_for, time_graph, writer

CHAINS = (
    "copy fill add mul exp sigmoid tanh clamp relu gelu silu where dropout gelu_backward "
    "silu_backward cast_fp32 quantize_fp8 bias_add broadcast_mul strided_copy cat"
).split()
ALONE = [(1, 1024), (1, 1000), (132, 1024)]
MORE = (
    "sigmoid where dropout cat strided_copy bias_add silu_backward quantize_fp8 softmax "
    "log_softmax layer_norm rms_norm group_norm batch_norm softmax_backward layer_norm_backward "
    "rms_norm_backward cross_entropy"
).split()
SHAPES = [(16, 1024), (512, 4096), (4096, 1024), (8192, 4096), (16384, 256)]


def sets_of(op, dtype, r, c, count):
    """A function that launches the operator on set i of `count`."""
    calls = [rows.call(op, dtype, r, c) for _ in range(count)]
    return lambda i: calls[i % count]()


def cases(operators, shapes):
    return [(op, d, r, c) for op in operators for d in ("bf16", "fp32") for r, c in shapes]


def chains():
    file, out = writer("rows_chain", ["op", "dtype", "rows", "cols", "kernel_us"])
    with file:
        for case in cases(CHAINS, ALONE):
            run = sets_of(*case, 1)
            duration, _ = profile_cases([lambda run=run: (run, 1)])[0]
            out.writerow([*case, f"{duration:.3f}"])


def latencies():
    file, out = writer("rows_more", ["op", "dtype", "rows", "cols", "sets", "latency_us"])
    with file:
        for op, dtype, r, c in cases(MORE, SHAPES):
            count = sets_for(3 * r * c * (4 if dtype == "fp32" else 2), 16)
            latency = time_graph(sets_of(op, dtype, r, c, count), count, 10.0, 5.0)[0]
            out.writerow([op, dtype, r, c, count, f"{latency:.3f}"])
            torch.cuda.empty_cache()


if __name__ == "__main__":
    chains()
    latencies()
