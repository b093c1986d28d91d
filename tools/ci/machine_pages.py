# Keeps docs/machines/*.md as the machine files say: ./ci docs --update rewrites them.
# SPDX-License-Identifier: Apache-2.0

import json
from pathlib import Path

from ci.runner import ROOT, Outcome, Run, StageError

FOLDER = ROOT / "docs/machines"


def machine_pages(run: Run) -> Outcome:
    expected = pages(run)
    stale = [name for name, text in expected.items() if text != read(FOLDER / name)]
    left = sorted({path.name for path in FOLDER.glob("*.md")} - set(expected))
    if "--update" in run.options:
        FOLDER.mkdir(exist_ok=True)
        for name in stale:
            (FOLDER / name).write_text(expected[name], encoding="utf-8")
        for name in left:
            (FOLDER / name).unlink()
        stale = left = []
    for name in stale + left:
        print(f"docs/machines/{name}: not as its machine file says; ./ci docs --update rewrites it")
    return Outcome(len(expected) - len(stale), len(stale) + len(left))


def pages(run: Run) -> dict[str, str]:
    """Every page and the list of them, as they should be."""
    machines = json.loads(orrery(run, "machines", "--json"))["machines"]
    lines = [
        "# Machines",
        "",
        "A page per file of [machines/](../../machines); `./ci docs --update` writes them.",
        "",
    ]
    found = {}
    for machine in machines:
        name = f"{machine['id']}.md"
        found[name] = orrery(run, "machines", "page", machine["id"])
        lines.append(f"- [{machine['title']}]({name}): `{machine['id']}`")
    found["README.md"] = "\n".join(lines) + "\n"
    return found


def orrery(run: Run, *words: str) -> str:
    done = run.capture(ROOT / "orrery", *words)
    if done.returncode != 0:
        raise StageError(done.stdout)
    return done.stdout


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
