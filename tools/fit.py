#!/usr/bin/env python3
# Scores machine and library files against measured tables, fits and cross-validates constants.
# SPDX-License-Identifier: Apache-2.0
"""Three commands, all driving the program `orrery_validate_main` (src/orrery/validate/main.cpp):

    tools/fit.py score         accuracy by family, as in docs/accuracy.md
    tools/fit.py fit gemm      refits the constants of a group (GROUPS below), writes both files
    tools/fit.py folds gemm    the same fit on 4 of 5 folds, scored on the fifth; writes nothing

A fold holds whole shapes: cases that share all sizes but the batch lie in one fold, so that none is
fitted on its twin. Attention leaves out whole head layouts, grouped GEMM whole models. The loss is
the mean |log(predicted / measured)|, each case capped at 0.5, plus a weak pull towards the present
values.
"""

from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = {"machine": ROOT / "machines/h200-sxm.toml"} | {
    path.stem: path for path in sorted((ROOT / "libraries").glob("*.toml"))
}
NVJET = "fixed epilogue_instructions step_floor cluster_floor pitch_32 pitch_128 dram_share overlap"
CLOCK = "tensor_power_burst tensor_power_steady drop_after drop_spread"
LEGACY = (
    "lane_copy warp_copy prologue epilogue_instructions group_fixed tile_sum_fixed tile_sum_access"
)
FLASH = (
    "issue_stretch pipe_overlap alone wait unit step step_uneven overlap fixed combine_unit "
    "combine_split"
)
BACKWARD = "alone unit copy_issue overlap"
GROUPED = "zero_fill pair_fill unit_small unit_large dram_share overlap fixed"
CUDNN = (
    "issue_per_score pipe_overlap diagonal unit fixed decode_fixed decode_block "
    "decode_share_small reduction_fixed"
)
CONV_WGMMA = "fixed step_floor tf32_row partial_rate tile epilogue segment_fixed"
CONV_MMA = "fixed tensor_share step_floor step tile epilogue unaligned"
CONV_DEPTHWISE = (
    "native_output native_tap native_chain plain_tap plain_chain_half plain_chain_single "
    "special_output special_tap special_chain special_chain_tap tiled_output tiled_tap"
)
CONV_LAYOUT = "to_channels_last to_channels_first block_chain pad transform transform_chain"
POINTWISE = (
    "copy fill cast_fp32 add mul bias_add broadcast_mul exp relu sigmoid tanh gelu silu clamp "
    "gelu_backward silu_backward quantize_fp8 where"
)

# what `score` scores; "given": the kernel that ran is given
TABLES = [
    "gemm",
    "gemm given",
    "gemm2",
    "gemm_power",
    "attention",
    "attention2",
    "membound",
    "membound2",
    "grouped_gemm",
    "conv",
    "collectives",
    "models",
]

Loss = Callable[[list[float]], float]


def keys(file: str, section: str, names: str) -> list[str]:
    return [f"{file}:{section}.{name}" for name in names.split()]


