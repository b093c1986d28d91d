# The operators on tensors; skipped, aloud, where there is no PyTorch or no sm_90 GPU.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from orrery.torch import add_rms_norm, decode_attention, gemm  # noqa: E402

import orrery  # noqa: E402

needs_gpu = pytest.mark.skipif(
    not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0),
    reason="needs an sm_90 GPU",
)


def near(out: torch.Tensor, reference: torch.Tensor) -> bool:
    """Equal up to the rounding of bfloat16."""
    error = (out.double() - reference.double()).norm() / reference.double().norm()
    return bool(error < 1e-2)


def test_tensors_on_the_host_are_refused() -> None:
    a = torch.zeros(8, 8, dtype=torch.bfloat16)
    with pytest.raises(orrery.InvalidInputError, match=r"need .* on a GPU"):
        gemm(a, a)


@needs_gpu
@pytest.mark.parametrize("m", [1, 100, 300])
def test_gemm_with_everything(m: int) -> None:
    a = torch.randn(m, 512, device="cuda").bfloat16()
    b = torch.randn(264, 512, device="cuda").bfloat16()
    bias = torch.randn(264, device="cuda").bfloat16()
    residual = torch.randn(m, 264, device="cuda").bfloat16()
    out = gemm(a, b, bias, "gelu", residual)
    product = torch.nn.functional.gelu(a.double() @ b.double().t() + bias.double())
    assert near(out, product + residual.double())


@needs_gpu
@pytest.mark.parametrize("cols", [1001, 4096])
def test_add_rms_norm(cols: int) -> None:
    x, r = (torch.randn(5, cols, device="cuda").bfloat16() for _ in range(2))
    w = torch.randn(cols, device="cuda").bfloat16()
    y, h = add_rms_norm(x, r, w)
    total = (x + r).double()
    assert torch.equal(h, x + r)
    assert near(y, total * torch.rsqrt(total.square().mean(-1, keepdim=True) + 1e-5) * w.double())


@needs_gpu
@pytest.mark.parametrize("s", [1, 1025])
def test_decode_attention(s: int) -> None:
    q = torch.randn(3, 16, 128, device="cuda").bfloat16()
    k, v = (torch.randn(3, 4, s, 128, device="cuda").bfloat16() for _ in range(2))
    reference = torch.nn.functional.scaled_dot_product_attention(
        q.double().unsqueeze(2), k.double(), v.double(), enable_gqa=True
    )
    assert near(decode_attention(q, k, v), reference.squeeze(2))
