# Emitted decode attention beside PyTorch's backends.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cases
import torch
from harness import (
    TOLERANCE,
    Bench,
    Shape,
    configured,
    label_of,
    synchronize,
    with_choice,
)
from orrery.torch import choice
from timing import microseconds, poisoned, randn, relative_error, set_count

import orrery


def decode_runner(bench: Bench, config: orrery.DecodeConfig) -> tuple[int, Callable[..., None]]:
    """Registers and run(q, k, v, o, scratch) of one configuration."""
    attention = bench.device.load(orrery.decode_attention_program(config))
    combine = None
    if config.parts > 1:
        combine = bench.device.load(orrery.decode_combine_program(config))

    def run(
        q: torch.Tensor,
        k: torch.Tensor,
        v: torch.Tensor,
        o: torch.Tensor,
        scratch: list[torch.Tensor],
    ) -> None:
        b, h, s, _ = k.shape
        extents = {"b": b, "h": h, "g": q.shape[1] // h}
        if combine is None:
            bench.launch(attention, [q, k, v, o], s=s, **extents)
        else:
            bench.launch(attention, [q, k, v, *scratch], s=s, **extents)
            bench.launch(combine, [*scratch, o], **extents)

    return attention.facts.registers, run


def decode_settings(b: int, h: int, s: int, d: int) -> list[dict[str, Any]]:
    """Tiles of 64 and 128 keys; as many parts as fill the SMs about once or twice."""
    found = []
    for tile_s, ring, ctas in ((64, 3, 2), (64, 6, 1), (128, 3, 1)):
        if d == 64:
            ring *= 2
        tiles = -(-s // tile_s)
        full = max(1, 132 * ctas // (b * h))
        for parts in sorted({1, full, 2 * full}):
            if parts <= max(1, tiles // 2) and (parts > 1 or b * h * 2 >= 132 or tiles < 4):
                found.append(
                    {
                        "head_dim": d,
                        "tile_s": tile_s,
                        "ring": ring,
                        "parts": parts,
                        "ctas_per_sm": ctas,
                    }
                )
    return found


def decode_scratch(config: orrery.DecodeConfig, b: int, h: int, g: int) -> list[torch.Tensor]:
    if config.parts == 1:
        return []
    rows = (config.parts, b, h, g)
    return [
        poisoned(*rows, config.head_dim, dtype=torch.float32),
        poisoned(*rows, dtype=torch.float32),
        poisoned(*rows, dtype=torch.float32),
    ]


def decode_reference(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """float64 on one batch entry at a time: the caches are large."""
    b, h, _, d = k.shape
    outs = []
    for i in range(b):
        scores = q[i].double().view(h, -1, d) @ k[i].double().transpose(-1, -2) / d**0.5
        outs.append((torch.softmax(scores, -1) @ v[i].double()).reshape(-1, d))
    return torch.stack(outs)


def decode_error(bench: Bench, config: orrery.DecodeConfig, shape: Shape) -> float:
    b, heads, h, s, d = shape
    _, run = decode_runner(bench, config)
    q, k, v, o = randn(b, heads, d), randn(b, h, s, d), randn(b, h, s, d), poisoned(b, heads, d)
    run(q, k, v, o, decode_scratch(config, b, h, heads // h))
    synchronize(f"{config} {shape}")
    return relative_error(o, decode_reference(q, k, v))


def check(bench: Bench) -> None:
    for shape in cases.DECODE_ODD:
        for parts in (1, 2, 5):
            for tile_s in (64, 128):
                settings = {
                    "head_dim": shape[-1],
                    "tile_s": tile_s,
                    "ring": 3,
                    "parts": parts,
                    "ctas_per_sm": 1,
                }
                config = configured(orrery.DecodeConfig, settings)
                error = decode_error(bench, config, shape)
                if not error < TOLERANCE:
                    bench.write(
                        family="decode_attention",
                        shape=f"WRONG {shape}",
                        kernel=str(config),
                        error=error,
                    )
    print("decode_attention: odd shapes done", flush=True)


Caches = list[tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]]


def attention_times(inputs: Caches) -> dict[str, float]:
    """Microseconds of PyTorch's backends."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def library(i: int) -> None:
        q, k, v, _ = inputs[i]
        torch.nn.functional.scaled_dot_product_attention(q.unsqueeze(2), k, v, enable_gqa=True)

    times: dict[str, float] = {}
    for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
        with sdpa_kernel(backend):
            try:
                times[backend.name] = microseconds(library, len(inputs))
            except RuntimeError as error:
                print(f"{backend.name}: {error}", flush=True)
    return times


def decode_us(run: Callable[..., None], inputs: Caches, scratch: list[torch.Tensor]) -> float:
    def once(i: int) -> None:
        run(*inputs[i], scratch)

    return microseconds(once, len(inputs))


def measure(bench: Bench) -> None:
    for shape in cases.DECODE_SHAPES:
        decode_shape(bench, shape)


def decode_shape(bench: Bench, shape: Shape) -> None:
    b, heads, h, s, d = shape
    sets = set_count(4 * b * h * s * d)
    inputs: Caches = [
        (randn(b, heads, d), randn(b, h, s, d), randn(b, h, s, d), poisoned(b, heads, d))
        for _ in range(sets)
    ]
    reference = decode_reference(inputs[0][0][:2], inputs[0][1][:2], inputs[0][2][:2])
    times = attention_times(inputs)
    name = min(times, key=lambda key: times[key])
    base = orrery.DecodeConfig()
    base.head_dim = d
    extents = {"b": b, "h": h, "g": heads // h, "s": s}
    chosen = choice.decode_config(b, h, heads // h, s, base)
    configs = [configured(orrery.DecodeConfig, one) for one in decode_settings(b, h, s, d)]
    for config in with_choice(configs, chosen):
        predicted = choice.predicted_us(choice.decode_programs(config), extents)
        registers, run = decode_runner(bench, config)
        scratch = decode_scratch(config, b, h, heads // h)
        inputs[0][3].fill_(float("nan"))
        run(*inputs[0], scratch)
        synchronize(label_of(config))
        error = relative_error(inputs[0][3][:2], reference)
        bench.write(
            family="decode_attention",
            shape="x".join(map(str, shape)),
            kernel=label_of(config),
            chosen=config is chosen,
            registers=registers,
            error=error,
            measured_us=decode_us(run, inputs, scratch),
            library=name,
            library_us=times[name],
            predicted_us=predicted,
        )
