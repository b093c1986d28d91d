# The scoreboard of tile choices: Orrery and two other choosers on the same products, in one run.
# SPDX-License-Identifier: Apache-2.0
"""Usage: tile_scoreboard.py H200_FOLDER PUBLIC_FOLDER ENVIRONMENTS [--out FOLDER]

H200_FOLDER holds triton_gemm.csv; PUBLIC_FOLDER/MACHINE/gemm.csv are AITER's tuned products;
ENVIRONMENTS is what environments.sh made. Prints two Markdown tables, and with --out writes
tiles_h200.csv and tiles_amd.csv there. tiles.py says how choices are scored.

Time of a choice: of the others the median wall time of the call in a warm interpreter; of Orrery
the wall time of the whole command with its start, shared among its choices (a choice is the
prediction of every candidate of a product).
"""

from __future__ import annotations

import argparse
import csv
import datetime
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import tiles
from tiles import FIRST, Case, Config, Tile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KINDS = ("ptr", "tma", "persist", "all")
PLACES = (1, 3, 8)
UNITS = {"mi300x": 304, "mi355x": 256}  # compute units
NO_MODEL = "no model: best on the other shapes"
COMMONEST = "no model: the commonest winners"

Choices = dict[Case, list[Config]]
Times = dict[Case, dict[Config, float]]


class Answer(NamedTuple):
    """What one program chose, and how long a choice took."""

    program: str
    version: str
    choices: Choices
    choice_us: float | None
    estimates: Times  # in microseconds, where it has them


