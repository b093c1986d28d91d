# The stages that only read sources: format, layers, size.
# SPDX-License-Identifier: Apache-2.0

from ci.runner import ROOT, Outcome, Run, StageError

SPDX = "SPDX-License-Identifier: Apache-2.0"


def sources(run: Run, *patterns: str) -> list[str]:
    """Files that git tracks or would add, by pathspec."""
    listing = run.capture("git", "ls-files", "-co", "--exclude-standard", "--", *patterns)
    if listing.returncode != 0:  # not a checkout: take what is there
        roots = ["src", "test", "tools", "examples", "python", "docs"]
        return sorted(
            str(path.relative_to(ROOT))
            for root in roots
            for pattern in patterns
            for path in (ROOT / root).rglob(pattern)
        )
    return [name for name in listing.stdout.splitlines() if (ROOT / name).exists()]


def fmt(run: Run) -> Outcome:
    files = sources(run, "*.h", "*.cpp", ":!test/golden")
    fix = "--fix" in run.options
    arguments = ["-i"] if fix else ["--dry-run", "--Werror", "--ferror-limit=1"]
    done = run.capture("clang-format-19", *arguments, *files)
    if done.returncode != 0:
        bad = sorted({line.split(":")[0] for line in done.stdout.splitlines() if "error:" in line})
        raise StageError("not formatted (./ci fmt --fix):\n" + "\n".join(bad or [done.stdout]))
    headless = files_without_head(run)
    if headless:
        need = "need a purpose in one or two lines, then the SPDX line:\n"
        raise StageError(need + "\n".join(headless))
    return Outcome(note=f"{len(files)} files")


def files_without_head(run: Run) -> list[str]:
    """Sources that do not open with a purpose (one or two lines, after #!) and the licence."""
    files = sources(run, "*.h", "*.cpp", "*.py", "*.cmake", "CMakeLists.txt", "*.toml")
    generated = ("test/golden/", "machines/", "libraries/")
    return [
        name
        for name in files
        if not name.startswith(generated) and "/generated/" not in name and not has_head(name)
    ]


def has_head(name: str) -> bool:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    lines = lines[1:] if lines and lines[0].startswith("#!") else lines
    purpose = lines[0].lstrip("/# ") if lines else ""
    return (
        bool(purpose)
        and not purpose.startswith("SPDX")
        and [line.strip("/# ") for line in lines[1:3]].count(SPDX) == 1
    )


def layers(run: Run) -> Outcome:
    run.call("python3", "tools/check_layers.py")
    return Outcome()


def size(run: Run) -> Outcome:
    done = run.capture("python3", "tools/size.py")
    print(done.stdout, end="")
    if done.returncode != 0:
        raise StageError("too long, see above")
    return Outcome()
