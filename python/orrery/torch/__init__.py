# SPDX-License-Identifier: Apache-2.0
"""Orrery's kernels on PyTorch tensors."""

from orrery.torch.operators import add_rms_norm, decode_attention, gemm

__all__ = ["add_rms_norm", "decode_attention", "gemm"]
