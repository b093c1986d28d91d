# Building, printing, emitting and compiling kernels: nothing here needs a GPU.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

import orrery
from orrery import machines, nvrtc


def null_device() -> orrery.Device:
    """A device that compiles; the test is skipped, aloud, without NVRTC."""
    try:
        return orrery.open_null(nvrtc.package_folders(), "")
    except orrery.NotFoundError as error:
        pytest.skip(f"needs NVRTC: {error}")


def test_a_program_prints_and_parses_back() -> None:
    program = orrery.gemm_program(orrery.GemmConfig())
    assert orrery.parse_program(str(program)) == program


def test_an_impossible_configuration_names_the_reason() -> None:
    config = orrery.GemmConfig()
    config.ring = 0
    with pytest.raises(orrery.InvalidInputError, match="ring"):
        orrery.gemm_program(config)


def test_emitted_source_names_the_entry() -> None:
    program = orrery.add_rms_norm_program(orrery.AddRmsNormConfig())
    assert f"orrery_{program.name}(" in orrery.emit_cuda(program)


def test_compiled_kernels_do_not_spill_and_do_not_launch() -> None:
    device = null_device()
    program = orrery.decode_attention_program(orrery.DecodeConfig())
    kernel = device.load(program)
    assert kernel.facts.stack_bytes == 0
    with pytest.raises(orrery.UnsupportedError, match="no GPU"):
        kernel.launch([0] * len(program.tensors), {})


def test_more_rows_take_longer() -> None:
    estimator = orrery.ClosedForm(machines.load("h200-sxm"))
    program = orrery.add_rms_norm_program(orrery.AddRmsNormConfig())
    times = [
        estimator.time(program, {"rows": rows, "cols": 4096}).time_us for rows in (1024, 16384)
    ]
    assert times[0] < times[1]
