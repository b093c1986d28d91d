# Tests of check_layers.py.
# SPDX-License-Identifier: Apache-2.0

from typing import Any

import pytest
from check_layers import closure, depends_complaints, include_complaints

TABLE: dict[str, Any] = {
    "folders": {"base": [], "graph": ["base"], "kernel": ["graph"], "cost": ["kernel"]},
    "headers": {
        "gtest/": {"only": r"_test\.cpp$", "why": "tests alone"},
        "regex": {"only": r"\.cpp$", "why": "slow"},
    },
}


def test_a_folder_may_include_what_its_row_includes() -> None:
    assert closure(TABLE["folders"])["kernel"] == {"kernel", "graph", "base"}


def test_a_row_must_name_rows_above_it() -> None:
    with pytest.raises(SystemExit):
        closure({"graph": ["base"], "base": []})


def test_an_include_downwards_is_fine() -> None:
    text = '#include "orrery/base/result.h"\n#include <vector>\n'
    assert include_complaints("kernel/verify.cpp", text, TABLE) == []


def test_an_include_upwards_is_named_with_its_line() -> None:
    complaints = include_complaints("graph/op.h", '\n#include "orrery/cost/x.h"\n', TABLE)
    assert complaints == ["graph/op.h:2: includes orrery/cost/x.h, but graph may include base"]


def test_a_relative_include_is_refused() -> None:
    assert len(include_complaints("graph/op.cpp", '#include "op.h"\n', TABLE)) == 1


def test_an_unknown_folder_needs_a_row() -> None:
    assert len(include_complaints("misc/op.cpp", "", TABLE)) == 1


@pytest.mark.parametrize(
    ("path", "header", "count"),
    [
        ("graph/op_test.cpp", "gtest/gtest.h", 0),
        ("graph/op.cpp", "gtest/gtest.h", 1),
        ("graph/op.h", "regex", 1),
        ("graph/op.cpp", "regex", 0),
    ],
)
def test_restricted_headers(path: str, header: str, count: int) -> None:
    assert len(include_complaints(path, f"#include <{header}>\n", TABLE)) == count


def test_cmake_may_not_link_more_than_the_row() -> None:
    good = "orrery_module(kernel DEPENDS graph base LIBRARIES dl)"
    bad = "orrery_module(kernel DEPENDS graph cost LIBRARIES dl)"
    assert depends_complaints("kernel/CMakeLists.txt", good, TABLE) == []
    assert len(depends_complaints("kernel/CMakeLists.txt", bad, TABLE)) == 1