# group: its constants, the tables to score, and the families of those tables (empty: all)
GROUPS: dict[str, tuple[list[str], list[str], str]] = {
    "gemm": (
        keys("cublas-13", "nvjet", NVJET)
        + keys("machine", "clock", CLOCK)
        + keys("machine", "clock.tensor_energy", "f16 f8e4m3"),
        ["gemm", "gemm2", "gemm_power"],
        "gemm_bf16 gemm_fp16 gemm_fp8 gemm_burst gemm_steady",
    ),
    "legacy": (
        keys("cublas-13", "legacy", LEGACY) + keys("cublas-13", "split_sum", "fixed trip"),
        ["gemm", "gemm2"],
        "gemm_fp32 gemm_tf32 gemm_odd",
    ),
    "flash": (keys("flash-attention-2", "flash", FLASH), ["attention"], "flash"),
    "backward": (
        keys("flash-attention-2", "flash_backward", BACKWARD),
        ["attention2"],
        "",
    ),
    "efficient": (
        keys("cutlass-4", "efficient_attention", "alone step"),
        ["attention_mla_window"],
        "efficient",
    ),
    "grouped": (keys("cutlass-4", "grouped_gemm", GROUPED), ["grouped_gemm"], ""),
    "cudnn": (keys("cudnn-9", "attention", CUDNN), ["attention"], "cudnn"),
    "conv": (
        keys("cudnn-9", "conv.wgmma", CONV_WGMMA)
        + keys("cudnn-9", "conv.mma", CONV_MMA)
        + keys("cudnn-9", "conv.direct", "fixed step instructions")
        + keys("cudnn-9", "conv.depthwise", CONV_DEPTHWISE)
        + keys("cudnn-9", "conv.layout", CONV_LAYOUT),
        ["conv"],
        "",
    ),
    "pointwise": (
        keys("machine", "launch", "graph_gap first_access cold_access")
        + keys("machine", "dram", "mix latency")
        + keys("machine", "overlap", "in_step write_wait")
        + ["machine:core.integer_slots", "machine:l2.rewritten"],
        ["membound", "membound2"],
        POINTWISE,
    ),
    "rows": (
        keys("pytorch-2", "norm.chain", "layer_row layer_trip rms_row rms_trip")
        + keys("pytorch-2", "norm.chain", "backward_row backward_trip gamma_trip")
        + keys("pytorch-2", "softmax", "row dependent block backward")
        + keys("pytorch-2", "training", "loss_unit loss_row optimizer_unit optimizer_trip"),
        ["membound", "membound2"],
        "rms_norm layer_norm softmax softmax_backward layer_norm_backward cross_entropy adamw",
    ),
    "reduction": (
        keys("pytorch-2", "reduction", "unit last partial in_step restart"),
        ["membound", "membound2"],
        "sum_rows sum_cols sum_all mean_rows mean_cols max_rows var_rows argmax",
    ),
    "transpose": (
        keys("pytorch-2", "transpose", "lone_sector wait"),
        ["membound"],
        "transpose",
    ),
    "gather": (
        keys("pytorch-2", "gather", "row few_row few_unit add_drain"),
        ["membound", "membound2"],
        "gather_rows embedding index_add",
    ),
    "sort": (
        keys("pytorch-2", "sort", "pass_slots pass_item pass_dependent item_slots sweep_item")
        + keys("pytorch-2", "sort", "select select_trip select_slots digit_slots small_kernel"),
        ["membound", "membound2"],
        "sort topk8 embedding_backward",
    ),
    "collectives": (
        keys("nccl-2", "nccl", "fill host")
        + keys("nccl-2", "nccl.ll", "fixed hop fixed_point block_rate")
        + keys("nccl-2", "nccl.simple", "fixed hop fixed_point block_rate"),
        ["collectives"],
        "",
    ),
}


@dataclass
class Case:
    table: str
    family: str
    name: str
    measured: float
    predicted: float
    low: float
    high: float

    def error(self) -> float:
        return self.predicted / self.measured - 1

    def fold(self) -> str:
        """0 to 4, by the sizes without the first (the batch, or the data type of rows); of a
        product by n and k alone, so that all rows of a weight lie in one fold; of collectives the
        operator, so that a whole one is left out."""
        words = self.name.split()
        if self.table == "collectives":
            return words[0]
        shape = " ".join(words[:1] + words[2:])
        if self.table == "conv":  # a kind of layer, whatever its type, batch and layout
            shape = " ".join(words[i] for i in (2, 5, 6))  # c, k, r
        elif self.family.startswith("gemm"):
            shape = " ".join([word for word in words if word.isdigit()][-2:])
        elif self.table in ("attention", "attention2"):
            shape = " ".join(words[i] for i in (3, 4, 7))  # heads, kv_heads, head_dim
        elif self.table == "grouped_gemm":
            shape = words[0]  # the model
        return str(hashlib.sha256(shape.encode()).digest()[0] % 5)


