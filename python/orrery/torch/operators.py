# The operators: shapes checked, configuration chosen, kernel launched.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import dataclasses
import functools

import torch

import orrery
from orrery.torch import choice
from orrery.torch.launcher import DTYPES, check, device_of, launch

ACTIVATIONS = {
    None: orrery.Activation.Identity,
    "relu": orrery.Activation.Relu,
    "gelu": orrery.Activation.Gelu,
    "gelu_tanh": orrery.Activation.GeluTanh,
    "silu": orrery.Activation.Silu,
}


def dtype_of(tensor: torch.Tensor) -> orrery.DType:
    """The element type, or UnsupportedError."""
    if tensor.dtype not in (torch.bfloat16, torch.float16):
        raise orrery.UnsupportedError(
            f"[torch] element type: got {tensor.dtype}, need bfloat16 or float16"
        )
    return DTYPES[tensor.dtype]


class GemmKernels:
    """A product, and with split k the kernel that combines its parts."""

    def __init__(self, device: int, config: orrery.GemmConfig) -> None:
        load = device_of(device).load
        self.parts = config.parts
        self.product = load(orrery.gemm_program(config))
        self.combine = load(orrery.gemm_combine_program(config)) if config.parts > 1 else None

    def run(
        self, a: torch.Tensor, b: torch.Tensor, operands: list[torch.Tensor], c: torch.Tensor
    ) -> None:
        """c = epilogue(a @ b.T, operands)."""
        m, k = a.shape
        n = b.shape[0]
        extents = {"m": m, "n": n, "k": k}
        if self.combine is None:
            launch(self.product, [a, b, *operands, c], extents)
            return
        partial = torch.empty((self.parts, m, n), dtype=torch.float32, device=a.device)
        launch(self.product, [a, b, partial], extents)
        launch(self.combine, [partial, *operands, c], {"m": m, "n": n})


@dataclasses.dataclass(frozen=True)
class GemmCase:
    """What a choice of kernels depends on."""

    device: int
    dtype: orrery.DType
    m: int
    n: int
    k: int
    bias: bool
    activation: str | None
    residual: bool


@functools.cache
def gemm_kernels(case: GemmCase) -> GemmKernels:
    """The kernels chosen for these extents."""
    base = orrery.GemmConfig()
    base.dtype = case.dtype
    activation = ACTIVATIONS[case.activation]
    base.epilogue = orrery.linear_epilogue(case.bias, activation, case.residual, case.dtype)
    return GemmKernels(case.device, choice.gemm_config(case.m, case.n, case.k, base))


def gemm(
    a: torch.Tensor,
    b: torch.Tensor,
    bias: torch.Tensor | None = None,
    activation: str | None = None,
    residual: torch.Tensor | None = None,
) -> torch.Tensor:
    """activation(a @ b.T + bias) + residual.

    a [m, k], b [n, k] (a linear layer's weight), bias [n], residual [m, n], all bfloat16 or all
    float16, contiguous on one GPU; n and k multiples of 8. activation: None, "relu", "gelu",
    "gelu_tanh", "silu". Raises InvalidInputError, UnsupportedError.
    """
    if activation not in ACTIVATIONS:
        known = ", ".join(repr(name) for name in ACTIVATIONS)
        raise orrery.InvalidInputError(f"[torch] activation: got {activation!r}, need {known}")
    dtype = dtype_of(a)
    m, k = a.shape
    n = b.shape[0]
    check("a", a, (m, k), a.dtype)
    check("b", b, (n, k), a.dtype)
    operands: list[torch.Tensor] = []
    if bias is not None:
        check("bias", bias, (n,), a.dtype)
        operands.append(bias)
    if residual is not None:
        check("residual", residual, (m, n), a.dtype)
        operands.append(residual)
    c = torch.empty((m, n), dtype=a.dtype, device=a.device)
    fused = (bias is not None, activation, residual is not None)
    kernels = gemm_kernels(GemmCase(a.device.index, dtype, m, n, k, *fused))
    kernels.run(a, b, operands, c)
    return c


