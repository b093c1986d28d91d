# Measures one layer of DeepSeek-V3 and of gpt-oss-120b in bf16 on a GPU.
# SPDX-License-Identifier: Apache-2.0
"""moe_layers.csv: a layer (latent or grouped-query attention and experts), written in plain PyTorch
and run in a CUDA graph, with random weights; and its attention half alone. moe_layer_kernels.csv:
the kernels of one call. Experts are chosen by the layer's own router; `active_experts` and
`most_rows` say how unevenly. A layer's weights exceed L2 many times, so one set is enough. About
25 s. OUT=folder moe_layers.py [even]

`even`: other sizes, and gpt-oss without the biases of its router, which at random size send a third
of the tokens to few experts."""

import csv
import os
import statistics
import sys
from itertools import pairwise
from pathlib import Path

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile

OUT = Path(os.environ.get("OUT", "."))
CASES = [
    ("prefill", 1, 128, 128),
    ("prefill", 1, 512, 512),
    ("prefill", 1, 2048, 2048),
    ("prefill", 4, 1024, 1024),
    ("prefill", 1, 8192, 8192),
    ("decode", 1, 1, 1024),
    ("decode", 8, 1, 4096),
    ("decode", 32, 1, 1024),
    ("decode", 64, 1, 8192),
    ("decode", 128, 1, 2048),
    ("decode", 256, 1, 1024),
]

EVEN_CASES = [
    ("prefill", 1, 256, 256),
    ("prefill", 2, 512, 512),
    ("prefill", 1, 1024, 1024),
    ("prefill", 1, 4096, 4096),
    ("prefill", 4, 2048, 2048),
    ("decode", 2, 1, 2048),
    ("decode", 4, 1, 8192),
    ("decode", 16, 1, 4096),
    ("decode", 48, 1, 2048),
    ("decode", 96, 1, 1024),
    ("decode", 192, 1, 4096),
]
EVEN = sys.argv[1:] == ["even"]


def normal(*sizes, scale=1.0):
    return torch.randn(*sizes, device="cuda", dtype=torch.bfloat16) * scale


def weight(*sizes):
    return normal(*sizes, scale=0.02)


def rotary(x, cos, sin):
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat((-second, first), -1) * sin


def gated(x, weights):
    gate, up = F.linear(x, weights).chunk(2, -1)
    return F.silu(gate) * up


def experts(x, gate_up, down, chosen, shares):
    """Sorts the tokens by expert, multiplies group by group, adds up."""
    flat = chosen.reshape(-1)
    order = torch.argsort(flat)
    rows = torch.histc(flat.float(), bins=gate_up.shape[0], min=0, max=gate_up.shape[0] - 1)
    ends = rows.cumsum(0).to(torch.int32)
    token = order // chosen.shape[1]
    y = torch._grouped_mm(x[token], gate_up.transpose(-2, -1), offs=ends)
    gate, up = y.chunk(2, -1)
    y = torch._grouped_mm(F.silu(gate) * up, down.transpose(-2, -1), offs=ends)
    y = y * shares.reshape(-1)[order].unsqueeze(-1)
    return torch.zeros_like(x).index_add_(0, token, y)