def case_of(line: str) -> Case | None:
    """A line of the program; none if it was not predicted or not measured."""
    table, family, name, measured, predicted, low, high, _ = line.split(",")
    if not (predicted and measured):
        return None
    return Case(table, family, name, float(measured), float(predicted), float(low), float(high))


class Scorer:
    """Runs the program on two texts; keeps them in a folder of its own."""

    def __init__(self, program: str, data: str) -> None:
        self.program, self.data = program, data
        self.folder = tempfile.TemporaryDirectory()

    def run(self, texts: dict[str, str], tables: list[str]) -> list[Case]:
        paths = {name: Path(self.folder.name) / f"{name}.toml" for name in texts}
        for name, path in paths.items():
            path.write_text(texts[name])
        cases: list[Case] = []
        for table in tables:
            name, *given = table.split()
            command = [
                self.program,
                *(["--given-kernel"] if given else []),
                *map(str, paths.values()),
            ]
            command.append(f"{self.data}/{name}.csv")
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise ValueError(done.stderr)
            cases += [case for line in done.stdout.splitlines() if (case := case_of(line))]
        return cases


def place(texts: dict[str, str], key: str) -> tuple[str, int, int]:
    """File and span of the value of file:section.leaf."""
    file, path = key.split(":")
    section, leaf = path.rsplit(".", 1)
    start = texts[file].index(f"[{section}]\n")
    found = re.compile(rf"^{leaf} = {{ value = ([-0-9.e+]+)", re.M).search(texts[file], start)
    if found is None:
        raise KeyError(key)
    begin, end = found.span(1)
    return file, begin, end


def value(texts: dict[str, str], key: str) -> float:
    file, begin, end = place(texts, key)
    return float(texts[file][begin:end])


def with_values(texts: dict[str, str], values: dict[str, float]) -> dict[str, str]:
    new = dict(texts)
    for key, number in values.items():
        file, begin, end = place(new, key)
        new[file] = f"{new[file][:begin]}{number:.4g}{new[file][end:]}"
    return new


def present() -> dict[str, str]:
    return {name: path.read_text() for name, path in FILES.items()}


def evaluated(
    loss: Loss, origin: list[float], step: list[float], times: float
) -> tuple[float, list[float]]:
    point = [o + times * s for o, s in zip(origin, step, strict=True)]
    return loss(point), point


def nelder_mead(loss: Loss, size: int, evaluations: int) -> list[float]:
    """The simplex method from the origin, first steps of 0.12."""
    points = [[0.12 if i == j else 0.0 for j in range(size)] for i in range(-1, size)]
    simplex = sorted((loss(p), p) for p in points)
    used = len(simplex)
    while used < evaluations:
        worst, rest = simplex[-1], simplex[:-1]
        centre = [sum(p[j] for _, p in rest) / size for j in range(size)]
        step = [c - f for c, f in zip(centre, worst[1], strict=True)]
        new = evaluated(loss, centre, step, 1.0)
        if new[0] < simplex[0][0]:
            new = min(new, evaluated(loss, centre, step, 2.0))
            used += 1
        elif new[0] >= rest[-1][0]:
            new = min(new, evaluated(loss, centre, step, -0.5))
            used += 1
        used += 1
        if new[0] < worst[0]:
            simplex = sorted([*rest, new])
        else:
            best = simplex[0][1]
            shrunk = [[(a + b) / 2 for a, b in zip(p, best, strict=True)] for _, p in simplex[1:]]
            simplex = sorted([simplex[0], *((loss(p), p) for p in shrunk)])
            used += size
    return simplex[0][1]


def in_families(case: Case, families: str) -> bool:
    """Of one of the families, "flash" standing for "flash decode" too; none named: of any. Blanks
    of a family's name are written as _. Products of zeros are not fitted."""
    name = case.family.replace(" ", "_").replace("-", "_")
    if name.endswith("_zeros"):
        return False
    return not families or any(name == f or name.startswith(f + "_") for f in families.split())


