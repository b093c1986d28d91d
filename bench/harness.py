# The device under test, configurations by name, and rows as they are measured.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import os
import pathlib
import time
from typing import Any

import torch

import orrery
from orrery import nvrtc

Shape = tuple[int, ...]
TOLERANCE = 1e-2  # of bfloat16 outputs; rounding alone gives 1.7e-3
HANG_SECONDS = 15.0


def synchronize(what: str) -> None:
    """Waits for the device, but not for ever."""
    event = torch.cuda.Event()
    event.record()
    start = time.monotonic()
    while not event.query():
        if time.monotonic() - start > HANG_SECONDS:
            print(f"HANG {what}", flush=True)
            os._exit(3)
        time.sleep(0.0005)


class Bench:
    """The device, and rows as they are measured."""

    def __init__(self, out: pathlib.Path) -> None:
        torch.cuda.init()
        self.device = orrery.open_cuda(0, nvrtc.package_folders())
        self.out = out

    def launch(self, kernel: orrery.Kernel, tensors: list[torch.Tensor], **extents: int) -> None:
        stream = torch.cuda.current_stream().cuda_stream
        kernel.launch([tensor.data_ptr() for tensor in tensors], extents, stream)

    def write(self, **row: Any) -> None:
        with self.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(" ".join(f"{value}" for value in row.values()), flush=True)


def configured(kind: Any, settings: dict[str, Any]) -> Any:
    """A configuration of this kind with these settings."""
    config = kind()
    for name, value in settings.items():
        setattr(config, name, value)
    return config


def label_of(config: Any) -> str:
    """The kernel's name, and what it does not say."""
    label = str(config)
    if getattr(config, "ctas_per_sm", 1) > 1:
        label += f"_o{config.ctas_per_sm}"
    if getattr(config, "group", 8) not in (8, 64):
        label += f"_g{config.group}"
    return label


def with_choice(configs: list[Any], chosen: Any) -> list[Any]:
    """The configurations, the engine's choice first; each name once."""
    rest = [config for config in configs if label_of(config) != label_of(chosen)]
    return [chosen, *rest]
