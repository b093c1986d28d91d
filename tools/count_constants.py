#!/usr/bin/env python3
# Prints every fitted number of a machine and its libraries, and holds them to their budgets.
# SPDX-License-Identifier: Apache-2.0
"""Usage: count_constants.py [--machine h200-sxm] [--root FOLDER]

A fitted number is one that was chosen so that predictions meet measured times. At most 40 may stand
in a machine file and 60 in the file of a library, each with a note that says what it means. Numbers
read from data sheets, sources, launch geometry, machine code or counters are not counted, nor are
assumed ones, which are listed apart. Exit status 1: over a budget, or a number without a note; 2:
bad input.
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MACHINE_BUDGET = 40
LIBRARY_BUDGET = 60


class InputError(Exception):
    """Something that the files or arguments are at fault for."""


@dataclass(frozen=True)
class Constant:
    key: str
    value: float
    unit: str
    source: str
    note: str


@dataclass(frozen=True)
class Count:
    title: str
    budget: int
    fitted: list[Constant]
    assumed: list[Constant]

    @property
    def complaints(self) -> list[str]:
        wrong = [
            f"{self.title}: {constant.key}: got no note, need what it means"
            for constant in self.fitted
            if not constant.note.strip()
        ]
        if len(self.fitted) > self.budget:
            wrong.append(
                f"{self.title}: got {len(self.fitted)} fitted numbers, need at most {self.budget}"
            )
        return wrong


def constants_in(table: dict[str, Any], prefix: str = "") -> Iterator[Constant]:
    """Every number of a file, in file order; a number is a table with a value and a source."""
    for name, node in table.items():
        if not isinstance(node, dict):
            continue
        key = prefix + name
        if "value" in node and "source" in node:
            yield Constant(
                key,
                float(node["value"]),
                str(node.get("unit", "")),
                str(node["source"]),
                str(node.get("note", "")),
            )
        else:
            yield from constants_in(node, key + ".")


def read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from None


def count(title: str, budget: int, table: dict[str, Any]) -> Count:
    constants = list(constants_in(table))
    return Count(
        title,
        budget,
        [constant for constant in constants if constant.source == "fitted"],
        [constant for constant in constants if constant.source == "assumed"],
    )


def libraries_of(machine: dict[str, Any]) -> list[str]:
    named = machine.get("libraries", [])
    return [named] if isinstance(named, str) else list(named)


def counts_for(machine: str, root: Path) -> list[Count]:
    table = read(root / "machines" / f"{machine}.toml")
    counts = [count(f"machine {machine}", MACHINE_BUDGET, table)]
    for library in libraries_of(table):
        file = read(root / "libraries" / f"{library}.toml")
        counts.append(count(f"library {library}", LIBRARY_BUDGET, file))
    return counts


def report(counts: list[Count]) -> str:
    lines = []
    for one in counts:
        lines.append(f"{one.title}: {len(one.fitted)} fitted numbers of at most {one.budget}")
        width = max((len(constant.key) for constant in one.fitted), default=0)
        lines += [
            f"  {constant.key:{width}}  {constant.value:>9g} {constant.unit:8}  {constant.note}"
            for constant in one.fitted
        ]
        if one.assumed:
            keys = ", ".join(constant.key for constant in one.assumed)
            lines.append(f"  assumed, not counted: {keys}")
        lines.append("")
    total = sum(len(one.fitted) for one in counts)
    lines.append(f"{total} fitted numbers in {len(counts)} files")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--machine", default="h200-sxm", help="id, as its file is called")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args(arguments)
    try:
        counts = counts_for(options.machine, options.root)
    except InputError as error:
        print(f"count_constants: {error}", file=sys.stderr)
        return 2
    print(report(counts))
    complaints = [text for one in counts for text in one.complaints]
    for text in complaints:
        print(f"count_constants: {text}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
