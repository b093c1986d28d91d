# Tests of tile choices: nearness, quality, ties, names, places.
# SPDX-License-Identifier: Apache-2.0
"""python -m pytest bench/opponents/tiles_test.py"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
import tiles
from tiles import Case, Config, Tile, Winner

SMALL = Config(64, 64, 64, 2, 4)
WIDE = Config(64, 256, 64, 2, 4)
DEEP = Config(64, 64, 64, 4, 8)
CASE = Case("ptr", 512, 512, 512)


def write(path: Path, column: str, rows: list[tuple[Case, Config, str]]) -> Path:
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow([*Case._fields, *Config._fields, "group_m", column])
        out.writerows([*case, *config, 8, time] for case, config, time in rows)
    return path


def test_what_was_measured_is_its_own_nearest() -> None:
    for config in (SMALL, WIDE, DEEP):
        assert tiles.nearest(config, [SMALL, WIDE, DEEP]) == config


def test_the_tile_is_nearer_than_stages_and_warps() -> None:
    assert tiles.nearest(Config(64, 128, 64, 4, 8), [WIDE, DEEP]) == DEEP  # both one step of bn
    assert tiles.nearest(Config(64, 200, 64, 4, 8), [WIDE, DEEP]) == WIDE
    assert tiles.nearest(Config(64, 64, 64, 3, 4), [SMALL, DEEP]) == DEEP  # log2 4/3 < log2 3/2


def test_quality_is_that_of_the_best_tried() -> None:
    times = {SMALL: 30.0, WIDE: 10.0, DEEP: 12.5}
    assert tiles.quality(times, [SMALL]) == pytest.approx(1 / 3)
    assert tiles.quality(times, [SMALL, DEEP]) == pytest.approx(0.8)
    assert tiles.quality(times, [WIDE]) == 1


def test_of_equals_the_one_that_fills_most_memory_is_first() -> None:
    assert tiles.order({SMALL: 1.0, DEEP: 1.0, WIDE: 2.0}) == [DEEP, SMALL, WIDE]


def test_predictions_are_joined_by_case_and_configuration(tmp_path: Path) -> None:
    other = Case("tma", 512, 512, 512)
    measured = tiles.times_of(
        write(
            tmp_path / "measured.csv",
            "latency_us",
            [(CASE, SMALL, "10"), (CASE, WIDE, "20"), (other, SMALL, "5"), (other, WIDE, "4")],
        )
    )
    predicted = tiles.times_of(
        write(
            tmp_path / "predicted.csv",
            "predicted_us",
            [(CASE, WIDE, "1"), (CASE, SMALL, "2"), (other, WIDE, "3"), (other, SMALL, "")],
        ),
        "predicted_us",
    )
    choices = {case: tiles.order(times) for case, times in predicted.items()}
    score = tiles.qualities(measured, choices)
    assert score.cases == 2
    assert score.mean[1] == pytest.approx((0.5 * 1.0) ** 0.5)
    assert score.worst[1] == pytest.approx(0.5)
    assert score.mean[5] == 1


def test_errors_are_over_all_that_has_an_estimate() -> None:
    measured = {CASE: {SMALL: 10.0, WIDE: 20.0, DEEP: 5.0}}
    assert tiles.mean_error(measured, {CASE: {SMALL: 11.0, WIDE: 14.0}}) == pytest.approx(0.2)
    assert tiles.mean_error(measured, {}) is None


def test_a_case_without_an_answer_is_not_scored() -> None:
    measured = {CASE: {SMALL: 1.0}, Case("tma", 1, 1, 1): {SMALL: 1.0}}
    assert tiles.qualities(measured, {CASE: [SMALL]}).cases == 1
    assert tiles.qualities(measured, {}).cases == 0


def test_the_plain_choice_never_sees_its_own_shape() -> None:
    lone = Case("ptr", 8, 8, 8)
    measured = {CASE: {SMALL: 1.0, WIDE: 9.0}, lone: {SMALL: 9.0, WIDE: 1.0}}
    choices = tiles.other_shapes(measured)
    assert choices[CASE] == [WIDE, SMALL]
    assert choices[lone] == [SMALL, WIDE]


@pytest.mark.parametrize(
    ("kernel", "tile"),
    [
        ("ck:a8w8_blockscale_1x128x128_256x64x128x256_16x16", Tile(64, 128, 256)),
        ("ck:a8w8_blockscale_1x128x128_256x16x64x128_8x16_", Tile(16, 64, 128)),
        ("fp8_block_MT256x128x64_split4", Tile(256, 128, 64)),
        ("MT16x64x128", Tile(16, 64, 128)),
        ("cktile:a8w8_blockscale_cktile_16x128x256_1x4x1_1", None),
        ("asm:_ZN5aiter42I8gemm_bf16_perTokenI8_BpreShuffl", None),
        ("", None),
    ],
)
def test_names_tell_tiles(kernel: str, tile: Tile | None) -> None:
    assert tiles.tile_of(kernel) == tile


def test_cuts_fill_the_chip_at_most() -> None:
    winner = Winner({"m": "16", "n": "1024", "k": "4096"}, Tile(16, 64, 256))
    assert tiles.cuts(winner, Tile(16, 64, 256), 304) == [1, 2, 4, 8, 16]  # of 16 tiles
    assert tiles.cuts(winner, Tile(16, 64, 2048), 304) == [1, 2]
    assert tiles.cuts(winner, Tile(16, 1, 256), 304) == [1]


def test_places_count_from_one_and_end_behind_the_list() -> None:
    ordered = [Tile(1, 1, 1), Tile(2, 2, 2)]
    assert tiles.place(Tile(2, 2, 2), ordered) == 2
    assert tiles.place(Tile(3, 3, 3), ordered) == 3
    assert tiles.share_within([1, 2, 9], 2) == pytest.approx(2 / 3)


def test_the_commonest_tile_does_not_count_its_own_row() -> None:
    a, b = Tile(1, 1, 1), Tile(2, 2, 2)
    orders = tiles.commonest([Winner({}, a), Winner({}, b), Winner({}, b)])
    assert orders[0] == [b, a]
    assert orders[1] == [a, b]  # one each without its own; then by the numbers
