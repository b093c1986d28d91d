# Emitted residual norms beside a copy of as many bytes.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

from typing import Any

import cases
import torch
from harness import (
    TOLERANCE,
    Bench,
    configured,
    synchronize,
    with_choice,
)
from orrery.torch import choice
from timing import microseconds, poisoned, randn, relative_error, set_count

import orrery


def norm_kernel(bench: Bench, config: orrery.AddRmsNormConfig) -> orrery.Kernel:
    return bench.device.load(orrery.add_rms_norm_program(config))


def norm_settings(cols: int) -> list[dict[str, Any]]:
    """The held forms that cover a row with 1, 2 or 4 vectors a thread, and the looped one."""
    aligned = cols % 8 == 0
    width = 8 if aligned else 1
    found: list[dict[str, Any]] = []
    for warps in (1, 2, 4, 8, 16, 24, 32):
        vectors = -(-cols // (width * 32 * warps))
        if vectors <= (4 if aligned else 32) and (warps == 1 or width * 16 * warps < cols):
            rows = 4 if warps == 1 else 1
            found.append({"rows": rows, "row_warps": warps, "vectors": vectors, "aligned": aligned})
    found.append({"row_warps": 8, "vectors": 2, "aligned": aligned, "looped": True})
    return found


def run_norm(bench: Bench, kernel: orrery.Kernel, tensors: list[torch.Tensor]) -> None:
    rows, cols = tensors[0].shape
    bench.launch(kernel, tensors, rows=rows, cols=cols)


def norm_error(tensors: list[torch.Tensor]) -> float:
    x, r, w, h, y = tensors
    sum_ = (x.double() + r.double()).bfloat16().double()
    scale = torch.rsqrt(sum_.square().mean(-1, keepdim=True) + 1e-5)
    return max(relative_error(h, sum_), relative_error(y, sum_ * scale * w.double()))


def norm_inputs(rows: int, cols: int) -> list[torch.Tensor]:
    return [
        randn(rows, cols),
        randn(rows, cols),
        randn(cols),
        poisoned(rows, cols),
        poisoned(rows, cols),
    ]


def check(bench: Bench) -> None:
    for rows, cols in cases.NORM_ODD:
        for settings in norm_settings(cols):
            config = configured(orrery.AddRmsNormConfig, settings)
            label, kernel = str(config), norm_kernel(bench, config)
            tensors = norm_inputs(rows, cols)
            run_norm(bench, kernel, tensors)
            synchronize(label)
            error = norm_error(tensors)
            if not error < TOLERANCE:
                bench.write(
                    family="add_rms_norm", shape=f"WRONG {rows}x{cols}", kernel=label, error=error
                )
    print("add_rms_norm: odd shapes done", flush=True)


def copy_us(nbytes: int, sets: int) -> float:
    """Copying as many bytes as the norm reads and writes."""
    flat = [torch.empty(nbytes // 2, dtype=torch.uint8, device="cuda") for _ in range(2 * sets)]

    def copy(i: int) -> None:
        flat[2 * i].copy_(flat[2 * i + 1])

    return microseconds(copy, sets)


def norm_us(bench: Bench, kernel: orrery.Kernel, inputs: list[list[torch.Tensor]]) -> float:
    def run(i: int) -> None:
        run_norm(bench, kernel, inputs[i])

    return microseconds(run, len(inputs))


def measure(bench: Bench) -> None:
    for rows, cols in cases.NORM_SHAPES:
        measure_shape(bench, rows, cols)


def measure_shape(bench: Bench, rows: int, cols: int) -> None:
    nbytes = 8 * rows * cols
    sets = set_count(nbytes)
    inputs = [norm_inputs(rows, cols) for _ in range(sets)]
    library_us = copy_us(nbytes, sets)
    configs = [configured(orrery.AddRmsNormConfig, one) for one in norm_settings(cols)]
    chosen = choice.add_rms_norm_config(rows, cols)
    for config in with_choice(configs, chosen):
        program = orrery.add_rms_norm_program(config)
        predicted = choice.predicted_us([program], {"rows": rows, "cols": cols})
        kernel = norm_kernel(bench, config)
        run_norm(bench, kernel, inputs[0])
        synchronize(str(config))
        error = norm_error(inputs[0])
        bench.write(
            family="add_rms_norm",
            shape=f"{rows}x{cols}",
            kernel=str(config),
            chosen=config is chosen,
            registers=kernel.facts.registers,
            error=error,
            measured_us=norm_us(bench, kernel, inputs),
            library="copy of as many bytes",
            library_us=library_us,
            predicted_us=predicted,
        )
