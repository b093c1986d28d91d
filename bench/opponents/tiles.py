# Choices of tiles, scored against measured times and against tuned winners.
# SPDX-License-Identifier: Apache-2.0
"""Two kinds of truth, two scores.

Measured configurations (triton_gemm.csv: kind, m, n, k, bm, bn, bk, stages, warps, latency_us):
every configuration has a time, so a choice has a *quality*, the least measured time over that of
the choice. A list of choices is worth its best one: what a tuner would find that tries them all.

Tuned winners (gemm.csv of an AMD chip): only the winner's tile is known, by its name in the column
`kernel`. A program orders the same candidates; what counts is the winner's place.

A program may name what was not measured. `nearest` stands for it: of the measured ones the least
distance in log2 of bm, bn, bk; then of stages, then of warps; then the first by its numbers.
"""

from __future__ import annotations

import csv
import math
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

FIRST = (1, 5, 8)  # how many choices are tried


class Config(NamedTuple):
    """One way to compute a product, as Triton's tuner sees it."""

    bm: int
    bn: int
    bk: int
    stages: int
    warps: int


class Case(NamedTuple):
    """A product, and the kind of kernel that computes it."""

    kind: str
    m: int
    n: int
    k: int


class Tile(NamedTuple):
    """Rows and columns of C, and the step along k."""

    m: int
    n: int
    k: int


def integers(row: Mapping[str, str], *columns: str) -> tuple[int, ...]:
    return tuple(int(row[column]) for column in columns)


def case_of(row: Mapping[str, str]) -> Case:
    return Case(row["kind"], *integers(row, "m", "n", "k"))


def config_of(row: Mapping[str, str]) -> Config:
    return Config(*integers(row, *Config._fields))


def times_of(path: Path, column: str = "latency_us") -> dict[Case, dict[Config, float]]:
    """Times of every configuration of every case; rows without one are left out."""
    times: dict[Case, dict[Config, float]] = defaultdict(dict)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row[column]:
                times[case_of(row)][config_of(row)] = float(row[column])
    return dict(times)


def distance(a: Config, b: Config) -> tuple[float, float, float]:
    logs = [abs(math.log2(x / y)) for x, y in zip(a, b, strict=True)]
    return (math.hypot(*logs[:3]), logs[3], logs[4])


def nearest(named: Config, measured: Iterable[Config]) -> Config:
    return min(measured, key=lambda each: (distance(named, each), each))


def order(estimates: Mapping[Config, float]) -> list[Config]:
    """Fastest first. Of those held equal, what fills most of shared memory, as tuners prefer."""

    def ring(config: Config) -> int:
        return (config.bm + config.bn) * config.bk * config.stages

    return sorted(estimates, key=lambda each: (estimates[each], -ring(each), each))


def quality(times: Mapping[Config, float], choices: Sequence[Config]) -> float:
    """Of the best of `choices`, each the measured one nearest to it; 1 is the best there is."""
    return min(times.values()) / min(times[nearest(each, times)] for each in choices)


@dataclass(frozen=True)
class Quality:
    """Geometric mean and worst over cases, by how many choices are tried."""

    cases: int
    mean: dict[int, float]
    worst: dict[int, float]


def qualities(
    measured: Mapping[Case, Mapping[Config, float]],
    choices: Mapping[Case, Sequence[Config]],
) -> Quality:
    """Over the cases that `choices` answers."""
    answered = [case for case in measured if choices.get(case)]
    each = {
        first: [quality(measured[case], choices[case][:first]) for case in answered]
        for first in FIRST
    }
    return Quality(
        len(answered),
        {first: statistics.geometric_mean(each[first]) for first in FIRST} if answered else {},
        {first: min(each[first]) for first in FIRST} if answered else {},
    )


def mean_error(
    measured: Mapping[Case, Mapping[Config, float]],
    estimated: Mapping[Case, Mapping[Config, float]],
) -> float | None:
    """Mean |estimated / measured - 1| over every configuration with both."""
    errors = [
        abs(estimated[case][config] / time - 1)
        for case, times in measured.items()
        for config, time in times.items()
        if config in estimated.get(case, {})
    ]
    return statistics.fmean(errors) if errors else None


def other_shapes(measured: Mapping[Case, Mapping[Config, float]]) -> dict[Case, list[Config]]:
    """No model at all: the configurations that are best on the mean of the other shapes."""
    choices = {}
    for case, times in measured.items():
        others = [
            each for key, each in measured.items() if key.kind == case.kind and key[1:] != case[1:]
        ]
        worth = {
            config: statistics.geometric_mean(quality(each, [config]) for each in others)
            for config in times
        }
        choices[case] = sorted(worth, key=lambda each: (-worth[each], each))
    return choices


# Names of tuned kernels: composable_kernel's as AITER writes them (scale block, then threads x
# rows x columns x step), and macro tiles as hipBLASLt and Orrery write them.
NAMES = (
    re.compile(r"a8w8_blockscale_1x128x128_\d+x(\d+)x(\d+)x(\d+)_"),
    re.compile(r"(?:^|_)MT(\d+)x(\d+)x(\d+)(?:_|$)"),
)


def tile_of(kernel: str) -> Tile | None:
    for name in NAMES:
        if found := name.search(kernel):
            return Tile(*(int(size) for size in found.groups()))
    return None


@dataclass(frozen=True)
class Winner:
    """A row of gemm.csv whose kernel names its tile."""

    row: Mapping[str, str]
    tile: Tile

    @property
    def m(self) -> int:
        return int(self.row["m"])


def winners_of(path: Path) -> list[Winner]:
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["batch"] == "1"]
    return [Winner(row, tile) for row in rows if (tile := tile_of(row["kernel"]))]


def candidates_of(winners: Iterable[Winner]) -> list[Tile]:
    """Every tile that won somewhere."""
    return sorted({winner.tile for winner in winners})


def cuts(winner: Winner, tile: Tile, units: int) -> list[int]:
    """Slices along k that AITER's tuner may try: powers of two, as long as the workgroups are no
    more than the compute units and a slice has more than half a step (compute_gemm_SplitK)."""
    m, n, k = integers(winner.row, "m", "n", "k")
    workgroups = math.ceil(m / tile.m) * math.ceil(n / tile.n)
    found = [1]
    while workgroups * found[-1] * 2 <= units and found[-1] * 2 * tile.k < 2 * k:
        found.append(found[-1] * 2)
    return found


def place(tile: Tile, ordered: Sequence[Tile]) -> int:
    """From 1; behind all where it is not among them."""
    return ordered.index(tile) + 1 if tile in ordered else len(ordered) + 1


def commonest(winners: Sequence[Winner]) -> list[list[Tile]]:
    """No model at all: tiles by how often they win, the row itself not counted."""
    count: dict[Tile, int] = defaultdict(int)
    for winner in winners:
        count[winner.tile] += 1
    return [
        sorted(count, key=lambda tile: (-(count[tile] - (tile == winner.tile)), tile))
        for winner in winners
    ]


def share_within(places: Sequence[int], first: int) -> float:
    return sum(each <= first for each in places) / len(places) if places else 0.0
