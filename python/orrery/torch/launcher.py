# Loading kernels for torch devices and launching them on torch's current stream.
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import torch

import orrery
from orrery import nvrtc

DTYPES = {
    torch.bfloat16: orrery.DType.BF16,
    torch.float16: orrery.DType.F16,
    torch.float32: orrery.DType.F32,
}


@functools.cache
def device_of(ordinal: int) -> orrery.Device:
    """The engine's view of torch's GPU number `ordinal`."""
    torch.cuda.init()
    return orrery.open_cuda(ordinal, nvrtc.package_folders())


def check(name: str, tensor: torch.Tensor, shape: Sequence[int], dtype: torch.dtype) -> None:
    """Raises InvalidInputError unless the tensor is dense, on a GPU and of this shape and type."""
    wanted = f"{tuple(shape)} {dtype} contiguous on a GPU"
    got = f"{tuple(tensor.shape)} {tensor.dtype}"
    fits = tuple(tensor.shape) == tuple(shape) and tensor.dtype == dtype
    if not (fits and tensor.is_contiguous() and tensor.is_cuda):
        got += "" if tensor.is_contiguous() else " not contiguous"
        got += f" on {tensor.device}"
        raise orrery.InvalidInputError(f"[torch] tensor '{name}': got {got}, need {wanted}")


def launch(
    kernel: orrery.Kernel, tensors: Sequence[torch.Tensor], extents: Mapping[str, int]
) -> None:
    """Queues `kernel` on the current stream; `tensors` in the order of Program.tensors."""
    stream = torch.cuda.current_stream(tensors[0].device).cuda_stream
    kernel.launch([tensor.data_ptr() for tensor in tensors], dict(extents), stream)
