# clang-tidy on the files that changed, as many as the budget allows.
# SPDX-License-Identifier: Apache-2.0

import re
import time
from concurrent.futures import ThreadPoolExecutor

from ci.checks import sources
from ci.runner import JOBS, ROOT, Outcome, Run, StageError, nothing_to_do

BUDGET_S = 240
COMMITS_BACK = 10


def tidy(run: Run) -> Outcome:
    everything = "--all" in run.options or run.full
    files = sources(run, "src/*.cpp") if everything else changed_sources(run)
    if not files:
        return nothing_to_do("no C++ file changed")
    run.call("cmake", "--preset", "tidy")
    until = time.monotonic() + (1e9 if everything else BUDGET_S)
    with ThreadPoolExecutor(int(JOBS)) as pool:
        answers = list(pool.map(lambda name: check(run, name, until), files))
    late = sum(answer is None for answer in answers)
    bad = [answer for answer in answers if answer]
    if bad:
        print("\n".join(bad))
        raise StageError(f"clang-tidy complains about {len(bad)} of {len(files)} files")
    return Outcome(note=f"{len(files) - late} files" + (f", no time for {late}" if late else ""))


def check(run: Run, name: str, until: float) -> str | None:
    """The complaints about a file, or None if there was no time to look."""
    if time.monotonic() > until:
        return None
    done = run.capture("clang-tidy-19", "--quiet", "-p", ROOT / "build/tidy", name)
    return "\n".join(complaints(done.stdout))


def complaints(text: str) -> list[str]:
    """The lines that name a fault. Of misc-include-cleaner only unused includes count: what a
    file's own header includes need not be repeated."""
    found = re.findall(r"^.*?:\d+:\d+: (?:error|warning): .*$", text, re.M)
    return [line for line in found if "no header providing" not in line]


def changed_sources(run: Run) -> list[str]:
    """Sources that differ from the branch point, or on main from ten commits ago; newest first."""
    since = branch_point(run)
    changed = run.capture("git", "diff", "--name-only", "--diff-filter=d", since, "--", "src")
    untracked = run.capture("git", "ls-files", "-o", "--exclude-standard", "--", "src")
    names = set((changed.stdout + untracked.stdout).splitlines())
    # The bindings need nanobind's headers, which only the Python build has.
    names = {name for name in names if not name.startswith("src/orrery/python/")}
    # A header is looked at through its own source.
    names |= {name[:-2] + ".cpp" for name in names if name.endswith(".h")}
    files = [name for name in names if name.endswith(".cpp") and (ROOT / name).exists()]
    return sorted(files, key=lambda name: (-(ROOT / name).stat().st_mtime, name))


def branch_point(run: Run) -> str:
    head = run.capture("git", "rev-parse", "HEAD").stdout.strip()
    for main in ("origin/main", "main"):
        base = run.capture("git", "merge-base", "HEAD", main)
        if base.returncode == 0 and base.stdout.strip() != head:
            return base.stdout.strip()
    count = int(run.capture("git", "rev-list", "--count", "HEAD").stdout)
    return f"HEAD~{min(COMMITS_BACK, count - 1)}"
