# Runs every libFuzzer target for a while, from the seeds in test/fuzz.
# SPDX-License-Identifier: Apache-2.0

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ci.builds import build
from ci.checks import sources
from ci.runner import JOBS, ROOT, Outcome, Run, nothing_to_do

SHORT_S = 10
LONG_S = 600


def fuzz(run: Run) -> Outcome:
    if not sources(run, "*_fuzz.cpp"):
        return nothing_to_do("no *_fuzz.cpp")
    targets = sorted((build(run, "fuzz", "fuzzers") / "fuzz").glob("*_fuzz"))
    seconds = LONG_S if run.full else SHORT_S
    with ThreadPoolExecutor(int(JOBS)) as pool:
        complaints = list(pool.map(lambda target: fuzz_one(run, target, seconds), targets))
    bad = [text for text in complaints if text]
    if bad:
        print("\n".join(bad))
    note = f"{len(targets)} fuzzers, {seconds} s each"
    return Outcome(len(targets) - len(bad), len(bad), note=note)


def fuzz_one(run: Run, target: Path, seconds: int) -> str:
    """An empty text if nothing broke; what is found stays in build/fuzz/found."""
    corpus = ROOT / "build/fuzz/corpus" / target.name
    found = ROOT / "build/fuzz/found" / target.name
    seeds = ROOT / "test/fuzz" / target.name
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    done = run.capture(
        target,
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-rss_limit_mb=2048",
        "-print_final_stats=0",
        "-verbosity=0",
        f"-artifact_prefix={found}/",
        corpus,
        *([seeds] if seeds.exists() else []),
    )
    return "" if done.returncode == 0 else f"{target.name}:\n{done.stdout[-4000:]}"
