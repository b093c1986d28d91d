# Tests of what ./ci reads: ctest's lines, golden files, benchmark tables, links, tidy's complaints.
# SPDX-License-Identifier: Apache-2.0

from pathlib import Path

import pytest
from ci import docs, golden, tidy
from ci.__main__ import MORE_STAGES, NAMED, STAGES
from ci.builds import benchmark_rows, count_tests
from ci.checks import has_head
from ci.runner import ROOT, Outcome, Run, Stage, StageError, run_stages


def test_ctest_lines_are_counted() -> None:
    text = """
  1/4 Test #1: base.A ........   Passed    0.01 sec
  2/4 Test #2: base.B ........***Failed    0.01 sec
  3/4 Test #3: cuda.C ........***Skipped   0.01 sec
 4/4 Test  #4: gone_NOT_BUILT ...***Not Run   0.00 sec
"""
    counts = count_tests(text)
    assert (counts.passed, counts.failed, counts.skipped) == (1, 2, 1)


def test_a_golden_file_keeps_comments_and_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden, "output_of", lambda command, _: [f"ran {command}", "[exit 2]"])
    text = "# Idea.\n\n$ orrery ops\nold\n# Next.\n$ orrery x\n"
    ops = "$ orrery ops\nran orrery ops\n[exit 2]\n"
    x = "$ orrery x\nran orrery x\n[exit 2]\n"
    assert golden.replay(text, 1) == f"# Idea.\n\n{ops}# Next.\n{x}"


def test_golden_commands_are_ours() -> None:
    with pytest.raises(StageError):
        golden.output_of("rm -rf x", 1)


def test_benchmark_tables_are_read_past_their_preamble() -> None:
    text = 'name,iterations,...\n"cost/gemm",1000,12.5,12.4,ns,,8e7,,,\nnoise\n'
    assert benchmark_rows(text) == [('"cost/gemm"', ["1000", "12.5", "12.4", "ns", "8e7"])]


def test_links_and_anchors_must_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    (tmp_path / "b.md").write_text("# One `two`\n", encoding="utf-8")
    page = tmp_path / "a.md"
    page.write_text(
        "[x](b.md) [y](b.md#one-two) [z](https://a.b) ![p](no.png)\n[q](b.md#three)\n"
        "```\n[not a link](gone.md)\n```\n",
        encoding="utf-8",
    )
    assert [text.split("link to ")[1].split(",")[0] for text in docs.broken_links(page)] == [
        "no.png",
        "b.md#three",
    ]


def test_only_unused_includes_are_complaints() -> None:
    text = """a.cpp:1:2: error: no header providing "std::move" is directly included [misc]
a.cpp:2:2: error: included header x.h is not used directly [misc]
   note
"""
    assert len(tidy.complaints(text)) == 1


def test_sources_open_with_purpose_and_licence() -> None:
    assert has_head("tools/ci_test.py")
    assert not has_head("LICENSE")


def test_a_run_counts_and_goes_on_after_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    def broken(run: Run) -> Outcome:
        raise StageError("because")

    stages = [
        Stage("a", 1, broken, "fails"),
        Stage("b", 1, lambda run: Outcome(3, 0, 2), "counts"),
    ]
    assert run_stages(stages, Run()) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 1 failed, 2 skipped"


def test_budgets_leave_room_in_the_hour() -> None:
    assert sum(stage.budget_s for stage in STAGES) <= 50 * 60
    assert len(NAMED) == len(STAGES) + len(MORE_STAGES)


def test_scripts_are_executable() -> None:
    for name in ("ci", "orrery", ".githooks/pre-commit", ".githooks/commit-msg"):
        assert (ROOT / name).stat().st_mode & 0o111, name
