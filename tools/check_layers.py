# Checks every #include and every DEPENDS of src/orrery against tools/layers.toml.
# SPDX-License-Identifier: Apache-2.0
"""Usage: check_layers.py [SOURCE_FOLDER]. Prints each include that its folder's row does not allow,
with the row; exit status 1 if there is one."""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
DEPENDS = re.compile(r"orrery_module\(\s*(\w+)[^)]*?\bDEPENDS\s+([\w\s]+)")
KEYWORDS = ("LIBRARIES", "DEPENDS")


def closure(rows: dict[str, list[str]]) -> dict[str, set[str]]:
    """What each folder may include: itself, its row, and what its row may include."""
    allowed: dict[str, set[str]] = {}
    for folder, row in rows.items():
        unknown = [name for name in row if name not in allowed]
        if unknown:
            raise SystemExit(f"layers.toml: {folder} names {unknown}, need folders above it")
        allowed[folder] = {folder}.union(row, *(allowed[name] for name in row))
    return allowed


def include_complaints(path: str, text: str, table: dict[str, Any]) -> list[str]:
    """What is wrong with the includes of src/orrery/<path>."""
    allowed = closure(table["folders"])
    folder = path.split("/")[0]
    if folder not in allowed:
        return [f"{path}: got folder {folder}, need a row for it in tools/layers.toml"]
    complaints = []
    for match in INCLUDE.finditer(text):
        name = match[2]
        where = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        if name.startswith("orrery/"):
            target = name.split("/")[1]
            if target not in allowed[folder]:
                row = ", ".join(table["folders"][folder]) or "nothing"
                complaints.append(f"{where}: includes {name}, but {folder} may include {row}")
        elif match[1] == '"' and not name.startswith("test/support/"):
            complaints.append(f'{where}: includes "{name}", need the path from src: "orrery/..."')
        complaints += restricted(where, path, name, table["headers"])
    return complaints


def restricted(where: str, path: str, name: str, headers: dict[str, Any]) -> list[str]:
    complaints = []
    for prefix, rule in headers.items():
        matches = name.startswith(prefix) if prefix.endswith("/") else name == prefix
        matches = matches or (prefix == "rapidcheck" and name.startswith(prefix))
        if matches and not re.search(rule["only"], path):
            complaints.append(f"{where}: includes {name}: {rule['why']}")
    return complaints


def depends_complaints(path: str, text: str, table: dict[str, Any]) -> list[str]:
    """CMake must not link what the row does not allow."""
    allowed = closure(table["folders"])
    complaints = []
    for module, names in DEPENDS.findall(text):
        for name in re.split(r"\s+", names.strip()):
            if name in KEYWORDS:
                break
            if name not in allowed.get(module, set()):
                complaints.append(f"{path}: {module} DEPENDS {name}, which its row does not allow")
    return complaints


def check(source: Path, table: dict[str, Any]) -> list[str]:
    complaints: list[str] = []
    for file in sorted(source.rglob("*")):
        path = file.relative_to(source).as_posix()
        if file.suffix in (".h", ".cpp", ".inc") and "/" in path:
            complaints += include_complaints(path, file.read_text(encoding="utf-8"), table)
        elif file.name == "CMakeLists.txt" and "/" in path:
            complaints += depends_complaints(path, file.read_text(encoding="utf-8"), table)
    return complaints


def main() -> int:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "src/orrery"
    table = tomllib.loads((ROOT / "tools/layers.toml").read_text(encoding="utf-8"))
    complaints = check(source, table)
    print("\n".join(complaints) if complaints else "layers hold")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