def fit(
    scorer: Scorer, group: str, evaluations: int, keep: Callable[[Case], bool]
) -> dict[str, float]:
    names, tables, families = GROUPS[group]
    texts = present()
    start = {key: value(texts, key) for key in names}

    def at(point: list[float]) -> dict[str, float]:
        return {key: start[key] * math.exp(u) for key, u in zip(names, point, strict=True)}

    def loss(point: list[float]) -> float:
        try:
            cases = scorer.run(with_values(texts, at(point)), tables)
        except ValueError:
            return 9.0  # a constant outside its range
        errors = [
            min(0.5, abs(math.log(c.predicted / c.measured)))
            for c in cases
            if in_families(c, families) and keep(c)
        ]
        return sum(errors) / len(errors) + 0.004 * sum(u * u for u in point) / len(point)

    return at(nelder_mead(loss, len(names), evaluations))


def line_of(table: str, family: str, members: list[Case]) -> str:
    sizes = sorted(abs(c.error()) for c in members)
    n = len(sizes)
    bias = sum(c.error() for c in members) / n
    held = sum(c.low <= c.measured <= c.high for c in members) / n
    percents = [100 * x for x in (sum(sizes) / n, sizes[n // 2], sizes[int(0.9 * (n - 1))])]
    numbers = " ".join(f"{x:6.1f}" for x in percents)
    shown = f"{held:5.2f}" if members[0].high else "    -"  # a sum of its own has no interval
    return f"{table:10} {family:18} {n:4} {numbers} {100 * bias:+6.1f} {shown}"


def summary(cases: list[Case]) -> str:
    head = f"{'table':10} {'family':18} {'n':>4} {'MAPE':>6} {'median':>6} {'p90':>6} {'bias':>6}"
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.table, case.family), []).append(case)
    lines = [line_of(*key, members) for key, members in sorted(groups.items())]
    return "\n".join([head + "  held", *lines])


def folds(scorer: Scorer, group: str, evaluations: int) -> list[Case]:
    """Every case of the group, predicted by a fit that left its fold out."""
    _, tables, families = GROUPS[group]
    unseen: list[Case] = []
    labels = {c.fold() for c in scorer.run(present(), tables) if in_families(c, families)}
    for fold in sorted(labels):

        def kept(case: Case, fold: str = fold) -> bool:
            return case.fold() != fold

        values = fit(scorer, group, evaluations, kept)
        cases = scorer.run(with_values(present(), values), tables)
        unseen += [c for c in cases if not kept(c) and in_families(c, families)]
    return unseen


def refit(scorer: Scorer, group: str, evaluations: int) -> None:
    """Fits the group on everything, writes the files and prints what changed."""
    texts = present()
    values = fit(scorer, group, evaluations, lambda _: True)
    for key, number in values.items():
        print(f"{key:55} {value(texts, key):10.5g} -> {number:10.5g}")
    for name, text in with_values(texts, values).items():
        FILES[name].write_text(text)


def options_of() -> argparse.Namespace:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("command", choices=["score", "fit", "folds"])
    parser.add_argument("group", nargs="?", choices=sorted(GROUPS))
    program = ROOT / "build/release/bin/orrery_validate_main"
    parser.add_argument("--program", default=str(program))
    data = os.environ.get("ORRERY_DATA", "")
    parser.add_argument("--data", default=data, help="folder of the measured tables")
    parser.add_argument("--evaluations", type=int, default=250)
    options = parser.parse_args()
    if not options.data:
        parser.error("need --data or ORRERY_DATA, the folder of the measured tables")
    if options.command != "score" and options.group is None:
        parser.error("need a group: " + ", ".join(sorted(GROUPS)))
    return options


def main() -> int:
    options = options_of()
    scorer = Scorer(options.program, options.data)
    if options.command == "fit":
        refit(scorer, options.group, options.evaluations)
    elif options.command == "folds":
        print(summary(folds(scorer, options.group, options.evaluations)))
    else:
        for table in GROUPS[options.group][1] if options.group else TABLES:
            print(summary(scorer.run(present(), [table])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
