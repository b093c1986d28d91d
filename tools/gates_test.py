# Tests of gates.py.
# SPDX-License-Identifier: Apache-2.0

from gates import Group, Point, is_odd


def group(errors: list[float], half: float) -> Group:
    points = [Point(100, 100 * (1 + e), 100 * (1 + e - half), 100 * (1 + e + half)) for e in errors]
    return Group("some", most_mean=5, points=points)


def test_errors_within_the_limits_leave_no_complaint() -> None:
    errors = [0.01 * (i % 8 - 4) for i in range(100)]  # 7 of 8 inside 3.1 %
    assert group(errors, 0.031).complaints() == []


def test_a_mean_above_its_limit_is_named() -> None:
    assert any("mean" in c for c in group([0.1] * 10, 0.2).complaints())


def test_intervals_that_always_hold_are_too_wide() -> None:
    assert any("interval holds on 100 %" in c for c in group([0.01] * 100, 0.05).complaints())


def test_intervals_that_rarely_hold_are_too_narrow() -> None:
    assert any("interval holds on 0 %" in c for c in group([0.03] * 100, 0.02).complaints())


def test_few_rows_say_nothing_of_intervals() -> None:
    assert group([0.01] * 10, 0.05).complaints() == []


def test_a_row_without_a_prediction_fails_its_group() -> None:
    rows = group([0.0], 0.05)
    rows.add({"latency_us": "7", "predicted_us": ""})
    assert rows.complaints() == ["1 rows without a prediction"]


def test_a_row_without_a_measurement_counts_for_nothing() -> None:
    rows = group([0.0], 0.05)
    rows.add({"latency_us": "", "predicted_us": ""})
    assert rows.complaints() == []


def test_odd_rows_are_unaligned_16_bit_ones() -> None:
    row = {"dtype": "bf16", "n": "64", "k": "60", "family": "random"}
    assert is_odd(row)
    assert not is_odd({**row, "k": "64"})
    assert not is_odd({**row, "dtype": "fp32"})
