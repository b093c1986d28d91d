# Emitted kernels beside PyTorch on one GPU: right first, then how fast.
# SPDX-License-Identifier: Apache-2.0
"""Emitted kernels beside PyTorch on one GPU: right first, then how fast.

    python bench/spine.py --machine machines/h200-sxm.toml --out test/validation/spine_h200.csv
    compute-sanitizer python bench/spine.py --small          (odd shapes only, nothing timed)

Each family runs in a process of its own, so that a kernel that hangs costs its own case only.
Columns: family, shape, kernel, error (relative, against float64), measured_us, library,
library_us (the better of PyTorch's choices before and after), predicted_us (by the engine,
before anything ran). `chosen`: this is the configuration that the engine picks; the others are
timed to see what its choice costs.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable

import decode
import gemm
import norm
import torch
from harness import TOLERANCE, Bench

COLUMNS = [
    "family",
    "shape",
    "kernel",
    "chosen",
    "registers",
    "error",
    "measured_us",
    "library",
    "library_us",
    "predicted_us",
]


FAMILIES: dict[str, tuple[Callable[[Bench], None], Callable[[Bench], None]]] = {
    "gemm": (gemm.check, gemm.measure),
    "add_rms_norm": (norm.check, norm.measure),
    "decode_attention": (decode.check, decode.measure),
}


def work(family: str, rows: pathlib.Path, small: bool) -> None:
    bench = Bench(rows)
    torch.manual_seed(1)
    check, measure = FAMILIES[family]
    check(bench)
    if not small:
        measure(bench)


def collect(rows: pathlib.Path, out: pathlib.Path) -> int:
    """Writes the rows as CSV; returns how many are wrong."""
    found = [json.loads(line) for line in rows.read_text().splitlines()] if rows.exists() else []
    with out.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="")
        writer.writeheader()
        writer.writerows(found)
    return sum(not row.get("error", 0.0) < TOLERANCE for row in found)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("spine.csv"))
    parser.add_argument("--small", action="store_true", help="odd shapes only, nothing timed")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a family")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    rows = arguments.out.with_suffix(".jsonl")
    if arguments.worker:
        work(arguments.families[0], rows, arguments.small)
        return 0
    rows.unlink(missing_ok=True)
    failed = 0
    for family in arguments.families:
        command = [sys.executable, __file__, "--worker", "--out", str(arguments.out), family]
        if arguments.small:
            command.append("--small")
        try:
            failed += subprocess.run(command, timeout=arguments.limit, check=False).returncode != 0
        except subprocess.TimeoutExpired:
            print(f"{family}: not done after {arguments.limit} s", flush=True)
            failed += 1
    wrong = collect(rows, arguments.out)
    print(f"{wrong} wrong, {failed} families failed", flush=True)
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
