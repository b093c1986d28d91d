# Asks rocm-origami, in an environment of its own, to order the tiles of tuned AMD kernels.
# SPDX-License-Identifier: Apache-2.0
"""Usage: ask_origami.py MACHINE gemm.csv OUT.csv

Writes a row for each product whose tuned kernel names its tile: version, the sizes, the tiles in
origami's order, and the wall time of ranking them. Candidates are all tiles that won somewhere,
each with every cache hint: origami takes a streaming hint to be a kernel of its own, and refuses
kernels without it where it helps. Its sizes of the chip are those that HIP reports of one.
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

HEADER = ["version", "dtype", "m", "n", "k", "order", "choice_us"]
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


def configs_of(candidates: list[Tile], hardware: Any, chip: Chip) -> list[Any]:
    types = getattr(origami.data_type_t, chip.fp8)
    instruction = hardware.get_recommended_matrix_instruction(types)
    configs = []
    for tile in candidates:
        for hint_a, hint_b in HINTS:
            config = origami.config_t()
            config.mt = origami.dim3_t(*tile)
            config.mi = instruction
            config.occupancy = 1
            config.cache_hints_a, config.cache_hints_b = hint_a, hint_b
            configs.append(config)
    return configs


def ordered(problem: Any, hardware: Any, configs: list[Any]) -> tuple[list[Tile], float]:
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        ranked = origami.rank_configs(problem, hardware, configs)
        seconds.append(time.perf_counter() - begin)
    tiles = (Tile(each.config.mt.m, each.config.mt.n, each.config.mt.k) for each in ranked)
    return list(dict.fromkeys(tiles)), statistics.median(seconds)


def main() -> int:
    chip = CHIPS[sys.argv[1]]
    winners = winners_of(Path(sys.argv[2]))
    hardware = hardware_of(chip)
    configs = configs_of(candidates_of(winners), hardware, chip)
    with Path(sys.argv[3]).open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(HEADER)
        for winner in winners:
            m, n, k = (int(winner.row[size]) for size in ("m", "n", "k"))
            tiles, seconds = ordered(problem_of(m, n, k, chip), hardware, configs)
            text = " ".join("x".join(map(str, tile)) for tile in tiles)
            dtype = winner.row["dtype"]
            out.writerow([origami.__version__, dtype, m, n, k, text, f"{seconds * 1e6:.2f}"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
