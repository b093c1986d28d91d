# Asks nvidia-matmul-heuristics, in an environment of its own, for tiles of the measured shapes.
# SPDX-License-Identifier: Apache-2.0
"""Usage: ask_nvmmh.py triton_gemm.csv OUT.csv

Writes a row for each configuration named: program, version, the shape, rank, the configuration, its
own estimate of the time, and the median wall time of a choice (warm; eight names, or the estimates
of all that were measured). The kernels that were measured do not cut along k, so it is told that
none can (SPLIT_K_KIND), in every mode: what it then names is nearer to what was measured.
"""

from __future__ import annotations

import csv
import ctypes
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nvMatmulHeuristics as nv  # noqa: N813
from tiles import Case, Config, times_of

NAMED = 8
REPEATS = 21
TYPES = "TST"  # bf16 operands, fp32 sums, bf16 result
LAYOUT = nv.NvMatmulHeuristicsMatmulLayout.NT_ROW_MAJOR  # A[m, k] B[n, k]^T
HEADER = ["program", "version", "m", "n", "k", "rank", *Config._fields, "estimate_us", "choice_us"]


class Opponent:
    """One target with one set of flags, for an H200 by its built-in description."""

    def __init__(self, name: str, target: str, flags: str) -> None:
        self.name = name
        self._it = nv.NvMatmulHeuristicsInterfaceEx(
            backend=nv.NvMatmulHeuristicsTarget[target],
            flags=nv.NvMatmulHeuristicsFlags[flags],
            gpu=nv.NvMatmulHeuristicsNvidiaGpu.H200_SXM,
        )
        self._backend = self._it.createBackend(self._it.target)
        none = ctypes.c_int(nv.NvMatmulHeuristicsSplitKKind.NONE)
        split = nv.NvMatmulHeuristicsBackendProperty.SPLIT_K_KIND
        self._it.setBackendValueProperty(
            self._backend, split, ctypes.byref(none), ctypes.sizeof(none)
        )

    def _problem(self, shape: tuple[int, int, int]) -> Any:
        return self._it.makeNvMatmulHeuristicsProblem(*shape, LAYOUT)

    def names(self, shape: tuple[int, int, int]) -> list[tuple[Config, float]]:
        """Its choices, in its order, with its estimates in microseconds."""
        found = self._it.getEx(self._problem(shape), NAMED, self._backend, TYPES)
        return [(config_of(each["kernel"]), each["runtime"] * 1e6) for each in found]

    def estimates(
        self, shape: tuple[int, int, int], configs: list[Config]
    ) -> list[tuple[Config, float]]:
        """Its estimates of given configurations. Its Python method for it calls one that is not
        there (0.1.0.27), so this calls the C function as its get() does."""
        problem = self._problem(shape)
        self._it._ensure_discovery_loaded(self._it.target, TYPES, LAYOUT)
        return [(each, self._seconds(problem, each) * 1e6) for each in configs]

    def _seconds(self, problem: Any, config: Config) -> float:
        kernel = self._it.nvmmhKernelConfiguration()
        across = 2 if config.warps == 4 or config.bm >= config.bn else 4
        down = config.warps // across
        kernel.cta[:] = config[:3]
        kernel.warp[:] = [config.bm // down, config.bn // across, config.bk]
        kernel.instr[:] = [16, 8, 16]  # as it names them for Triton
        kernel.splitK, kernel.loadStages, kernel.gridSwizzle = 1, config.stages, 8
        kernel.cluster[:] = [1, 1]
        return float(
            self._it.nvMatmulHeuristicsEstimateRuntime(
                self._it.handle,
                TYPES.encode(),
                self._it.target,
                ctypes.byref(problem),
                ctypes.byref(kernel),
                self._it.hardware_descriptor,
            )
        )


def config_of(kernel: Any) -> Config:
    warps = kernel.cta_tile_m // kernel.warp_tile_m * (kernel.cta_tile_n // kernel.warp_tile_n)
    slices = max(1, kernel.cta_tile_k // kernel.warp_tile_k)
    return Config(
        kernel.cta_tile_m, kernel.cta_tile_n, kernel.cta_tile_k, kernel.stages, warps * slices
    )


def asked(
    name: str, shapes: list[tuple[int, int, int]], answer: Callable[..., list[tuple[Config, float]]]
) -> Iterator[list[object]]:
    for shape in shapes:
        named = answer(shape)
        seconds = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            answer(shape)
            seconds.append(time.perf_counter() - begin)
        choice_us = f"{statistics.median(seconds) * 1e6:.1f}"
        for rank, (config, estimate) in enumerate(named, 1):
            yield [
                *(name, version("nvidia-matmul-heuristics"), *shape, rank, *config),
                *(f"{estimate:.3f}", choice_us),
            ]


def measured_configs(cases: dict[Case, dict[Config, float]]) -> list[Config]:
    return sorted({config for times in cases.values() for config in times})


def main() -> int:
    cases = times_of(Path(sys.argv[1]))
    shapes = list(dict.fromkeys((case.m, case.n, case.k) for case in cases))
    configs = measured_configs(cases)
    triton = Opponent("Triton target", "TRITON", "NONE")
    timed = "PERF_MODEL_BASED_AUTO_TUNING"
    refined = Opponent("Triton target, refined by its model", "TRITON", timed)
    cutlass = Opponent("CUTLASS 3 target, refined by its model", "CUTLASS3", timed)
    with Path(sys.argv[2]).open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEADER)
        for each in (triton, refined, cutlass):
            out.writerows(asked(each.name, shapes, each.names))
        name = "Triton target, its estimates of the measured"
        out.writerows(asked(name, shapes, lambda shape: triton.estimates(shape, configs)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