def ask(environment: Path, script: str, *arguments: str) -> list[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "answers.csv"
        command = [str(environment / "bin/python"), str(HERE / script), *arguments, str(out)]
        subprocess.run(command, check=True)
        with out.open(newline="") as file:
            return list(csv.DictReader(file))


def nvmmh(environment: Path, table: Path, measured: Times) -> list[Answer]:
    """A row of answers for each of its modes; it knows no kinds, so each kind gets the same."""
    named: dict[str, dict[tuple[int, ...], list[dict[str, str]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in ask(environment, "ask_nvmmh.py", str(table)):
        named[row["program"]][tiles.integers(row, "m", "n", "k")].append(row)
    answers = []
    for program, shapes in named.items():
        choices: Choices = {}
        estimates: Times = {}
        for case, times in measured.items():
            rows = shapes[case[1:]]
            choices[case] = [tiles.config_of(row) for row in rows]
            if "estimates" in program:
                told = {tiles.config_of(row): float(row["estimate_us"]) for row in rows}
                estimates[case] = {config: told[config] for config in times}
                choices[case] = tiles.order(estimates[case])
        rows = [rows[0] for rows in shapes.values()]
        median = statistics.median(float(row["choice_us"]) for row in rows)
        version = f"nvidia-matmul-heuristics {rows[0]['version']}"
        name = f"nvMatmulHeuristics, {program}"
        answers.append(Answer(name, version, choices, median, estimates))
    return answers


def validated(
    program: str, table: Path, out: Path, *options: str
) -> tuple[list[dict[str, str]], float]:
    """Rows of `orrery validate`, and the seconds that it took."""
    begin = time.perf_counter()
    subprocess.run(
        [program, "validate", str(table), *options, "--out", str(out)],
        check=False,
        stdout=subprocess.DEVNULL,
    )
    seconds = time.perf_counter() - begin
    if not out.is_file():
        return [], seconds
    with out.open(newline="") as file:
        return list(csv.DictReader(file)), seconds


def version_of(program: str) -> str:
    said = subprocess.run([program, "--version"], check=True, capture_output=True, text=True)
    return said.stdout.strip().splitlines()[0]


def ordered_choices(measured: Times, predicted: Times) -> Choices:
    """Cases of which nothing was predicted have no choice."""
    known = {
        case: {c: predicted[case][c] for c in times if c in predicted[case]}
        for case, times in measured.items()
        if case in predicted
    }
    return {case: tiles.order(times) for case, times in known.items() if times}


def orrery_h200(program: str, table: Path, measured: Times, by: str) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "predicted.csv"
        rows, seconds = validated(program, table, out, "--machine", "h200", "--by", by)
        predicted = tiles.times_of(out, "predicted_us") if rows else {}
    choices = ordered_choices(measured, predicted)
    microseconds = seconds / len(measured) * 1e6 if choices else None
    return Answer(f"Orrery, by {by}", version_of(program), choices, microseconds, predicted)


def given_h200(text: str, microseconds: float | None, measured: Times) -> Answer:
    """NAME=FILE of --predicted."""
    name, _, path = text.partition("=")
    predicted = tiles.times_of(Path(path), "predicted_us")
    return Answer(name, "-", ordered_choices(measured, predicted), microseconds, predicted)


def h200_header() -> list[str]:
    columns = [column for first in FIRST for column in (f"first {first}", f"worst of {first}")]
    return ["date", "program", "version", "kind", "cases", *columns, "us a choice", "time error %"]


def h200_cells(answer: Answer, measured: Times, kind: str) -> list[str]:
    asked = {case: times for case, times in measured.items() if kind in ("all", case.kind)}
    score = tiles.qualities(asked, answer.choices)
    cells = [
        f"{table[first]:.3f}" if score.cases else "-"
        for first in FIRST
        for table in (score.mean, score.worst)
    ]
    answered = f"{score.cases} of {len(asked)}"
    error = percent(tiles.mean_error(asked, answer.estimates))
    took = microseconds_of(answer.choice_us)
    return [today(), answer.program, answer.version, kind, answered, *cells, took, error]


def microseconds_of(choice_us: float | None) -> str:
    return "-" if choice_us is None else f"{choice_us:.{0 if choice_us >= 100 else 1}f}"


def percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def today() -> str:
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def h200_table(arguments: argparse.Namespace) -> list[list[str]]:
    table = arguments.h200 / "triton_gemm.csv"
    measured = tiles.times_of(table)
    plain = tiles.other_shapes(measured)
    answers = [
        given_h200(each, arguments.predicted_us, measured) for each in arguments.predicted
    ] or [orrery_h200(arguments.orrery, table, measured, by) for by in ("cost", "device")]
    answers += nvmmh(arguments.environments / "nvmmh", table, measured)
    answers.append(Answer(NO_MODEL, "-", plain, None, {}))
    return [h200_cells(answer, measured, kind) for kind in KINDS for answer in answers]


class Ranking(NamedTuple):
    """Candidates of each winner in one program's order."""

    program: str
    version: str
    orders: Sequence[Sequence[Tile]]
    winner_us: Sequence[float | None]  # its estimate of the kernel that was measured
    choice_us: float | None


def orrery_amd(program: str, machine: str, winners: Sequence[tiles.Winner], cut: bool) -> Ranking:
    """Each winner's row once for each candidate, named in its column `kernel`. Where some of the
    tuner's kernels were cut along k, which no name tells, a tile is as fast as its best cut."""
    candidates = tiles.candidates_of(winners)
    named = [
        (i, tile, slices)
        for i, winner in enumerate(winners)
        for tile in candidates
        for slices in (tiles.cuts(winner, tile, UNITS[machine]) if cut else [1])
    ]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "gemm.csv"
        with table.open("w", newline="") as file:
            out = csv.DictWriter(file, list(winners[0].row))
            out.writeheader()
            for i, tile, slices in named:
                name = "MT" + "x".join(map(str, tile)) + (f"_split{slices}" if slices > 1 else "")
                out.writerow({**winners[i].row, "kernel": name})
        options = ("--machine", machine, "--given", "kernel")
        rows, seconds = validated(program, table, Path(folder) / "out.csv", *options)
    told: list[dict[Tile, float]] = [{} for _ in winners]
    for (i, tile, _), row in zip(named, rows, strict=True):
        if row["predicted_us"]:
            told[i][tile] = min(float(row["predicted_us"]), told[i].get(tile, float("inf")))
    orders = [[tile for _, tile in sorted(zip(each.values(), each, strict=True))] for each in told]
    winner_us = [each.get(winner.tile) for each, winner in zip(told, winners, strict=True)]
    choice_us = seconds / len(winners) * 1e6
    name = "Orrery, cut as the tuner may" if cut else "Orrery, not cut"
    return Ranking(name, version_of(program), orders, winner_us, choice_us)


def origami_amd(
    environment: Path, machine: str, table: Path, winners: Sequence[tiles.Winner], cut: bool
) -> Ranking:
    grid = "k_split_aware" if cut else "data_parallel"
    rows = ask(environment, "ask_origami.py", machine, grid, str(table))
    assert len(rows) == len(winners)
    orders = [[Tile(*map(int, text.split("x"))) for text in row["order"].split()] for row in rows]
    median = statistics.median(float(row["choice_us"]) for row in rows)
    winner_us = [float(row["winner_us"]) if row["winner_us"] else None for row in rows]
    version = f"rocm-origami {rows[0]['version']}"
    name = "rocm-origami, cut by its own rule" if cut else "rocm-origami, not cut"
    return Ranking(name, version, orders, winner_us, median)


AMD_HEADER = [
    *("date", "machine", "rows", "of them", "candidates", "program", "version"),
    *(f"first {first} %" for first in PLACES),
    "us a choice",
    "time error %",
]


def amd_cells(
    machine: str,
    ranking: Ranking,
    winners: Sequence[tiles.Winner],
    part: Mapping[str, Sequence[int]],
) -> list[list[str]]:
    places = [
        tiles.place(winner.tile, order)
        for winner, order in zip(winners, ranking.orders, strict=True)
    ]
    count = str(len(tiles.candidates_of(winners)))
    errors = [
        None if us is None else abs(us / float(winner.row["latency_us"]) - 1)
        for winner, us in zip(winners, ranking.winner_us, strict=True)
    ]
    lines = []
    for name, rows in part.items():
        shares = [100 * tiles.share_within([places[i] for i in rows], f) for f in PLACES]
        known = [error for i in rows if (error := errors[i]) is not None]
        lines.append(
            [
                *(today(), machine, name, str(len(rows)), count, ranking.program, ranking.version),
                *(f"{share:.1f}" for share in shares),
                microseconds_of(ranking.choice_us),
                percent(statistics.fmean(known) if known else None),
            ]
        )
    return lines


def amd_table(arguments: argparse.Namespace, machine: str) -> list[list[str]]:
    table = arguments.public / machine / "gemm.csv"
    winners = tiles.winners_of(table)
    origami = arguments.environments / "origami"
    rankings = [
        *(orrery_amd(arguments.orrery, machine, winners, cut) for cut in (False, True)),
        *(origami_amd(origami, machine, table, winners, cut) for cut in (False, True)),
        Ranking(COMMONEST, "-", tiles.commonest(winners), [None] * len(winners), None),
    ]
    part = {
        "all": range(len(winners)),
        "m <= 512": [i for i, winner in enumerate(winners) if winner.m <= 512],
        "m > 512": [i for i, winner in enumerate(winners) if winner.m > 512],
    }
    lines = [line for each in rankings for line in amd_cells(machine, each, winners, part)]
    return sorted(lines, key=lambda line: list(part).index(line[2]))


def show(header: list[str], rows: list[list[str]], out: Path | None) -> None:
    for line in [header, ["---"] * len(header), *rows]:
        print("| " + " | ".join(line) + " |")
    if out:
        with out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *rows])


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("h200", type=Path)
    parser.add_argument("public", type=Path)
    parser.add_argument("environments", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--orrery", default=str(ROOT / "orrery"))
    parser.add_argument("--machines", nargs="+", default=["mi300x", "mi355x"])
    parser.add_argument(
        "--predicted",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="triton_gemm.csv with predicted_us, as `orrery validate --out FILE` writes it,\n"
        "instead of asking Orrery here",
    )
    parser.add_argument(
        "--predicted-us", type=float, help="time of a choice of those, from a benchmark"
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    if not (arguments.h200 / "triton_gemm.csv").is_file():
        print(f"tile_scoreboard: got {arguments.h200}, need triton_gemm.csv in it", file=sys.stderr)
        return 2
    out = arguments.out
    show(h200_header(), h200_table(arguments), out and out / "tiles_h200.csv")
    print()
    rows = [row for machine in arguments.machines for row in amd_table(arguments, machine)]
    show(AMD_HEADER, rows, out and out / "tiles_amd.csv")
    return 0


if __name__ == "__main__":
    sys.exit(main())
