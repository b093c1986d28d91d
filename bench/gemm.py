# Emitted GEMMs beside cuBLAS.
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

GELU = orrery.linear_epilogue(True, orrery.Activation.Gelu, True)


def gemm_runner(bench: Bench, config: orrery.GemmConfig) -> tuple[int, Callable[..., None]]:
    """Registers and run(a, b, extra operands, c, scratch) of one configuration."""
    product = bench.device.load(orrery.gemm_program(config))
    combine = None
    if config.parts > 1:
        combine = bench.device.load(orrery.gemm_combine_program(config))

    def run(
        a: torch.Tensor,
        b: torch.Tensor,
        extra: list[torch.Tensor],
        c: torch.Tensor,
        partial: torch.Tensor | None,
    ) -> None:
        m, k = a.shape
        n = b.shape[0]
        if combine is None or partial is None:
            bench.launch(product, [a, b, *extra, c], m=m, n=n, k=k)
        else:
            bench.launch(product, [a, b, partial], m=m, n=n, k=k)
            bench.launch(combine, [partial, *extra, c], m=m, n=n)

    return product.facts.registers, run


def partial_for(config: orrery.GemmConfig, m: int, n: int) -> torch.Tensor | None:
    return poisoned(config.parts, m, n, dtype=torch.float32) if config.parts > 1 else None


def check_gemm(bench: Bench, config: orrery.GemmConfig, shape: Shape, epilogue: bool) -> float:
    m, n, k = shape
    if epilogue:
        config = orrery.GemmConfig(config)
        config.epilogue = GELU
    _, run = gemm_runner(bench, config)
    a, b, bias, residual = randn(m, k), randn(n, k), randn(n), randn(m, n)
    c = poisoned(m, n)
    run(a, b, [bias, residual] if epilogue else [], c, partial_for(config, m, n))
    synchronize(f"{config} {shape}")
    reference = a.double() @ b.double().t()
    if epilogue:
        reference = torch.nn.functional.gelu(reference + bias.double()) + residual.double()
    return relative_error(c, reference)


def check(bench: Bench) -> None:
    tried: dict[str, orrery.GemmConfig] = {}
    for shape in cases.GEMM_SHAPES:
        for config in gemm_candidates(shape, fused=False):
            tried[label_of(config)] = config
    for label, config in tried.items():
        for shape in cases.GEMM_ODD:
            error = check_gemm(bench, config, shape, epilogue=shape[0] != 257)
            if not error < TOLERANCE:
                bench.write(family="gemm", shape=f"WRONG {shape}", kernel=label, error=error)
    print(f"gemm: {len(tried)} configurations on odd shapes done", flush=True)


def measure(bench: Bench) -> None:
    for shape in cases.GEMM_SHAPES:
        gemm_shape(bench, shape, fused=False)
    for shape in cases.FUSED_SHAPES:
        gemm_shape(bench, shape, fused=True)


def gemm_candidates(shape: Shape, fused: bool) -> list[orrery.GemmConfig]:
    base = orrery.GemmConfig()
    settings = cases.gemm_configs(*shape)
    if fused:
        base.epilogue = GELU
        settings = [dict(one, epilogue=GELU) for one in settings]
    configs = [configured(orrery.GemmConfig, one) for one in settings]
    m, n, k = shape
    return with_choice(configs, choice.gemm_config(m, n, k, base))


Inputs = list[tuple[torch.Tensor, torch.Tensor, list[torch.Tensor], torch.Tensor]]


def gemm_us(run: Callable[..., None], inputs: Inputs, partial: torch.Tensor | None) -> float:
    def once(i: int) -> None:
        run(*inputs[i], partial)

    return microseconds(once, len(inputs))


def gemm_shape(bench: Bench, shape: Shape, fused: bool) -> None:
    """One shape: cuBLAS before, the candidates, cuBLAS after."""
    m, n, k = shape
    sets = set_count(2 * (m * k + n * k + (2 if fused else 1) * m * n))
    bias = randn(n)
    inputs: Inputs = [
        (randn(m, k), randn(n, k), [bias, randn(m, n)] if fused else [], poisoned(m, n))
        for _ in range(sets)
    ]
    reference = inputs[0][0].float() @ inputs[0][1].float().t()
    if fused:
        reference = torch.nn.functional.gelu(reference + bias) + inputs[0][2][1]

    def library(i: int) -> None:
        a, b, extra, c = inputs[i]
        if fused:
            torch.add(torch.nn.functional.gelu(torch.addmm(bias, a, b.t())), extra[1], out=c)
        else:
            torch.mm(a, b.t(), out=c)

    before = microseconds(library, sets)
    rows: list[dict[str, Any]] = []
    for config in gemm_candidates(shape, fused):
        predicted = choice.predicted_us(choice.gemm_programs(config), {"m": m, "n": n, "k": k})
        registers, run = gemm_runner(bench, config)
        partial = partial_for(config, m, n)
        inputs[0][3].fill_(float("nan"))
        run(*inputs[0], partial)
        synchronize(label_of(config))
        rows.append(
            {
                "kernel": label_of(config),
                "chosen": not rows,
                "registers": registers,
                "error": relative_error(inputs[0][3], reference),
                "measured_us": gemm_us(run, inputs, partial),
                "predicted_us": predicted,
            }
        )
    best = min(before, microseconds(library, sets))
    family = "gemm_gelu" if fused else "gemm"
    for row in rows:
        bench.write(
            family=family,
            shape=f"{m}x{n}x{k}",
            **row,
            library="cublas, gelu, add" if fused else "cublas",
            library_us=best,
        )
