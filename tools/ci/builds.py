# The stages that compile: release, dev, sanitizers, headers alone, benchmarks.
# SPDX-License-Identifier: Apache-2.0

import datetime
import re
from pathlib import Path

from ci.runner import JOBS, ROOT, Outcome, Run, StageError, nothing_to_do

NEEDS_MORE = "cuda|multi-gpu|slow"  # ctest labels that the default run leaves out


def build(run: Run, preset: str, *targets: str) -> Path:
    """Configures and builds a preset; returns its folder."""
    folder = ROOT / "build" / preset
    run.call("cmake", "--preset", preset)
    wanted = ["--target", *targets] if targets else []
    done = run.capture("cmake", "--build", folder, "-j", JOBS, *wanted, "--", "-k", "0")
    if done.returncode != 0:
        raise StageError(f"the preset {preset} does not build\n{build_errors(done.stdout)}")
    return folder


def build_errors(text: str) -> str:
    """The lines of a build's output that say what failed, or its end."""
    telling = re.compile(r"^FAILED: |\berror: |undefined (reference|symbol)|CMake Error")
    lines = [line for line in text.splitlines() if telling.search(line)]
    return "\n".join(lines[:60] or text.splitlines()[-60:])


def ctest(run: Run, folder: Path, *selection: str) -> Outcome:
    """Runs the tests of a build and prints those that fail."""
    done = run.capture("ctest", "--test-dir", folder, "-j", JOBS, "--output-on-failure", *selection)
    counts = count_tests(done.stdout)
    if counts.failed or (done.returncode != 0 and counts.passed):
        print("\n".join(done.stdout.splitlines()[-200:]))
    if counts.passed + counts.failed + counts.skipped == 0 and done.returncode != 0:
        raise StageError(done.stdout[-4000:])
    return counts


def count_tests(text: str) -> Outcome:
    """Counts from ctest's own lines, e.g. '3/9 Test #7: base.Hash ... Passed 0.01 sec'."""
    verdicts = re.findall(r"^ *\d+/\d+ Test +#\d+: .*", text, re.M)
    skipped = sum("***Skipped" in line or "(Disabled)" in line for line in verdicts)
    passed = sum(re.search(r" Passed +[\d.]+ sec", line) is not None for line in verdicts)
    counts = Outcome(passed, len(verdicts) - passed - skipped, skipped)
    counts.note = f"{passed} tests passed" + (f", {skipped} skipped" if skipped else "")
    return counts


def release(run: Run) -> Outcome:
    if not (ROOT / "src/orrery/cli/CMakeLists.txt").exists():
        build(run, "release")
        return Outcome(note="no command line yet: the libraries build")
    run.call(ROOT / "orrery", "--version")
    return Outcome()


def headers(run: Run) -> Outcome:
    build(run, "release", "all_verify_interface_header_sets")
    return Outcome()


def dev(run: Run) -> Outcome:
    return ctest(run, build(run, "dev"), "-LE", NEEDS_MORE)


def asan(run: Run) -> Outcome:
    return ctest(run, build(run, "asan"), "-LE", NEEDS_MORE)


def tsan(run: Run) -> Outcome:
    return ctest(run, build(run, "tsan"), "-LE", NEEDS_MORE)


def slow(run: Run) -> Outcome:
    """Slow tests in the release build; GPU tests skip themselves where there is no GPU."""
    return ctest(run, build(run, "cuda"), "-L", NEEDS_MORE)


def bench(run: Run) -> Outcome:
    """Runs every micro-benchmark; one CSV a day and commit under test/results."""
    folder = build(run, "bench")
    binaries = sorted((folder / "bin").glob("*_bench"))
    if not binaries:
        return nothing_to_do("no benchmarks")
    commit = run.capture("git", "rev-parse", "--short=12", "HEAD").stdout.strip()
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    rows = ["date,commit,binary,name,iterations,real_time,cpu_time,time_unit,items_per_second"]
    for binary in binaries:
        done = run.capture(binary, "--benchmark_format=csv", "--benchmark_min_time=0.2")
        if done.returncode != 0:
            raise StageError(f"{binary.name}: {done.stdout[-2000:]}")
        for name, values in benchmark_rows(done.stdout):
            rows.append(",".join([date, commit, binary.name, name, *values]))
    results = ROOT / "test/results" / f"bench-{date}-{commit}.csv"
    results.parent.mkdir(parents=True, exist_ok=True)
    results.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return Outcome(note=f"{len(rows) - 1} rows in {results.relative_to(ROOT)}")


def benchmark_rows(text: str) -> list[tuple[str, list[str]]]:
    """Name and (iterations, real, cpu, unit, items per second) of Google Benchmark's CSV."""
    rows = []
    for line in text.splitlines():
        match = re.match(r'("(?:[^"]|"")*"),(\d+),([^,]*),([^,]*),(\w+),[^,]*,([^,]*)', line)
        if match:
            rows.append((match[1], list(match.groups()[1:])))
    return rows
