# The rows that every opponent is asked: products and decoder steps, as our tables have them.
# SPDX-License-Identifier: Apache-2.0
"""Reads gemm.csv, and models.csv with the models.json beside it."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

BYTES = {"bf16": 2, "fp16": 2, "fp8": 1, "tf32": 4, "fp32": 4}


@dataclass(frozen=True)
class Gemm:
    """C[m, n] = A[m, k] B[n, k]^T, `batch` times."""

    dtype: str
    batch: int
    m: int
    n: int
    k: int
    measured_us: float

    @property
    def flops(self) -> float:
        return 2.0 * self.batch * self.m * self.n * self.k

    @property
    def bytes(self) -> float:
        """Each operand once; fp8 products are written as bf16."""
        size = BYTES[self.dtype]
        out = max(size, 2)
        return self.batch * ((self.m + self.n) * self.k * size + self.m * self.n * out)


@dataclass(frozen=True)
class Decoder:
    """A llama-like decoder in bf16."""

    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocabulary: int

    @property
    def layer_weights(self) -> int:
        attention = (2 * self.heads + 2 * self.kv_heads) * self.head_dim * self.hidden
        return attention + 3 * self.hidden * self.intermediate

    @property
    def head_weights(self) -> int:
        return self.vocabulary * self.hidden


@dataclass(frozen=True)
class Step:
    """One prefill or decode step of a decoder in a CUDA graph."""

    model: str
    decoder: Decoder
    phase: str
    batch: int
    seq: int  # new tokens of each sequence
    context: int  # tokens attended to
    measured_us: float

    @property
    def flops(self) -> float:
        d, tokens = self.decoder, self.batch * self.seq
        seen = self.context / 2 if self.phase == "prefill" else self.context
        attention = 4.0 * tokens * seen * d.heads * d.head_dim
        logits = 2.0 * self.batch * d.head_weights
        return d.layers * (2.0 * tokens * d.layer_weights + attention) + logits

    @property
    def bytes(self) -> float:
        d = self.decoder
        cache = 2.0 * self.batch * self.context * d.kv_heads * d.head_dim
        return 2.0 * (d.layers * (d.layer_weights + cache) + d.head_weights)


def read_gemms(path: Path) -> list[Gemm]:
    with path.open(newline="") as file:
        return [
            Gemm(
                row["dtype"],
                int(row["batch"]),
                int(row["m"]),
                int(row["n"]),
                int(row["k"]),
                float(row["latency_us"]),
            )
            for row in csv.DictReader(file)
        ]


def read_decoders(path: Path) -> dict[str, Decoder]:
    models = json.loads(path.read_text())["models"]
    return {
        name: Decoder(
            int(sizes["layers"]),
            int(sizes["hidden"]),
            int(sizes["intermediate"]),
            int(sizes["heads"]),
            int(sizes["kv_heads"]),
            int(sizes["head_dim"]),
            int(sizes["vocab"]),
        )
        for name, sizes in models.items()
    }


def read_steps(path: Path) -> list[Step]:
    """The eager_graph rows of models.csv whose model is in the models.json beside it."""
    decoders = read_decoders(path.with_name("models.json"))
    steps = []
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            name, _, cut = row["model"].rpartition("-")
            decoder = decoders.get(row["model"])
            if decoder is None and cut.endswith("L"):
                decoder = decoders.get(name)
            if row["mode"] != "eager_graph" or decoder is None:
                continue
            whole = Decoder(**{**decoder.__dict__, "layers": int(row["layers"])})
            steps.append(
                Step(
                    row["model"],
                    whole,
                    row["phase"],
                    int(row["batch"]),
                    int(row["seq_q"]),
                    int(row["context"]),
                    float(row["latency_us"]),
                )
            )
    return steps
