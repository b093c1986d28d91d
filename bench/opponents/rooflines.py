# Two rooflines: by the data sheet, and with three constants fitted to the rows.
# SPDX-License-Identifier: Apache-2.0
"""time = fixed + max(FLOP / rate, bytes / bandwidth), with nothing else known of the machine."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

# NVIDIA H200 SXM: 989 TFLOPS dense bf16, twice that fp8, half tf32; fp32 67 TFLOPS; 4.8 TB/s.
PEAK_FLOPS = {"bf16": 989e12, "fp16": 989e12, "fp8": 1979e12, "tf32": 494.7e12, "fp32": 67e12}
BANDWIDTH = 4.8e12


class Row(Protocol):
    @property
    def flops(self) -> float: ...
    @property
    def bytes(self) -> float: ...
    @property
    def measured_us(self) -> float: ...


@dataclass(frozen=True)
class Roofline:
    """`rate` and `bandwidth` are shares of the data sheet's."""

    fixed_us: float = 0.0
    rate: float = 1.0
    bandwidth: float = 1.0

    def time_us(self, row: Row) -> float:
        peak = PEAK_FLOPS[getattr(row, "dtype", "bf16")] * self.rate
        bytes_us = row.bytes / (BANDWIDTH * self.bandwidth) * 1e6
        return self.fixed_us + max(row.flops / peak * 1e6, bytes_us)


def mean_error(roofline: Roofline, rows: Sequence[Row]) -> float:
    return statistics.fmean(abs(roofline.time_us(r) / r.measured_us - 1) for r in rows)


def fitted(rows: Sequence[Row]) -> Roofline:
    """Least mean relative error, by halving steps along each constant."""
    best = Roofline(2.0, 0.7, 0.7)
    error = mean_error(best, rows)
    step = 2.0
    while step > 1.002:
        moved = False
        for name in ("fixed_us", "rate", "bandwidth"):
            for factor in (step, 1 / step):
                tried = Roofline(**{**best.__dict__, name: getattr(best, name) * factor})
                if (e := mean_error(tried, rows)) < error:
                    best, error, moved = tried, e, True
        if not moved:
            step = step**0.5
    return best


def left_out(rows: Sequence[Row]) -> list[float]:
    """Times of each row by constants fitted to the other half of the rows."""
    halves = [fitted(rows[1::2]), fitted(rows[0::2])]
    return [halves[i % 2].time_us(row) for i, row in enumerate(rows)]
