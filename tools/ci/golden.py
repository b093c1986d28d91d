# Golden tests: files of commands and the output they must have, run twice and compared: on one
# thread, then on two.
# SPDX-License-Identifier: Apache-2.0
"""test/golden/*.orr is a list of commands with what they print:

    # One GEMM on one chip: the tensor cores bound it.
    $ orrery predict gemm m=8192 n=8192 k=8192 dtype=bf16 --machine h200
    ...standard output...
    ! ...standard error, each line with this mark...
    [exit 2]                       only if the status is not 0

Variables may stand before a command ($ ORRERY_MODEL_DIR=none orrery models). Commands run in the
root of the tree, without a shell. ./ci golden --update rewrites the outputs.
"""

import difflib
import os
import re
import shlex
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.runner import JOBS, ROOT, Outcome, Run, StageError, nothing_to_do

FOLDER = ROOT / "test/golden"
VARIABLE = re.compile(r"[A-Z_]+=")


def golden(run: Run) -> Outcome:
    cases = sorted(FOLDER.rglob("*.orr"))
    if not cases:
        return nothing_to_do("no test/golden/*.orr")
    run.call(ROOT / "orrery", "--version")  # builds it if need be
    update = "--update" in run.options
    with ThreadPoolExecutor(int(JOBS)) as pool:
        complaints = list(pool.map(lambda case: check(case, update), cases))
    bad = [text for text in complaints if text]
    if bad:
        print("\n".join(bad))
    return Outcome(len(cases) - len(bad), len(bad), note=f"{len(cases)} files")


def check(case: Path, update: bool) -> str:
    """Runs a file twice; an empty text if both runs print what is written."""
    name = case.relative_to(ROOT)
    expected = case.read_text(encoding="utf-8")
    try:
        first, second = replay(expected, 1), replay(expected, 2)
    except (StageError, ValueError, subprocess.TimeoutExpired) as error:
        return f"{name}: {error}"
    if first != second:
        return f"{name}: one and two threads differ\n{difference(first, second)}"
    if first == expected:
        return ""
    if update:
        case.write_text(first, encoding="utf-8")
        print(f"   updated {name}")
        return ""
    return f"{name}: (./ci golden --update rewrites it)\n{difference(expected, first)}"


def replay(text: str, threads: int) -> str:
    """The file as it would be written now: comments and commands kept, outputs made anew."""
    lines = []
    in_output = False
    for line in text.splitlines():
        if line.startswith("$ "):
            lines += [line, *output_of(line[2:], threads)]
            in_output = True
        elif not in_output or line.startswith("# "):
            lines.append(line)
            in_output = False
    return "\n".join(lines) + "\n"


def output_of(command: str, threads: int) -> list[str]:
    words = shlex.split(command)
    variables = {}
    while words and VARIABLE.match(words[0]):
        name, _, variables[name] = words.pop(0).partition("=")
    if not words or words[0] != "orrery":
        raise StageError(f"got '$ {command}', need '$ orrery ...'")
    done = subprocess.run(
        [ROOT / "orrery", *words[1:]],
        cwd=ROOT,
        env={**os.environ, "ORRERY_THREADS": str(threads), **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    lines = done.stdout.splitlines()
    lines += [f"! {line}" for line in done.stderr.splitlines()]
    return lines + ([f"[exit {done.returncode}]"] if done.returncode != 0 else [])


def difference(before: str, after: str) -> str:
    left, right = before.splitlines(), after.splitlines()
    return "\n".join(difflib.unified_diff(left, right, "expected", "got", lineterm=""))
