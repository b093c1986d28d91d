# Tests of count_constants: what counts, what fails, and that the files of this tree pass.
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import count_constants
import pytest

NUMBER = '{{ value = 1, unit = "us", source = "{source}", date = 2026-11-30{note} }}'


def tree(folder: Path, machine: str, library: str = "") -> Path:
    for name, text in (("machines/m.toml", machine), ("libraries/l.toml", library)):
        path = folder / name
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    return folder


def number(source: str, note: str = "a gap") -> str:
    return NUMBER.format(source=source, note=f', note = "{note}"' if note else "")


def test_the_machine_of_this_tree_is_within_its_budgets(capsys: pytest.CaptureFixture[str]) -> None:
    assert count_constants.main(["--machine", "h200-sxm"]) == 0
    out = capsys.readouterr().out
    assert "machine h200-sxm: " in out
    assert "launch.graph_gap" in out
    assert "core.count" not in out  # from the data sheet


def test_only_fitted_numbers_count(tmp_path: Path) -> None:
    sources = ("fitted", "measured", "derived", "datasheet", "assumed")
    text = "[a]\n" + "\n".join(f"{source} = {number(source)}" for source in sources)
    [one] = count_constants.counts_for("m", tree(tmp_path, text))
    assert [constant.key for constant in one.fitted] == ["a.fitted"]
    assert [constant.key for constant in one.assumed] == ["a.assumed"]


@pytest.mark.parametrize(("count", "status"), [(60, 0), (61, 1)])
def test_a_library_has_a_budget(tmp_path: Path, count: int, status: int) -> None:
    library = "[b.c]\n" + "\n".join(f"n{i} = {number('fitted')}" for i in range(count))
    root = tree(tmp_path, 'libraries = ["l"]', library)
    assert count_constants.main(["--machine", "m", "--root", str(root)]) == status


def test_a_fitted_number_needs_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tree(tmp_path, f"gap = {number('fitted', '')}")
    assert count_constants.main(["--machine", "m", "--root", str(root)]) == 1
    assert "gap: got no note" in capsys.readouterr().err


def test_bad_input_is_status_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = tree(tmp_path, "gap = {")
    assert count_constants.main(["--machine", "m", "--root", str(root)]) == 2
    assert count_constants.main(["--machine", "x", "--root", str(root)]) == 2
    assert "no such file" in capsys.readouterr().err