class DeepSeek:
    name = "deepseek-v3"
    hidden, heads, query_rank, cache_rank = 7168, 128, 1536, 512
    plain, turned, value = 128, 64, 128  # of a head: without and with rotary embedding; of values
    number, topk, width, groups = 256, 8, 2048, 8

    def __init__(self):
        h, n = self.hidden, self.heads
        self.norm1, self.norm2 = weight(h), weight(h)
        self.norm_q, self.norm_kv = weight(self.query_rank), weight(self.cache_rank)
        self.q_a = weight(self.query_rank, h)
        self.q_b = weight(n * (self.plain + self.turned), self.query_rank)
        self.kv_a = weight(self.cache_rank + self.turned, h)
        self.kv_b = weight(n * (self.plain + self.value), self.cache_rank)
        self.o = weight(h, n * self.value)
        self.router = weight(self.number, h)
        self.gate_up = weight(self.number, 2 * self.width, h)
        self.down = weight(self.number, h, self.width)
        self.shared_gate_up, self.shared_down = weight(2 * self.width, h), weight(h, self.width)

    def cache(self, batch, context):
        return normal(batch, 1, context, self.cache_rank + self.turned)

    def attention(self, x, cos, sin, cache):
        b, t, _ = x.shape
        normed = F.rms_norm(x, (self.hidden,), self.norm1)
        q = F.rms_norm(F.linear(normed, self.q_a), (self.query_rank,), self.norm_q)
        q = F.linear(q, self.q_b).view(b, t, self.heads, -1).transpose(1, 2)
        plain, turned = q.split([self.plain, self.turned], -1)
        kv, key = F.linear(normed, self.kv_a).split([self.cache_rank, self.turned], -1)
        kv = F.rms_norm(kv, (self.cache_rank,), self.norm_kv)
        turned = rotary(turned, cos, sin)
        key = rotary(key.view(b, t, 1, self.turned).transpose(1, 2), cos, sin)
        if cache is None:
            mixed = self.expanded(plain, turned, kv, key)
        else:
            mixed = self.absorbed(plain, turned, kv, key, cache)
        return x + F.linear(mixed, self.o)

    def expanded(self, plain, turned, kv, key):
        b, t, _ = kv.shape
        keys = F.linear(kv, self.kv_b).view(b, t, self.heads, -1).transpose(1, 2)
        keys, values = keys.split([self.plain, self.value], -1)
        keys = torch.cat((keys, key.expand(b, self.heads, t, self.turned)), -1)
        queries = torch.cat((plain, turned), -1)
        mixed = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return mixed.transpose(1, 2).reshape(b, t, -1)

    def absorbed(self, plain, turned, kv, key, cache):
        """The heads are queries of the one cached key."""
        b = kv.shape[0]
        by_head = self.kv_b.view(self.heads, self.plain + self.value, self.cache_rank)
        w_key, w_value = by_head.split([self.plain, self.value], 1)
        q = torch.bmm(plain.reshape(b, self.heads, self.plain).transpose(0, 1), w_key)
        cache[:, :, -1:, : self.cache_rank] = kv.view(b, 1, 1, self.cache_rank)
        cache[:, :, -1:, self.cache_rank :] = key
        queries = torch.cat((q.transpose(0, 1).unsqueeze(2), turned), -1).transpose(1, 2)
        with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
            mixed = F.scaled_dot_product_attention(queries, cache, cache[..., : self.cache_rank])
        mixed = mixed.reshape(b, self.heads, self.cache_rank).transpose(0, 1)
        return torch.bmm(mixed, w_value.transpose(1, 2)).transpose(0, 1).reshape(b, 1, -1)

    def route(self, normed):
        """Sigmoid scores; the best 4 of 8 groups by their two best experts; 8 experts of those."""
        scores = torch.sigmoid(F.linear(normed, self.router).float())
        by_group = scores.view(-1, self.groups, self.number // self.groups)
        best = by_group.topk(2, -1)[0].sum(-1).topk(4, -1)[1]
        mask = torch.zeros(scores.shape[0], self.groups, device="cuda").scatter_(1, best, 1)
        mask = mask.unsqueeze(-1).expand_as(by_group).reshape(-1, self.number)
        chosen = scores.masked_fill(mask == 0, 0).topk(self.topk, -1)[1]
        shares = scores.gather(1, chosen)
        return chosen, (shares / shares.sum(-1, keepdim=True) * 2.5).to(torch.bfloat16)

    def feed_forward(self, x):
        normed = F.rms_norm(x, (self.hidden,), self.norm2).view(-1, self.hidden)
        chosen, shares = self.route(normed)
        y = experts(normed, self.gate_up, self.down, chosen, shares)
        y = y + F.linear(gated(normed, self.shared_gate_up), self.shared_down)
        return x + y.view_as(x)


class GptOss:
    """Without the attention's sinks, which scaled_dot_product_attention does not have."""

    name = "gpt-oss-120b"
    hidden, heads, kv_heads, head_dim = 2880, 64, 8, 64
    number, topk, width = 128, 4, 2880
    turned = head_dim

    def __init__(self):
        h, every = self.hidden, (self.heads + 2 * self.kv_heads) * self.head_dim
        self.norm1, self.norm2 = weight(h), weight(h)
        self.qkv, self.qkv_bias = weight(every, h), weight(every)
        self.o, self.o_bias = weight(h, self.heads * self.head_dim), weight(h)
        self.router, self.router_bias = weight(self.number, h), weight(self.number)
        if EVEN:
            self.router_bias.zero_()
        self.gate_up = weight(self.number, 2 * self.width, h)
        self.down = weight(self.number, h, self.width)

    def cache(self, batch, context):
        return [normal(batch, self.kv_heads, context, self.head_dim) for _ in range(2)]

    def attention(self, x, cos, sin, cache):
        b, t, _ = x.shape
        normed = F.rms_norm(x, (self.hidden,), self.norm1)
        qkv = F.linear(normed, self.qkv, self.qkv_bias).view(b, t, -1, self.head_dim)
        q, k, v = qkv.transpose(1, 2).split([self.heads, self.kv_heads, self.kv_heads], 1)
        q, k = rotary(q, cos, sin), rotary(k, cos, sin)
        if cache is not None:
            cache[0][:, :, -1:], cache[1][:, :, -1:] = k, v
            k, v = cache
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None, enable_gqa=True)
        return x + F.linear(mixed.transpose(1, 2).reshape(b, t, -1), self.o, self.o_bias)

    def route(self, normed):
        best, chosen = F.linear(normed, self.router, self.router_bias).topk(self.topk, -1)
        return chosen, F.softmax(best, -1)

    def feed_forward(self, x):
        normed = F.rms_norm(x, (self.hidden,), self.norm2).view(-1, self.hidden)
        return x + experts(normed, self.gate_up, self.down, *self.route(normed)).view_as(x)


