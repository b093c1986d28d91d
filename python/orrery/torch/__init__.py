# Orrery's kernels on PyTorch tensors.
# SPDX-License-Identifier: Apache-2.0

from orrery.torch.operators import add_rms_norm, decode_attention, gemm

__all__ = ["add_rms_norm", "decode_attention", "gemm"]
