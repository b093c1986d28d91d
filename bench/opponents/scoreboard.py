# The scoreboard: Orrery and its opponents on the same measured rows, in one run.
# SPDX-License-Identifier: Apache-2.0
"""Usage: scoreboard.py DATA_FOLDER [--out scoreboard.csv] [--orrery ./orrery]

DATA_FOLDER holds gemm.csv, models.csv and models.json of one H200. Prints a Markdown table and
writes it as CSV: mean, median and 90th percentile of |predicted / measured - 1|, rows answered, and
the time of a prediction (of Orrery: the whole command over its rows).

    python3 -m venv /tmp/opponents && /tmp/opponents/bin/pip install -r requirements.txt
    /tmp/opponents/bin/python scoreboard.py DATA_FOLDER
"""

from __future__ import annotations

import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import rooflines
from cases import Gemm, Step, read_gemms, read_steps

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Score:
    opponent: str
    table: str
    rows: int
    answered: int
    mean: float
    median: float
    p90: float
    microseconds: float  # of a prediction

    def cells(self) -> list[str]:
        def percent(share: float) -> str:
            return f"{share * 100:.1f}" if self.answered else "-"

        return [
            self.opponent, self.table, f"{self.answered} of {self.rows}", percent(self.mean),
            percent(self.median), percent(self.p90),
            f"{self.microseconds:.3g}" if self.answered else "-",
        ]  # fmt: skip


HEADER = ["program", "rows of", "answered", "mean %", "median %", "p90 %", "us a prediction"]


def score(
    opponent: str,
    table: str,
    times: Sequence[float | None],
    measured: Sequence[float],
    seconds: float,
) -> Score:
    errors = sorted(abs(t / m - 1) for t, m in zip(times, measured, strict=True) if t is not None)
    if not errors:
        return Score(opponent, table, len(times), 0, 0, 0, 0, 0)
    return Score(
        opponent,
        table,
        len(times),
        len(errors),
        statistics.fmean(errors),
        statistics.median(errors),
        errors[min(len(errors) - 1, int(0.9 * len(errors)))],
        seconds / len(times) * 1e6,
    )


def asked(
    opponent: str,
    table: str,
    rows: Sequence[Gemm] | Sequence[Step],
    answer: Callable[..., float | None],
) -> Score:
    times: list[float | None] = []
    begin = time.perf_counter()
    for row in rows:
        try:
            times.append(answer(row))
        except (ValueError, AssertionError, KeyError, TypeError, ZeroDivisionError) as error:
            print(f"{opponent}: {row}: {error!r}", file=sys.stderr)
            times.append(None)
    seconds = time.perf_counter() - begin
    return score(opponent, table, times, [row.measured_us for row in rows], seconds)


def calibrated(table: str, rows: Sequence[Gemm] | Sequence[Step]) -> Score:
    begin = time.perf_counter()
    times = rooflines.left_out(rows)
    seconds = time.perf_counter() - begin
    name = "roofline, 3 constants fitted"
    return score(name, table, times, [row.measured_us for row in rows], seconds)


def orrery(program: str, table: str, path: Path, keep: Callable[[dict[str, str]], bool]) -> Score:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "predicted.csv"
        begin = time.perf_counter()
        command = [program, "validate", str(path), "--machine", "h200", "--out", str(out)]
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
        seconds = time.perf_counter() - begin
        with out.open(newline="") as file:
            every = list(csv.DictReader(file))
    rows = [row for row in every if keep(row)]
    times = [float(row["predicted_us"]) if row["predicted_us"] else None for row in rows]
    measured = [float(row["latency_us"]) for row in rows]
    return score("Orrery", table, times, measured, seconds * len(rows) / len(every))


def all_scores(data: Path, program: str) -> list[Score]:
    from others import Genz, LlmAnalysis

    gemms, steps = read_gemms(data / "gemm.csv"), read_steps(data / "models.csv")
    names = {step.model for step in steps}

    def is_step(row: dict[str, str]) -> bool:
        return row["mode"] == "eager_graph" and row["model"] in names

    scores = [
        orrery(program, "gemm.csv", data / "gemm.csv", lambda _: True),
        orrery(program, "models.csv", data / "models.csv", is_step),
    ]
    sheet = rooflines.Roofline()
    for table, rows in (("gemm.csv", gemms), ("models.csv", steps)):
        scores.append(asked("roofline of the data sheet", table, rows, sheet.time_us))
        scores.append(calibrated(table, rows))
    for opponent in (Genz(), LlmAnalysis()):
        scores.append(asked(opponent.name, "gemm.csv", gemms, opponent.gemm_us))
        scores.append(asked(opponent.name, "models.csv", steps, opponent.step_us))
    return sorted(scores, key=lambda each: each.table)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--orrery", default=str(ROOT / "orrery"))
    arguments = parser.parse_args()
    for name in ("gemm.csv", "models.csv", "models.json"):
        if not (arguments.data / name).is_file():
            print(f"scoreboard: got {arguments.data} without {name}, need it", file=sys.stderr)
            return 2
    rows = [each.cells() for each in all_scores(arguments.data, arguments.orrery)]
    for line in [HEADER, ["---"] * len(HEADER), *rows]:
        print("| " + " | ".join(line) + " |")
    if arguments.out:
        with arguments.out.open("w", newline="") as file:
            csv.writer(file).writerows([HEADER, *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