@functools.cache
def norm_kernel(
    device: int, dtype: orrery.DType, rows: int, cols: int, eps: float
) -> orrery.Kernel:
    """The kernel chosen for these extents."""
    base = orrery.AddRmsNormConfig()
    base.dtype = dtype
    base.eps = eps
    config = choice.add_rms_norm_config(rows, cols, base)
    return device_of(device).load(orrery.add_rms_norm_program(config))


def add_rms_norm(
    x: torch.Tensor, r: torch.Tensor, w: torch.Tensor, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor]:
    """h = x + r and y = h * rsqrt(mean(h * h) + eps) * w; returns (y, h).

    x, r [..., cols] and w [cols], all bfloat16 or all float16, contiguous on one GPU.
    """
    dtype = dtype_of(x)
    cols = x.shape[-1]
    check("x", x, x.shape, x.dtype)
    check("r", r, x.shape, x.dtype)
    check("w", w, (cols,), x.dtype)
    h = torch.empty_like(x)
    y = torch.empty_like(x)
    rows = x.numel() // cols
    kernel = norm_kernel(x.device.index, dtype, rows, cols, eps)
    launch(kernel, [x, r, w, h, y], {"rows": rows, "cols": cols})
    return y, h


class DecodeKernels:
    """Attention over parts of the cache, and the kernel that combines them."""

    def __init__(self, device: int, config: orrery.DecodeConfig) -> None:
        load = device_of(device).load
        self.parts = config.parts
        self.attention = load(orrery.decode_attention_program(config))
        self.combine = load(orrery.decode_combine_program(config)) if config.parts > 1 else None

    def run(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, o: torch.Tensor) -> None:
        """o = softmax(q k^T / sqrt(d)) v."""
        b, h, s, d = k.shape
        g = q.shape[1] // h
        extents = {"b": b, "h": h, "g": g, "s": s}
        if self.combine is None:
            launch(self.attention, [q, k, v, o], extents)
            return
        rows = (self.parts, b, h, g)
        po = torch.empty((*rows, d), dtype=torch.float32, device=q.device)
        pt = torch.empty(rows, dtype=torch.float32, device=q.device)
        ps = torch.empty(rows, dtype=torch.float32, device=q.device)
        launch(self.attention, [q, k, v, po, pt, ps], extents)
        launch(self.combine, [po, pt, ps, o], {"b": b, "h": h, "g": g})


@dataclasses.dataclass(frozen=True)
class DecodeCase:
    """What a choice of kernels depends on."""

    device: int
    dtype: orrery.DType
    b: int
    h: int
    g: int
    s: int
    d: int


@functools.cache
def decode_kernels(case: DecodeCase) -> DecodeKernels:
    """The kernels chosen for these extents."""
    base = orrery.DecodeConfig()
    base.dtype = case.dtype
    base.head_dim = case.d
    return DecodeKernels(case.device, choice.decode_config(case.b, case.h, case.g, case.s, base))


def decode_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Attention of one query position: softmax(q k^T / sqrt(d)) v.

    q [b, heads, d] (or [b, heads, 1, d]), k and v [b, kv_heads, s, d], all bfloat16 or all
    float16, contiguous on one GPU; heads a multiple of kv_heads. Returns q's shape.
    """
    dtype = dtype_of(q)
    b, h, s, d = k.shape
    heads = q.shape[1]
    if heads % h != 0:
        raise orrery.InvalidInputError(f"[torch] heads: got {heads}, need a multiple of {h}")
    check("q", q, (b, heads, 1, d) if q.dim() == 4 else (b, heads, d), q.dtype)
    check("k", k, k.shape, q.dtype)
    check("v", v, k.shape, q.dtype)
    o = torch.empty_like(q)
    decode_kernels(DecodeCase(q.device.index, dtype, b, h, heads // h, s, d)).run(q, k, v, o)
    return o
