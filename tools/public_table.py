#!/usr/bin/env python3
# Predictions against published tables: one line per machine, operator and element type.
# SPDX-License-Identifier: Apache-2.0
"""tools/public_table.py PUBLIC_FOLDER [--machines a100_sxm_80gb,...] [--operators gemm,...]
                          [--out docs/public.csv] [--orrery ./orrery]

PUBLIC_FOLDER holds MACHINE/OPERATOR.csv (docs/accuracy.md says where they come from). Runs
`orrery validate` on each and prints rows, rows without a prediction, and mean, median and 90th
percentile of |predicted / measured - 1| in percent; then the limit on the median, where there is
one. Rows that their own flag calls impossible are left out. Exit status 1: a limit does not hold.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIG = ["a100_sxm_80gb", "h100_sxm", "h200_sxm", "b200_sxm"]
MACHINES = [*BIG, "l40s", "rtx_pro_6000_server", "mi210", "mi300x", "mi325x", "mi355x"]
IMPOSSIBLE = {"above_peak_flops", "below_1us", "above_hbm_bw_large"}
HALF = {"bf16", "fp16"}
COLLECTIVES = {"allreduce", "allgather", "reducescatter", "alltoall", "sendrecv"}
GEMM_ONLY = {"l40s", "rtx_pro_6000_server", "mi300x", "mi355x", "mi210"}
MIB = 1 << 20
# Columns of these are no latencies of an operator that a program calls.
NOT_OPERATORS = {"stream", "cache_bw", "latency_ptr_chase", "small_kernels", "gemm_cu_scaling"}

Row = dict[str, str]


@dataclass
class Cell:
    machine: str
    operator: str
    kind: str  # element type, or size of message
    errors: list[float] = field(default_factory=list)
    unpredicted: int = 0

    def limit(self) -> float | None:
        """On the median, in percent."""
        half = self.kind in HALF
        product = self.operator in ("gemm", "bmm")
        if self.machine in GEMM_ONLY:
            return 20 if product and half else None
        if self.machine not in BIG:
            return None
        if product or self.operator.startswith("attention_"):
            return 12 if half else 20 if self.kind.startswith("fp8") else None
        if self.operator in COLLECTIVES:
            return 20 if self.kind == "from 1 MiB" else None
        if self.operator == "moe_a2a":
            return 20 if self.kind.endswith("from 1 MiB") else None
        return 20 if self.operator in ("moe", "mla_prefill", "mla_decode") else None

    def median(self) -> float:
        return 100 * statistics.median(self.errors) if self.errors else float("nan")

    def holds(self) -> bool:
        limit = self.limit()
        return limit is None or (bool(self.errors) and self.median() <= limit)

    def cells(self) -> list[str]:
        limit = self.limit()
        if self.errors:
            p90 = sorted(self.errors)[min(len(self.errors) - 1, int(0.9 * len(self.errors)))]
            numbers = [100 * statistics.fmean(self.errors), self.median(), 100 * p90]
        return [
            self.machine,
            self.operator,
            self.kind,
            str(len(self.errors)),
            str(self.unpredicted),
            *([f"{number:.1f}" for number in numbers] if self.errors else ["-"] * 3),
            "" if limit is None else f"{limit:.0f}" if self.holds() else f"{limit:.0f} EXCEEDED",
        ]


HEADER = ["machine", "operator", "type", "n", "none", "mean %", "median %", "p90 %", "limit"]


def kind_of(operator: str, row: Row) -> str:
    if operator in COLLECTIVES:
        return "from 1 MiB" if int(row["bytes"]) >= MIB else "below 1 MiB"
    if operator == "moe_a2a":  # by the bytes of one GPU's tokens in bf16
        large = 2 * int(row["tokens"]) * int(row["hidden"]) >= MIB
        return f"{row['kind']} {'from' if large else 'below'} 1 MiB"
    if operator == "e2e":
        return f"{row['phase'].split('_out')[0]} {row['dtype']}"
    if operator == "linear_attention":
        return row["kind"].split(":")[0]
    dtype = row.get("dtype", "")
    cache = row.get("kv_dtype", "")
    return f"{cache} cache" if cache.startswith("fp8") and dtype in HALF else dtype


def predicted_rows(program: str, table: Path, machine: str) -> list[Row] | str:
    """The rows with their predictions, or why there are none."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.csv"
        command = [program, "validate", str(table), "--machine", machine, "--out", str(out)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if not out.is_file():
            return done.stderr.strip().splitlines()[-1] if done.stderr else "no output"
        with out.open(newline="") as file:
            return list(csv.DictReader(file))


def scored(rows: list[Row], machine: str, operator: str) -> list[Cell]:
    cells: dict[str, Cell] = {}
    for row in rows:
        if row.get("flag", "") in IMPOSSIBLE:
            continue
        kind = kind_of(operator, row)
        if kind.startswith("fp8"):
            kind = kind if kind in ("fp8", "fp8_block") else "fp8 cache"
        cell = cells.setdefault(kind, Cell(machine, operator, kind))
        if row["predicted_us"]:
            cell.errors.append(abs(float(row["predicted_us"]) / float(row["latency_us"]) - 1))
        else:
            cell.unpredicted += 1
    return [cells[kind] for kind in sorted(cells)]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("public", type=Path)
    parser.add_argument("--machines", default=",".join(MACHINES))
    parser.add_argument("--operators", default="", help="all, if left out")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--orrery", default=str(ROOT / "orrery"))
    arguments = parser.parse_args()
    if not arguments.public.is_dir():
        print(f"public_table: got {arguments.public}, need a folder", file=sys.stderr)
        return 2
    wanted = set(arguments.operators.split(",")) if arguments.operators else None
    tables = [
        (machine, table)
        for machine in arguments.machines.split(",")
        for table in sorted((arguments.public / machine).glob("*.csv"))
        if table.stem not in NOT_OPERATORS and (wanted is None or table.stem in wanted)
    ]
    if not tables:
        print(f"public_table: got no table in {arguments.public}, need some", file=sys.stderr)
        return 2
    with ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda each: predicted_rows(arguments.orrery, each[1], each[0]), tables)
        )
    cells: list[Cell] = []
    for (machine, table), answer in zip(tables, answers, strict=True):
        if isinstance(answer, str):
            print(f"{machine} {table.stem}: {answer}", file=sys.stderr)
        else:
            cells += scored(answer, machine, table.stem)
    lines = [HEADER, *(cell.cells() for cell in cells)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEADER))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)))
    if arguments.out:
        with arguments.out.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
    return 0 if all(cell.holds() for cell in cells) else 1


if __name__ == "__main__":
    sys.exit(main())
