# Installs what the checks need: Debian packages, and pinned Python packages in .venv.
# SPDX-License-Identifier: Apache-2.0

import hashlib
import os
import shutil
import subprocess
from collections.abc import MutableMapping
from pathlib import Path

from ci.runner import ROOT, Outcome, Run, StageError

VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "tools/requirements.txt"


def setup(run: Run) -> Outcome:
    missing = missing_packages(run)
    if missing:
        install(run, missing)
    installed = make_venv(run)
    export_environment(os.environ)
    if "ORRERY_NVRTC" not in os.environ:
        raise StageError(f"got no libnvrtc in {VENV}, need nvidia-cuda-nvrtc of {REQUIREMENTS}")
    words = [f"installed {', '.join(missing)}"] if missing else []
    return Outcome(note="; ".join(words + ([".venv made"] if installed else [])))


def export_environment(environment: MutableMapping[str, str]) -> None:
    """Tells tests where NVRTC is, and that the sanitizers shall stop at the first error."""
    libraries = sorted(VENV.glob("lib/python3.*/site-packages/nvidia/*/lib/libnvrtc.so.*"))
    if libraries:
        environment.setdefault("ORRERY_NVRTC", str(libraries[0]))
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    environment.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1")
    environment.setdefault("ORRERY_HOME", str(ROOT))


def missing_packages(run: Run) -> list[str]:
    if not shutil.which("dpkg-query"):
        return []  # not Debian: what is missing shows when it is used
    lines = (ROOT / "tools/debian-packages.txt").read_text(encoding="utf-8").splitlines()
    wanted = [line.split()[1] for line in lines if line and not line.startswith("#")]
    listing = run.capture("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n", *wanted)
    present = {line.split()[1] for line in listing.stdout.splitlines() if line[:10] == "installed "}
    if shutil.which("python3"):
        present |= {"python3", "python3-dev", "python3-venv"}  # any python3 with venv will do
    return [package for package in wanted if package not in present]


def install(run: Run, packages: list[str]) -> None:
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    prefix: list[str] = []
    if os.geteuid() != 0:
        if subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode:
            raise StageError(f"need packages; run: sudo apt-get update && sudo {' '.join(command)}")
        prefix = ["sudo", "-n"]
    print(f"   installing {' '.join(packages)}", flush=True)
    run.call(*prefix, "apt-get", "update")
    run.call(*prefix, "env", "DEBIAN_FRONTEND=noninteractive", *command)


def make_venv(run: Run) -> bool:
    """Makes .venv anew if the pinned list changed since it was made."""
    digest = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    stamp = VENV / "requirements.sha256"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return False
    run.call("python3", "-m", "venv", "--clear", VENV)
    pip: list[str | Path] = [
        venv_tool("python"),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "--quiet",
    ]
    run.call(*pip, "install", "-r", REQUIREMENTS)
    stamp.write_text(digest, encoding="utf-8")
    return True


def venv_tool(name: str) -> Path:
    return VENV / "bin" / name
