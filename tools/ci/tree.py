# The tree must be the same before and after a run; ignored files may come and go.
# SPDX-License-Identifier: Apache-2.0

import os

from ci.runner import ROOT, Outcome, Run, StageError, nothing_to_do

_STATE = "ORRERY_CI_TREE_STATE"


def remember(run: Run) -> Outcome:
    """Notes the state; under CI=... an uncommitted change is an error, at a desk a remark."""
    if not (ROOT / ".git").exists():
        return nothing_to_do("not a git checkout")
    dirty = changed_files(run)
    os.environ[_STATE] = state(run)
    if dirty and os.environ.get("CI"):
        raise StageError("got uncommitted files, need a clean tree:\n" + "\n".join(dirty))
    return Outcome(note=f"{len(dirty)} uncommitted files" if dirty else "")


def compare(run: Run) -> Outcome:
    if _STATE not in os.environ:
        return nothing_to_do("nothing remembered")
    if state(run) != os.environ[_STATE]:
        raise StageError("a stage changed the tree:\n" + "\n".join(changed_files(run)))
    return Outcome()


def changed_files(run: Run) -> list[str]:
    # Benchmark results are written on purpose, by ./ci full.
    listing = run.capture("git", "status", "--porcelain", "--", ".", ":!test/results")
    if listing.returncode != 0:
        raise StageError(listing.stdout)
    return listing.stdout.splitlines()


def state(run: Run) -> str:
    difference = run.capture("git", "diff", "HEAD", "--", ".", ":!test/results")
    return "\n".join(changed_files(run)) + difference.stdout
