# Asks rocm-origami, in an environment of its own, to order the tiles of tuned AMD kernels.
# SPDX-License-Identifier: Apache-2.0
"""Usage: ask_origami.py MACHINE GRID gemm.csv OUT.csv

Writes a row for each product whose tuned kernel names its tile: version, the sizes, the tiles in
origami's order, its time of the winner, and the wall time of ranking them. Candidates are all tiles
that won somewhere, each with every cache hint: origami takes a streaming hint to be a kernel of its
own, and refuses kernels without it where it helps. GRID is how it cuts along k: k_split_aware, its
own rule and default, or data_parallel, not at all. Sizes of the chip are those that HIP reports.
"""

from __future__ import annotations

import csv
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import origami
from tiles import Tile, candidates_of, winners_of

HEADER = ["version", "dtype", "m", "n", "k", "order", "winner_us", "choice_us"]
REPEATS = 5
HINTS = ((0, 0), (4, 0), (0, 4))  # of A and B; 4: streaming


@dataclass(frozen=True)
class Chip:
    architecture: str
    units: int
    lds: int
    l2: int  # of an XCD
    khz: int
    fp8: str


CHIPS = {
    "mi300x": Chip("gfx942", 304, 64 << 10, 4 << 20, 2_100_000, "Float8_fnuz"),
    "mi355x": Chip("gfx950", 256, 160 << 10, 4 << 20, 2_400_000, "Float8"),
}


def hardware_of(chip: Chip) -> Any:
    architecture = getattr(origami.architecture_t, chip.architecture)
    return origami.get_hardware_for_arch(architecture, chip.units, chip.lds, chip.l2, chip.khz)


def problem_of(m: int, n: int, k: int, chip: Chip) -> Any:
    """A[m, k] B[n, k]^T of fp8 with a bf16 result; it has no scales of 128-blocks."""
    problem = origami.problem_t()
    problem.size = origami.dim3_t(m, n, k)
    problem.batch = 1
    problem.a_transpose, problem.b_transpose = origami.transpose_t.T, origami.transpose_t.N
    problem.a_dtype = problem.b_dtype = problem.mi_dtype = getattr(origami.data_type_t, chip.fp8)
    problem.c_dtype = problem.d_dtype = origami.data_type_t.BFloat16
    return problem


def configs_of(candidates: list[Tile], hardware: Any, chip: Chip, grid: Any) -> list[Any]:
    types = getattr(origami.data_type_t, chip.fp8)
    instruction = hardware.get_recommended_matrix_instruction(types)
    configs = []
    for tile in candidates:
        for hint_a, hint_b in HINTS:
            config = origami.config_t()
            config.mt = origami.dim3_t(*tile)
            config.mi = instruction
            config.occupancy, config.grid_selection = 1, grid
            config.cache_hints_a, config.cache_hints_b = hint_a, hint_b
            configs.append(config)
    return configs


def ordered(problem: Any, hardware: Any, configs: list[Any]) -> tuple[dict[Tile, float], float]:
    """Tiles with their times in microseconds, fastest first, and the seconds of ranking them."""
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        ranked = origami.rank_configs(problem, hardware, configs)
        seconds.append(time.perf_counter() - begin)
    told: dict[Tile, float] = {}
    for each in ranked:
        tile = Tile(each.config.mt.m, each.config.mt.n, each.config.mt.k)
        told.setdefault(tile, each.latency / hardware.compute_clock_ghz / 1e3)  # of clocks
    return told, statistics.median(seconds)


def main() -> int:
    chip = CHIPS[sys.argv[1]]
    grid = getattr(origami.grid_selection_t, sys.argv[2])
    winners = winners_of(Path(sys.argv[3]))
    hardware = hardware_of(chip)
    configs = configs_of(candidates_of(winners), hardware, chip, grid)
    with Path(sys.argv[4]).open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEADER)
        for winner in winners:
            m, n, k = (int(winner.row[size]) for size in ("m", "n", "k"))
            told, seconds = ordered(problem_of(m, n, k, chip), hardware, configs)
            text = " ".join("x".join(map(str, tile)) for tile in told)
            estimate = f"{told[winner.tile]:.3f}" if winner.tile in told else ""
            sizes = (winner.row["dtype"], m, n, k)
            out.writerow([origami.__version__, *sizes, text, estimate, f"{seconds * 1e6:.2f}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
