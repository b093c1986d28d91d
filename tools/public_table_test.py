# The table of published rows: what is left out, how rows are grouped, which limit holds for whom.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import public_table


def row(**more: str) -> public_table.Row:
    return {"dtype": "bf16", "latency_us": "100", "predicted_us": "110", "flag": "", **more}


def test_impossible_rows_are_left_out_and_missing_predictions_counted() -> None:
    rows = [row(), row(flag="above_peak_flops", predicted_us="900"), row(predicted_us="")]
    (cell,) = public_table.scored(rows, "h200_sxm", "gemm")
    assert len(cell.errors) == 1
    assert abs(cell.errors[0] - 0.1) < 1e-9
    assert cell.unpredicted == 1


def test_a_limit_is_on_the_median_of_the_machines_it_is_for() -> None:
    rows = [row(predicted_us="115")] * 3
    assert not public_table.scored(rows, "h200_sxm", "gemm")[0].holds()
    assert public_table.scored(rows, "l40s", "gemm")[0].holds()
    assert public_table.scored(rows, "mi325x", "gemm")[0].limit() is None
    none = public_table.scored([row(predicted_us="")], "h200_sxm", "gemm")[0]
    assert not none.holds()


def test_messages_and_caches_are_told_apart() -> None:
    rows = [row(bytes="1048576"), row(bytes="512", predicted_us="300")]
    below, above = sorted(
        public_table.scored(rows, "b200_sxm", "allreduce"), key=lambda cell: cell.limit() or 0
    )
    assert (below.kind, above.kind) == ("below 1 MiB", "from 1 MiB")
    assert below.limit() is None
    (cell,) = public_table.scored([row(kv_dtype="fp8")], "h200_sxm", "attention_decode")
    assert cell.kind == "fp8 cache"
    assert cell.limit() == 20


def test_exchanges_are_told_apart_by_kernels_and_bytes_of_a_gpus_tokens() -> None:
    # 512 tokens of 1024 features in bf16 are a mebibyte; one fewer is not.
    rows = [row(kind="normal", tokens=tokens, hidden="1024") for tokens in ("511", "512")]
    cells = public_table.scored(rows, "b200_sxm", "moe_a2a")
    below, above = sorted(cells, key=lambda cell: cell.kind)
    assert (below.kind, above.kind) == ("normal below 1 MiB", "normal from 1 MiB")
    assert (below.limit(), above.limit()) == (None, 20)


def test_whole_models_are_reported_by_phase_and_not_limited() -> None:
    rows = [row(phase="throughput_out_tok_s_per_gpu", dtype="fp8", predicted_us="900")]
    (cell,) = public_table.scored(rows, "h100_sxm", "e2e")
    assert cell.kind == "throughput fp8"
    assert cell.holds()
