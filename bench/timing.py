# Timing on the device: CUDA graphs over input sets that together exceed the L2 cache.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable

import torch

COLD_BYTES = 320 << 20  # several times the 50 MB of L2: each launch finds its inputs evicted
MOST_SETS = 48


def set_count(bytes_of_one: int) -> int:
    """How many input sets make every launch start with a cold cache."""
    return max(1, min(MOST_SETS, -(-COLD_BYTES // max(1, bytes_of_one))))


def microseconds(run: Callable[[int], None], sets: int, least_ms: float = 20.0) -> float:
    """Median time of one `run(i)`, i going round the input sets, replayed from a CUDA graph.

    The first 8 ms warm the clock up; then each replay of the graph is one sample.
    """
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    calls = max(sets, 6)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        run(0)
        run(min(1, sets - 1))
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for call in range(calls):
            run(call % sets)
    once = replay_ms(graph, 1)[0]
    replay_ms(graph, max(1, min(400, int(8.0 / once))))
    samples = replay_ms(graph, max(5, min(200, int(least_ms / once))))
    return statistics.median(samples) * 1e3 / calls


def replay_ms(graph: torch.cuda.CUDAGraph, times: int) -> list[float]:
    """Milliseconds of each of `times` replays."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(times + 1)]
    events[0].record()
    for event in events[1:]:
        graph.replay()
        event.record()
    torch.cuda.synchronize()
    return [first.elapsed_time(second) for first, second in itertools.pairwise(events)]


def relative_error(out: torch.Tensor, reference: torch.Tensor) -> float:
    """Norm of the difference over the norm of the reference; nan if `out` is not finite."""
    if not bool(torch.isfinite(out).all()):
        return float("nan")
    difference = (out.double() - reference.double()).norm()
    return float(difference / reference.double().norm())


def poisoned(*shape: int, dtype: torch.dtype = torch.bfloat16) -> torch.Tensor:
    """An output tensor full of NaN: what a kernel forgets to write shows."""
    return torch.full(shape, float("nan"), dtype=dtype, device="cuda")


def randn(*shape: int) -> torch.Tensor:
    """Normal bfloat16 inputs."""
    return torch.randn(*shape, device="cuda", dtype=torch.float32).bfloat16()
