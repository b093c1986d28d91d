# Builds the operators over rows x cols as PyTorch runs them.
# SPDX-License-Identifier: Apache-2.0
"""Every operator over rows x cols as PyTorch runs it, as measuring cases: `call` makes its inputs
and returns what to launch."""

import torch
import torch.nn.functional as F

DT = {"bf16": torch.bfloat16, "fp32": torch.float32, "fp16": torch.float16}
VOCABULARY = 32000  # rows of the table whose gradient embedding_backward makes

# operator: (x, y, o, w, b) -> result. o: a dense result to write into; w, b: one row each.
DENSE = {
    "copy": lambda x, y, o, w, b: o.copy_(x),
    "fill": lambda x, y, o, w, b: o.fill_(1.5),
    "cast_fp32": lambda x, y, o, w, b: x.to(torch.float32),
    "add": lambda x, y, o, w, b: torch.add(x, y, out=o),
    "mul": lambda x, y, o, w, b: torch.mul(x, y, out=o),
    "bias_add": lambda x, y, o, w, b: x + w,
    "broadcast_mul": lambda x, y, o, w, b: x * w,
    "exp": lambda x, y, o, w, b: torch.exp(x, out=o),
    "relu": lambda x, y, o, w, b: torch.relu(x),
    "sigmoid": lambda x, y, o, w, b: torch.sigmoid(x),
    "tanh": lambda x, y, o, w, b: torch.tanh(x),
    "gelu": lambda x, y, o, w, b: torch._C._nn.gelu(x, out=o),
    "silu": lambda x, y, o, w, b: torch._C._nn.silu(x, out=o),
    "clamp": lambda x, y, o, w, b: x.clamp(-1, 1),
    "where": lambda x, y, o, w, b: torch.where(x > 0, x, y),
    "dropout": lambda x, y, o, w, b: F.dropout(x, 0.1, True),
    "cat": lambda x, y, o, w, b: torch.cat([x, y], 1),
    "strided_copy": lambda x, y, o, w, b: x[:, : x.shape[1] // 2].contiguous(),
    "transpose": lambda x, y, o, w, b: x.t().contiguous(),
    "softmax": lambda x, y, o, w, b: torch.softmax(x, -1),
    "log_softmax": lambda x, y, o, w, b: torch.log_softmax(x, -1),
    "layer_norm": lambda x, y, o, w, b: F.layer_norm(x, w.shape, w, b),
    "rms_norm": lambda x, y, o, w, b: F.rms_norm(x, w.shape, w),
    "group_norm": lambda x, y, o, w, b: F.group_norm(x, 32 if x.shape[1] % 32 == 0 else 1, w, b),
    "batch_norm": lambda x, y, o, w, b: F.batch_norm(x, None, None, w, b, True),
    "sum_rows": lambda x, y, o, w, b: torch.sum(x, -1),
    "sum_cols": lambda x, y, o, w, b: torch.sum(x, 0),
    "sum_all": lambda x, y, o, w, b: torch.sum(x),
    "mean_rows": lambda x, y, o, w, b: torch.mean(x, -1),
    "mean_cols": lambda x, y, o, w, b: torch.mean(x, 0),
    "max_rows": lambda x, y, o, w, b: torch.amax(x, -1),
    "var_rows": lambda x, y, o, w, b: torch.var(x, -1),
    "argmax": lambda x, y, o, w, b: torch.argmax(x, -1),
    "topk8": lambda x, y, o, w, b: torch.topk(x, 8, -1),
    "sort": lambda x, y, o, w, b: torch.sort(x, -1),
    "cumsum": lambda x, y, o, w, b: torch.cumsum(x, -1),
    "quantize_fp8": lambda x, y, o, w, b: (x * 0.5).to(torch.float8_e4m3fn),
    "gelu_backward": lambda x, y, o, w, b: torch.ops.aten.gelu_backward(y, x),
    "silu_backward": lambda x, y, o, w, b: torch.ops.aten.silu_backward(y, x),
    "softmax_backward": lambda x, y, o, w, b: torch.ops.aten._softmax_backward_data(
        y, x, -1, x.dtype
    ),
}
INDEXED = ["gather_rows", "embedding", "index_add", "embedding_backward", "cross_entropy"]
STATEFUL = ["layer_norm_backward", "rms_norm_backward", "adamw"]
OPERATORS = [*DENSE, *INDEXED, *STATEFUL]


def indexed(op, x, y):
    """Operators with an index per row."""
    rows, cols, dtype = *x.shape, x.dtype
    if op == "gather_rows":
        index = torch.randint(0, rows, (rows,), device="cuda")
        return lambda: torch.index_select(x, 0, index)
    if op == "index_add":
        index = torch.randint(0, rows, (rows,), device="cuda")
        return lambda: x.index_add_(0, index, y)
    if op == "cross_entropy":
        target = torch.randint(0, cols, (rows,), device="cuda")
        return lambda: F.cross_entropy(x, target)
    index = torch.randint(0, VOCABULARY, (rows,), device="cuda")
    if op == "embedding_backward":
        return lambda: torch.ops.aten.embedding_dense_backward(x, index, VOCABULARY, -1, False)
    table = torch.randn(VOCABULARY, cols, device="cuda", dtype=dtype)
    return lambda: F.embedding(index, table)


def stateful(op, x, y, w, b):
    """Operators that need statistics of a forward pass, or an optimizer's states."""
    if op == "layer_norm_backward":
        _, mean, rstd = torch.ops.aten.native_layer_norm(x, w.shape, w, b, 1e-5)
        return lambda: torch.ops.aten.native_layer_norm_backward(
            y, x, w.shape, mean, rstd, w, b, [True, True, True]
        )
    if op == "rms_norm_backward":
        _, rstd = torch.ops.aten._fused_rms_norm(x, list(w.shape), w, 1e-5)
        return lambda: torch.ops.aten._fused_rms_norm_backward(
            y, x, list(w.shape), rstd, w, [True, True]
        )
    m, v = torch.zeros_like(x), torch.rand_like(x)
    step = torch.ones((), device="cuda")
    options = dict(
        lr=1e-3, beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False
    )
    return lambda: torch._fused_adamw_([x], [y], [m], [v], [], [step], **options)


def call(op, dtype, rows, cols):
    """A function that launches the operator once on random inputs of its own."""
    d = DT[dtype]
    make = lambda *shape: torch.randn(*shape, device="cuda", dtype=d)
    x, y = make(rows, cols), make(rows, cols)
    if op in INDEXED:
        return indexed(op, x, y)
    w, b = make(cols), make(cols)
    if op in STATEFUL:
        return stateful(op, x, y, w, b)
    o = torch.empty_like(x)
    return lambda: DENSE[op](x, y, o, w, b)
