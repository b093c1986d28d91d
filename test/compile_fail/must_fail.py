# Checks that one C++ file compiles, and no longer does with -DMUST_FAIL, for the reason it names.
# SPDX-License-Identifier: Apache-2.0
"""Usage: must_fail.py COMPILER INCLUDE_DIR CASE.cpp

A case is legal code plus illegal lines under `#ifdef MUST_FAIL`, and says in a comment
`// expect: REGEX` what the compiler (g++ or clang) must complain about.
"""

import re
import subprocess
import sys
from pathlib import Path


def compile_case(compiler: str, include: str, case: str, *flags: str) -> tuple[int, str]:
    command = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Wno-unused", "-Werror=unused-result"]
    command += ["-fsyntax-only", "-I", include, *flags, case]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def main() -> int:
    compiler, include, case = sys.argv[1:]
    expected = re.findall(r"// expect: (.*)", Path(case).read_text(encoding="utf-8"))
    if len(expected) != 1:
        print(f"{case}: got {len(expected)} lines '// expect: REGEX', need 1")
        return 1
    status, errors = compile_case(compiler, include, case)
    if status != 0:
        print(f"{case}: must compile without MUST_FAIL:\n{errors}")
        return 1
    status, errors = compile_case(compiler, include, case, "-DMUST_FAIL")
    if status == 0:
        print(f"{case}: compiles with MUST_FAIL")
        return 1
    if not re.search(expected[0], errors):
        print(f"{case}: fails, but not with /{expected[0]}/:\n{errors}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
