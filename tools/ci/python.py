# Checks the Python sources: the tools always, the package and its tests once they exist.
# SPDX-License-Identifier: Apache-2.0

import re

from ci.checks import sources
from ci.runner import ROOT, Outcome, Run, StageError
from ci.setup import venv_tool


def python(run: Run) -> Outcome:
    files = [name for name in sources(run, "*.py") if not name.startswith("test/golden/")]
    run.call(venv_tool("ruff"), "check", "--quiet", *files)
    run.call(venv_tool("ruff"), "format", "--quiet", "--check", *files)
    run.call(venv_tool("mypy"), "--config-file", "tools/mypy.ini")
    outcome = Outcome(note=f"{len(files)} files")
    for pattern in ("tools/*_test.py", "bench/**/*_test.py"):
        outcome += pytest(
            run, *(str(path.relative_to(ROOT)) for path in sorted(ROOT.glob(pattern)))
        )
    if not (ROOT / "pyproject.toml").exists():
        return outcome + Outcome(passed=0, note="no Python package yet")
    run.call(
        *(venv_tool("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
        *("--no-build-isolation", "--no-deps", "."),
    )
    if (ROOT / "python/tests").exists():
        outcome += pytest(run, "python/tests")
    return outcome


def pytest(run: Run, *paths: str) -> Outcome:
    done = run.capture(
        *(venv_tool("python"), "-m", "pytest", "-q", "-p", "no:cacheprovider"), *paths
    )
    words = re.findall(r"(\d+) (\w+)", last_line(done.stdout))
    counts = {word: int(number) for number, word in words}
    failed = counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
    if failed:
        print(done.stdout)
    elif done.returncode != 0:
        raise StageError(done.stdout)
    return Outcome(counts.get("passed", 0), failed, counts.get("skipped", 0))


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