def timed(run, milliseconds=40):
    """Median and least time of a call in a CUDA graph, after 200 ms of warm-up."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        run()

    def replays(count):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        events[0].record()
        for event in events[1:]:
            graph.replay()
            event.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) * 1e3 for begin, end in pairwise(events)]

    once = statistics.median(replays(5)) / 1e3
    replays(max(2, int(200 / once)))
    times = replays(max(7, int(milliseconds / once)))
    return statistics.median(times), min(times)


def kernels(run):
    run()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        run()
        torch.cuda.synchronize()
    return [(event.name[:150], event.device_time) for event in seen.events() if event.device_time]


def measured(layer, phase, batch, seq, context):
    x = normal(batch, seq, layer.hidden)
    cos, sin = normal(seq, layer.turned), normal(seq, layer.turned)
    cache = layer.cache(batch, context) if phase == "decode" else None

    def attention():
        return layer.attention(x, cos, sin, cache)

    def whole():
        return layer.feed_forward(attention())

    normed = F.rms_norm(attention(), (layer.hidden,), layer.norm2).view(-1, layer.hidden)
    rows = torch.bincount(layer.route(normed)[0].reshape(-1), minlength=layer.number)
    median, least = timed(whole)
    half, _ = timed(attention)
    case = [layer.name, phase, batch, seq, context, int((rows > 0).sum()), int(rows.max())]
    return [*case, f"{median:.1f}", f"{least:.1f}", f"{half:.1f}"], kernels(whole)


def main():
    torch.manual_seed(0)
    columns = "model phase batch seq_q context active_experts most_rows latency_us min_us"
    with (
        (OUT / "moe_layers.csv").open("w", newline="") as layers,
        (OUT / "moe_layer_kernels.csv").open("w", newline="") as parts,
        torch.no_grad(),
    ):
        csv.writer(layers).writerow([*columns.split(), "attention_us"])
        csv.writer(parts).writerow(["case", "kernel", "duration_us"])
        for kind in (DeepSeek, GptOss):
            layer = kind()
            for case in EVEN_CASES if EVEN else CASES:
                row, names = measured(layer, *case)
                csv.writer(layers).writerow(row)
                print(*row, flush=True)
                for name, duration in names:
                    csv.writer(parts).writerow([" ".join(map(str, row[:5])), name, duration])
            del layer
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
