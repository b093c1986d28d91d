# Runs stages in order: prints each one's time beside its budget, counts tests, keeps the deadline.
# SPDX-License-Identifier: Apache-2.0
"""A stage is a function from a Run to an Outcome. It fails by returning failed tests or by raising
StageError; whatever happens the next stage runs, and the last line is "N passed, N failed"."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JOBS = os.environ.get("ORRERY_JOBS", str(min(os.cpu_count() or 1, 16)))
DEADLINE_S = 60 * 60


class StageError(Exception):
    """The stage could not do its work or found something wrong; the text says what."""


@dataclass
class Outcome:
    """What a stage found. A stage without tests of its own counts as one test."""

    passed: int = 1
    failed: int = 0
    skipped: int = 0
    note: str = ""

    def __add__(self, other: "Outcome") -> "Outcome":
        notes = [note for note in (self.note, other.note) if note]
        return Outcome(
            self.passed + other.passed,
            self.failed + other.failed,
            self.skipped + other.skipped,
            "; ".join(notes),
        )


def nothing_to_do(why: str) -> Outcome:
    return Outcome(passed=0, note=why)


@dataclass
class Run:
    """One call of ./ci: its options and the time it has left."""

    options: Sequence[str] = ()
    full: bool = False
    deadline_s: float | None = DEADLINE_S
    started: float = field(default_factory=time.monotonic)

    def remaining_s(self) -> float | None:
        if self.deadline_s is None:
            return None
        return max(1.0, self.started + self.deadline_s - time.monotonic())

    def call(self, *command: str | Path, env: dict[str, str] | None = None) -> None:
        """Runs a command whose output matters only if it fails."""
        done = self.capture(*command, env=env)
        if done.returncode != 0:
            tail = "\n".join(done.stdout.splitlines()[-60:])
            raise StageError(f"{printable(command)}: exit status {done.returncode}\n{tail}")

    def capture(
        self, *command: str | Path, env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command; its output and errors come back in one text."""
        try:
            return subprocess.run(
                [str(word) for word in command],
                cwd=ROOT,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=self.remaining_s(),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise StageError(f"{printable(command)}: the run's hour is over") from error
        except FileNotFoundError as error:
            raise StageError(f"{command[0]} is not installed; ./ci setup installs it") from error


@dataclass(frozen=True)
class Stage:
    name: str
    budget_s: int  # on two cores, with a cold compiler cache
    function: Callable[[Run], Outcome]
    why: str


def printable(command: Sequence[str | Path]) -> str:
    return " ".join(str(word) for word in command)


def run_stages(stages: Sequence[Stage], run: Run) -> int:
    """Runs the stages and prints the summary; the exit status is 0 if nothing failed."""
    total = Outcome(passed=0)
    for stage in stages:
        total += run_stage(stage, run)
    elapsed = time.monotonic() - run.started
    if run.deadline_s is not None and elapsed > run.deadline_s:
        print(f"over time: got {elapsed:.0f} s, need at most {run.deadline_s:.0f} s")
        total += Outcome(passed=0, failed=1)
    print(f"total {elapsed:.0f} s, budget {sum(stage.budget_s for stage in stages)} s")
    skipped = f", {total.skipped} skipped" if total.skipped else ""
    print(f"{total.passed} passed, {total.failed} failed{skipped}")
    return 0 if total.failed == 0 else 1


def run_stage(stage: Stage, run: Run) -> Outcome:
    print(f"== {stage.name}: {stage.why}", flush=True)
    start = time.monotonic()
    try:
        outcome = stage.function(run)
    except StageError as error:
        print(error)
        outcome = Outcome(passed=0, failed=1)
    except KeyboardInterrupt:
        sys.exit(130)
    elapsed = time.monotonic() - start
    verdict = "ok" if outcome.failed == 0 else f"FAILED ({outcome.failed})"
    late = ", OVER BUDGET" if elapsed > stage.budget_s else ""
    note = f": {outcome.note}" if outcome.note else ""
    spent = f"{elapsed:.1f} s of {stage.budget_s} s"
    print(f"   {stage.name} {verdict}, {spent}{late}{note}", flush=True)
    # The note is the stage's own; the total adds only counts.
    return Outcome(outcome.passed, outcome.failed, outcome.skipped)
