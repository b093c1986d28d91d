# Measures files and functions against the house limits and prints the lines of each folder.
# SPDX-License-Identifier: Apache-2.0
"""Usage: size.py [--verbose] [FILE...]. Limits: function 40 lines (hard 60, in tests 120), 5
parameters (hard), file 400 lines (hard 800), line 100 letters (hard). Past a hard limit the exit
status is 1; softer excess is counted, and listed with --verbose. Generated and golden files are
passed over."""

import ast
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from cpp_functions import Function, find_functions

ROOT = Path(__file__).resolve().parents[1]
FUNCTION_SOFT, FUNCTION_HARD = 40, 60
TEST_FUNCTION_HARD = 120  # a test is often one call with a table of cases
FILE_SOFT, FILE_HARD = 400, 800
LINE_HARD = 100
PARAMETERS_HARD = 5
FOLDERS = ("src", "test", "tools", "python", "bench", "examples")
SKIPPED = ("generated", "golden", "build", ".venv")


@dataclass(frozen=True)
class Excess:
    where: str
    what: str
    hard: bool


def python_functions(text: str) -> list[Function]:
    functions = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            arguments = node.args.posonlyargs + node.args.args
            count = sum(argument.arg not in ("self", "cls") for argument in arguments)
            functions.append(Function(node.name, node.lineno, lines, count))
    return functions


def free_form_removed(text: str) -> str:
    """Without raw strings and tables that clang-format leaves alone, whose lines may be long."""
    free = r'// clang-format off.*?// clang-format on|R"(\w*)\(.*?\)\1"'
    return re.sub(free, lambda match: "\n" * match[0].count("\n"), text, flags=re.S)


def measure(path: str, text: str) -> list[Excess]:
    lines = text.splitlines()
    found = []
    if len(lines) > FILE_SOFT:
        found.append(Excess(path, f"{len(lines)} lines in a file", len(lines) > FILE_HARD))
    for number, line in enumerate(free_form_removed(text).splitlines(), 1):
        if len(line) > LINE_HARD and "http" not in line:
            found.append(Excess(f"{path}:{number}", f"{len(line)} letters in a line", True))
    function_hard = TEST_FUNCTION_HARD if is_test(path) else FUNCTION_HARD
    functions = python_functions(text) if path.endswith(".py") else find_functions(text)
    for function in functions:
        where = f"{path}:{function.line} {function.name}"
        if function.lines > FUNCTION_SOFT:
            hard = function.lines > function_hard
            found.append(Excess(where, f"{function.lines} lines in a function", hard))
        if function.parameters > PARAMETERS_HARD:
            found.append(Excess(where, f"{function.parameters} parameters", True))
    return found


def source_files() -> list[Path]:
    return sorted(
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".h", ".cpp", ".py") and not set(path.parts) & set(SKIPPED)
    )


def is_test(path: str) -> bool:
    return path.startswith("test/") or "_test." in path or "_bench." in path or "/tests/" in path


def ledger(lengths: dict[str, int]) -> str:
    """Lines per folder, code and tests apart."""
    code: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for path, lines in lengths.items():
        parts = path.split("/")
        folder = "/".join(parts[:3] if parts[0] == "src" else parts[:1])
        (tests if is_test(path) else code)[folder] += lines
    rows = [f"{'folder':24}{'code':>8}{'tests':>8}"]
    for folder in sorted(set(code) | set(tests)):
        rows.append(f"{folder:24}{code[folder]:8}{tests[folder]:8}")
    rows.append(f"{'all':24}{sum(code.values()):8}{sum(tests.values()):8}")
    return "\n".join(rows)


def main() -> int:
    arguments = [word for word in sys.argv[1:] if word != "--verbose"]
    files = [Path(word).resolve() for word in arguments] or source_files()
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}
    excesses = [excess for path, text in texts.items() for excess in measure(path, text)]
    print(ledger({path: len(text.splitlines()) for path, text in texts.items()}))
    soft = [excess for excess in excesses if not excess.hard]
    hard = [excess for excess in excesses if excess.hard]
    for excess in (soft if "--verbose" in sys.argv else []) + hard:
        print(f"{excess.where}: {excess.what}{' (too many)' if excess.hard else ''}")
    print(f"{len(soft)} past a soft limit, {len(hard)} past a hard one")
    return 1 if hard else 0


if __name__ == "__main__":
    sys.exit(main())
