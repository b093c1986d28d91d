# The table of verbs and stages of ./ci.
# SPDX-License-Identifier: Apache-2.0
"""./ci [VERB] [OPTION...]: checks this tree.

    all     (default) what must pass before a change lands; under 50 minutes on two cores
    quick   fmt, layers, size, and the tests of the dev build; under 2 minutes with a warm cache
    full    all, then ThreadSanitizer, slow tests, long fuzzing, benchmarks; no time limit

or one stage by its name. Options: golden --update, docs --update, fmt --fix, tidy --all.
"""

import os
import sys

from ci import builds, checks, docs, fuzz, golden, python, setup, tidy, tree
from ci.runner import Run, Stage, run_stages

STAGES = [
    Stage("setup", 200, setup.setup, "Debian packages and .venv are there"),
    Stage("clean", 5, tree.remember, "what is tested is what is committed"),
    Stage("fmt", 60, checks.fmt, "clang-format leaves every file as it is"),
    Stage("layers", 5, checks.layers, "folders include only what their row allows"),
    Stage("size", 10, checks.size, "files and functions are short"),
    Stage("headers", 180, builds.headers, "each header compiles alone"),
    Stage("build", 300, builds.release, "the release command line builds"),
    Stage("asan", 800, builds.asan, "all tests under ASan and UBSan"),
    Stage("golden", 90, golden.golden, "outputs are as committed, twice"),
    Stage("python", 420, python.python, "ruff, mypy, pytest"),
    Stage("tidy", 270, tidy.tidy, "clang-tidy on changed files"),
    Stage("fuzz", 540, fuzz.fuzz, "each fuzzer for a short while"),
    Stage("docs", 90, docs.docs, "links resolve, examples run"),
    Stage("tree", 5, tree.compare, "no stage changed the tree"),
]

MORE_STAGES = [
    Stage("test", 90, builds.dev, "the dev build and its tests"),
    Stage("tsan", 1800, builds.tsan, "all tests under ThreadSanitizer"),
    Stage("slow", 1800, builds.slow, "tests that take long"),
    Stage("bench", 1200, builds.bench, "micro-benchmarks, recorded in test/results"),
]

NAMED = {stage.name: stage for stage in STAGES + MORE_STAGES}
QUICK = [NAMED[name] for name in ("fmt", "layers", "size", "test")]
FULL = [*STAGES[:-1], *(NAMED[name] for name in ("tsan", "slow", "bench")), STAGES[-1]]


def main() -> int:
    verb, *options = sys.argv[1:] or ["all"]
    if verb in ("help", "-h", "--help"):
        print(__doc__)
        for stage in STAGES + MORE_STAGES:
            print(f"    {stage.name:8} {stage.budget_s:5} s  {stage.why}")
        return 0
    run = Run(options)
    if verb == "all":
        stages = STAGES
    elif verb == "quick":
        stages = QUICK
    elif verb == "full":
        stages = FULL
        run = Run(options, full=True, deadline_s=None)
    elif verb in NAMED:
        stages = [NAMED[verb]]
    else:
        print(f"ci: got '{verb}', need all, quick, full, help or one of {', '.join(NAMED)}")
        return 2
    setup.export_environment(os.environ)
    return run_stages(stages, run)


if __name__ == "__main__":
    sys.exit(main())
