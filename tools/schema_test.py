# Every JSON document of the golden outputs follows its published schema.
# SPDX-License-Identifier: Apache-2.0
import json
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs/reference/schema"
SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text(encoding="utf-8"))
    for path in sorted(FOLDER.glob("*.schema.json"))
}
REGISTRY: Registry = Registry().with_resources(
    (schema["$id"], Resource.from_contents(schema)) for schema in SCHEMAS.values()
)

COMMANDS = (
    "explain llama-3.1-8b --machine h200 --batch 4 --context 512",
    "predict llama-3.1-405b --machine h200 --phase prefill --seq 64",
    "explain gemm m=100 n=4100 k=4096 --machine h200",
    "compare llama-3.1-8b --machines h100,h200 --batch 4",
    "compare llama-3.1-8b --machines h100,h200 --batch 1..4x2",
    "compare rms_norm rows=1..64x8 cols=4096 --machines h200,mi300x",
    "tune add_rms_norm rows=64 cols=4096 --machine h200 --top 2",
    "simulate attention heads=8 kv_heads=8 seq_q=256 seq_kv=256 head_dim=64 --machine h200",
    "validate test/validation/models.csv --machine h200",
    "calibrate --list",
    "machines",
    "machines show h200",
    "models",
    "models show deepseek-v3",
    "ops",
)


def documents() -> list[tuple[str, str]]:
    """Command and output of every golden command that writes JSON."""
    found = []
    for path in sorted((ROOT / "test/golden").glob("*.orr")):
        for part in re.split(r"^\$ ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            text = re.sub(r"^(!.*|\[exit \d+\]|#.*)$", "", output, flags=re.M)
            if "--json" in command.split() and text.strip().startswith("{"):
                found.append((command, text))
    return found


def check(text: str) -> str:
    """Validates a document by the schema that it names; the name."""
    document = json.loads(text)
    name: str = document["schema"].removeprefix("orrery.").partition("/")[0]
    validator = jsonschema.Draft202012Validator(SCHEMAS[name], registry=REGISTRY)
    errors = [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]
    assert not errors, "\n".join(errors[:10])
    return name


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])


@pytest.mark.parametrize(("command", "text"), documents())
def test_golden_document_follows_its_schema(command: str, text: str) -> None:
    check(text)


def test_every_kind_of_document_follows_its_schema() -> None:
    seen = set()
    for command in COMMANDS:
        done = subprocess.run(
            [ROOT / "orrery", *command.split(), "--json"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        seen.add(check(done.stdout))
    assert seen == set(SCHEMAS) - {"estimate", "calibration"}


def test_calibrations_follow_their_schema() -> None:
    # Calibrating needs a GPU: the documents of those that were measured are kept.
    kept = sorted((ROOT / "docs/calibration").glob("*.json"))
    assert kept
    for path in kept:
        assert check(path.read_text(encoding="utf-8")) == "calibration"


def test_a_document_that_lacks_a_member_is_refused() -> None:
    _, text = next(pair for pair in documents() if '"orrery.model_prediction/1"' in pair[1])
    document = json.loads(text)
    del document["low_us"]
    with pytest.raises(AssertionError, match="low_us"):
        check(json.dumps(document))
