# Which configuration of a family to run: the one with the least predicted time.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import orrery
from orrery import machines

Config = TypeVar("Config")
MACHINE = "h200-sxm"  # emitted kernels are sm_90a, and this is the machine file that is validated


@functools.cache
def estimator() -> orrery.ClosedForm:
    """The closed-form model of the machine."""
    return orrery.ClosedForm(machines.load(MACHINE))


def predicted_us(programs: Sequence[orrery.Program], extents: Mapping[str, int]) -> float:
    """The time of the kernels one after the other."""
    return sum(estimator().time(program, dict(extents)).time_us for program in programs)


def fastest(
    configs: Sequence[Config],
    programs_of: Callable[[Config], Sequence[orrery.Program]],
    extents: Mapping[str, int],
) -> Config:
    """The configuration of least predicted time; the first among equals."""
    if not configs:
        raise orrery.InfeasibleError(f"[torch] no kernel for {dict(extents)}: got no configuration")
    return min(configs, key=lambda config: predicted_us(programs_of(config), extents))


def gemm_programs(config: orrery.GemmConfig) -> list[orrery.Program]:
    """The product, and the combination of its parts."""
    programs = [orrery.gemm_program(config)]
    if config.parts > 1:
        programs.append(orrery.gemm_combine_program(config))
    return programs


def decode_programs(config: orrery.DecodeConfig) -> list[orrery.Program]:
    """The attention, and the combination of its parts."""
    programs = [orrery.decode_attention_program(config)]
    if config.parts > 1:
        programs.append(orrery.decode_combine_program(config))
    return programs


def gemm_config(m: int, n: int, k: int, base: orrery.GemmConfig | None = None) -> orrery.GemmConfig:
    """The GEMM for these extents; type and epilogue are those of `base`."""
    configs = orrery.gemm_configs(m, n, k, machines.load(MACHINE), base or orrery.GemmConfig())
    return fastest(configs, gemm_programs, {"m": m, "n": n, "k": k})


def add_rms_norm_config(
    rows: int, cols: int, base: orrery.AddRmsNormConfig | None = None
) -> orrery.AddRmsNormConfig:
    """The norm for these extents."""
    start = base or orrery.AddRmsNormConfig()
    configs = orrery.add_rms_norm_configs(rows, cols, machines.load(MACHINE), start)
    extents = {"rows": rows, "cols": cols}
    return fastest(configs, lambda config: [orrery.add_rms_norm_program(config)], extents)


def decode_config(
    b: int, h: int, g: int, s: int, base: orrery.DecodeConfig | None = None
) -> orrery.DecodeConfig:
    """The decode attention for these extents; the head dimension is that of `base`."""
    start = base or orrery.DecodeConfig()
    configs = orrery.decode_configs(b, h, g, s, machines.load(MACHINE), start)
    return fastest(configs, decode_programs, {"b": b, "h": h, "g": g, "s": s})
