# Documentation that lies fails: links must resolve, marked code blocks and examples must run.
# SPDX-License-Identifier: Apache-2.0
"""A fenced block whose info string is `sh run` is executed by bash in the root of the tree, with
the root on PATH; the blocks of one file run in one shell, in order. So does examples/*/run.sh."""

import re
from pathlib import Path

from ci.checks import sources
from ci.machine_pages import machine_pages
from ci.runner import ROOT, Outcome, Run

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.M | re.S)
RUNNABLE = re.compile(r"^```sh run\n(.*?)^```", re.M | re.S)


def docs(run: Run) -> Outcome:
    pages = [ROOT / name for name in sources(run, "*.md")]
    broken = [complaint for page in pages for complaint in broken_links(page)]
    broken += folders_without_page()
    outcome = Outcome(1 if not broken else 0, len(broken), note=f"{len(pages)} pages")
    for text in broken:
        print(text)
    run.call(ROOT / "orrery", "--version")  # builds it if need be
    outcome += machine_pages(run)
    scripts = [(page, "\n".join(RUNNABLE.findall(read(page)))) for page in pages]
    scripts += [(path, read(path)) for path in sorted(ROOT.glob("examples/*/run.sh"))]
    for path, script in scripts:
        if script:
            outcome += execute(run, path, script)
    if not list(ROOT.glob("examples/*/run.sh")):
        outcome += Outcome(passed=0, note="no examples yet")
    return outcome


def execute(run: Run, path: Path, script: str) -> Outcome:
    prelude = f'set -euo pipefail; PATH="{ROOT}:$PATH"; cd "{ROOT}"\n'
    done = run.capture("bash", "-c", prelude + script)
    if done.returncode == 0:
        return Outcome()
    print(f"{path.relative_to(ROOT)}: exit status {done.returncode}\n{done.stdout[-3000:]}")
    return Outcome(passed=0, failed=1)


def broken_links(page: Path) -> list[str]:
    complaints = []
    for match in LINK.finditer(FENCE.sub("", read(page))):
        target = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue  # the web is not ours to check
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        where = page.relative_to(ROOT)
        if not path.exists():
            complaints.append(f"{where}: got a link to {target}, need a file that exists")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            complaints.append(f"{where}: got a link to {target}, need a heading that exists")
    return complaints


def folders_without_page() -> list[str]:
    """Each module has a README.md, and the front page links to it."""
    front = read(ROOT / "README.md")
    complaints = []
    for module in sorted((ROOT / "src/orrery").glob("*/CMakeLists.txt")):
        page = (module.parent / "README.md").relative_to(ROOT)
        if not (ROOT / page).exists():
            complaints.append(f"{page}: got no page, need purpose, key types, main path")
        elif f"({page})" not in front:
            complaints.append(f"README.md: got no link to {page}, need one in the folder table")
    return complaints


def anchors(page: Path) -> set[str]:
    """Heading anchors as the usual renderers make them: lower case, dashes, no punctuation."""
    headings = re.findall(r"^#+ +(.*?) *$", FENCE.sub("", read(page)), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
