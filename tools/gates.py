#!/usr/bin/env python3
# Scores the operator tables of a machine by groups: errors and intervals against their limits.
# SPDX-License-Identifier: Apache-2.0
"""tools/gates.py DATA_FOLDER [--machine h200] [--csv FILE]

Runs `orrery validate` on the tables of DATA_FOLDER and prints a line per group: rows, mean, median
and 90th percentile of |predicted / measured - 1| in percent, the share of rows inside the 80 %
interval and its median width, and which limits do not hold: then the exit status is 1. Tables that
are not there are named and passed over; rows without a prediction fail their group.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLES = (
    "gemm gemm2 gemm_power attention attention2 membound membound2 grouped_gemm conv collectives"
)
# kinds of membound tables that one walk over the operands explains
SURE = """copy fill cast_fp32 add mul bias_add broadcast_mul exp relu sigmoid tanh gelu silu clamp
    gelu_backward silu_backward quantize_fp8 layer_norm rms_norm
    sum_rows mean_rows max_rows var_rows"""
SURE_KINDS = set(SURE.split())
NO_WIDTH_LIMIT = ("gemm fp32", "gemm odd", "conv")
MOST_WIDTH = 0.6  # of an interval, relative, but for NO_WIDTH_LIMIT: on fewer than 5 % of the rows

Row = dict[str, str]


@dataclass
class Point:
    """One row: measured and predicted time, and the interval."""

    measured: float
    predicted: float
    low: float
    high: float

    def error(self) -> float:
        return abs(self.predicted / self.measured - 1)

    def width(self) -> float:
        return (self.high - self.low) / self.predicted


@dataclass
class Group:
    name: str
    most_mean: float | None = None  # percent
    most_median: float | None = None
    most_p90: float | None = None
    intervals: bool = True
    points: list[Point] = field(default_factory=list)
    failed: int = 0  # rows without a prediction

    def add(self, row: Row, measured: str = "latency_us", predicted: str = "predicted_us") -> None:
        if not row[measured]:
            return
        if not row.get(predicted):
            self.failed += 1
            return
        low, high = (row["low_us"], row["high_us"]) if predicted == "predicted_us" else ("0", "0")
        self.points.append(
            Point(float(row[measured]), float(row[predicted]), float(low), float(high))
        )

    def complaints(self) -> list[str]:
        found = [f"{self.failed} rows without a prediction"] if self.failed else []
        limits = (
            ("mean", self.mean(), self.most_mean),
            ("median", self.quantile(0.5), self.most_median),
            ("p90", self.quantile(0.9), self.most_p90),
        )
        found += [f"{n} {x:.1f} > {most}" for n, x, most in limits if most is not None and x > most]
        return found + (self.interval_complaints() if self.intervals else [])

    def interval_complaints(self) -> list[str]:
        found = []
        if len(self.points) >= 40:
            least, most = (74, 88) if len(self.points) >= 100 else (68, 92)
            if not least <= self.held() <= most:
                found.append(f"interval holds on {self.held():.0f} %, need {least} to {most}")
            if self.width() > 3.3 * self.mean():
                found.append(f"width {self.width():.0f} > 3.3 x mean")
        wide = sum(p.width() > MOST_WIDTH for p in self.points)
        if not self.name.startswith(NO_WIDTH_LIMIT) and wide >= 0.05 * len(self.points) > 0:
            found.append(f"{wide} rows wider than {100 * MOST_WIDTH:.0f} %")
        return found

    def errors(self) -> list[float]:
        return sorted(100 * p.error() for p in self.points)

    def mean(self) -> float:
        return sum(self.errors()) / max(1, len(self.points))

    def quantile(self, share: float) -> float:
        errors = self.errors()
        return errors[min(len(errors) - 1, int(share * len(errors)))] if errors else 0

    def held(self) -> float:
        held = sum(p.low <= p.measured <= p.high for p in self.points)
        return 100 * held / max(1, len(self.points))

    def width(self) -> float:
        widths = sorted(100 * p.width() for p in self.points)
        return widths[len(widths) // 2] if widths else 0


def chosen(name: str, rows: Iterable[Row], test: Callable[[Row], bool], **limits: float) -> Group:
    group = Group(name, **limits)  # type: ignore[arg-type]
    for row in rows:
        if test(row):
            group.add(row)
    return group


def is_odd(row: Row) -> bool:
    """16-bit rows that are not multiples of 16 bytes, or sizes picked to be odd."""
    aligned = int(row["k"]) % 8 == 0 and int(row["n"]) % 8 == 0
    return row["dtype"] in ("bf16", "fp16") and (not aligned or row["family"] == "odd")


def gemm_groups(tables: dict[str, list[Row]]) -> list[Group]:
    rows = tables["gemm"] + tables["gemm2"]

    def plain(dtype: str) -> Callable[[Row], bool]:
        return lambda r: (
            r["dtype"] == dtype
            and r.get("batch", "1") == "1"
            and r.get("layout", "nt") == "nt"
            and not is_odd(r)
        )

    groups = [chosen("gemm bf16", rows, plain("bf16"), most_mean=7, most_median=4.5, most_p90=15)]
    groups += [chosen(f"gemm {d}", rows, plain(d), most_mean=8) for d in ("fp16", "fp8")]
    groups.append(chosen("gemm batched", rows, lambda r: r.get("batch", "1") != "1", most_mean=8))
    groups.append(chosen("gemm tf32", rows, lambda r: r["dtype"] == "tf32", most_mean=12))
    groups.append(chosen("gemm odd", rows, is_odd, most_mean=16))
    groups.append(chosen("gemm fp32", rows, lambda r: r["dtype"] == "fp32", most_mean=16))
    layouts = ("nn", "tn", "tt")
    groups.append(chosen("gemm layouts", rows, lambda r: r.get("layout") in layouts, most_mean=9))
    return groups + power_groups(tables["gemm_power"])


def power_groups(rows: list[Row]) -> list[Group]:
    groups = []
    for state, measured in (("burst", "us_5_20ms"), ("steady", "us_last_300ms")):
        group = Group(f"gemm {state}", most_mean=6, intervals=False)
        for row in rows:
            if row["data"] == "randn":
                group.add(row, measured, f"{state}_us")
        groups.append(group)
    return groups


def attention_groups(tables: dict[str, list[Row]]) -> list[Group]:
    groups = []
    for backend in ("flash", "cudnn"):
        for phase, decode in (("prefill", False), ("decode", True)):

            def test(r: Row, backend: str = backend, decode: bool = decode) -> bool:
                return r["backend"] == backend and (r["seq_q"] == "1") == decode

            name = f"attention {backend} {phase}"
            groups.append(chosen(name, tables["attention"], test, most_mean=7))
    backward = chosen("attention backward", tables["attention2"], lambda _: True, most_mean=12)
    return [*groups, backward]


def rows_groups(tables: dict[str, list[Row]]) -> list[Group]:
    rows = tables["membound"] + tables["membound2"]
    groups = [chosen("membound all", rows, lambda _: True, most_mean=9)]
    groups.append(chosen("membound sure", rows, lambda r: r["op"] in SURE_KINDS, most_mean=7))
    for op in sorted({r["op"] for r in rows}):
        few = sum(r["op"] == op for r in rows) < 5
        limit = {} if few else {"most_mean": 20.0}

        def test(r: Row, op: str = op) -> bool:
            return r["op"] == op

        groups.append(chosen(f"  {op}", rows, test, **limit))
        groups[-1].intervals = False
    return groups


def other_groups(tables: dict[str, list[Row]]) -> list[Group]:
    links = tables["collectives"]

    def graph(large: bool) -> Callable[[Row], bool]:
        return lambda r: r["mode"] == "graph" and (int(r["bytes"]) >= 1 << 20) == large

    return [
        chosen("grouped_gemm", tables["grouped_gemm"], lambda _: True, most_mean=6.5),
        chosen("conv", tables["conv"], lambda _: True, most_mean=18),
        chosen("collectives graph, from 1 MiB", links, graph(True), most_mean=9),
        chosen("collectives graph, below", links, graph(False), most_mean=15),
        chosen("collectives stream", links, lambda r: r["mode"] == "stream", most_mean=15),
    ]


def predicted(data: Path, machine: str, options: list[str]) -> dict[str, list[Row]]:
    """The rows of every table with their predictions."""
    tables: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in TABLES.split():
            path = data / f"{name}.csv"
            tables[name] = []
            if not path.is_file():
                print(f"no {path}: passed over")
                continue
            command = [str(ROOT / "orrery"), "validate", str(path), "--machine", machine]
            done = subprocess.run(
                [*command, "--out", folder, *options], capture_output=True, text=True, check=False
            )
            if done.returncode == 2:
                raise SystemExit(done.stderr)
            with Path(folder, f"{name}.csv").open(newline="", encoding="utf-8") as file:
                tables[name] = list(csv.DictReader(file))
    return tables


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--machine", default="h200")
    parser.add_argument("--csv", type=Path, help="write the lines there, too")
    parser.add_argument("options", nargs="*", help="of orrery validate, after --")
    given = parser.parse_args()
    tables = predicted(given.data, given.machine, given.options)
    groups = gemm_groups(tables) + attention_groups(tables) + rows_groups(tables)
    groups = [g for g in groups + other_groups(tables) if g.points or g.failed]
    lines = [["group", "rows", "mean", "median", "p90", "held", "width", "complaints"]]
    for g in groups:
        values = (g.mean(), g.quantile(0.5), g.quantile(0.9), g.held(), g.width())
        shown = [f"{x:.1f}" for x in values]
        lines.append([g.name, str(len(g.points)), *shown, "; ".join(g.complaints()) or "ok"])
    for name, *cells, complaints in lines:
        print(f"{name:30} " + " ".join(f"{c:>6}" for c in cells) + "  " + complaints)
    if given.csv:
        with given.csv.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(lines)
    return 1 if any(g.complaints() for g in groups) else 0


if __name__ == "__main__":
    sys.exit(main())
