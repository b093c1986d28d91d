# What other programs answer to the same questions: genz-llm and llm-analysis, from PyPI.
# SPDX-License-Identifier: Apache-2.0
"""Both are given the H200's data sheet and their own defaults. A question that a program has no
answer to is None."""

from __future__ import annotations

import contextlib
import io
from importlib import import_module

from cases import Gemm, Step

MOST_LENGTH = 1 << 20


class Genz:
    """genz-llm: an operator roofline over layers (github.com/abhibambhaniya/GenZ-LLM-Analyzer)."""

    name = "genz-llm"

    def __init__(self) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            genz = import_module("GenZ")
            self._config = import_module("GenZ.Models.default_models").ModelConfig
            self._fc = import_module("GenZ.operators").FC
            self._unit = import_module("GenZ.unit").Unit()
            system = import_module("GenZ.system").System
        self._decode, self._prefill = genz.decode_moddeling, genz.prefill_moddeling
        self._system = {
            "Flops": 989,  # TFLOPS, bf16
            "Memory_size": 141,
            "Memory_BW": 4800,
            "ICN": 450,
            "real_values": True,
        }
        self._one = system(
            self._unit, frequency=1000, flops=989, off_chip_mem_size=141 * 1024,
            offchip_mem_bw=4800, bits="bf16",
        )  # fmt: skip

    def gemm_us(self, case: Gemm) -> float | None:
        if case.dtype not in ("bf16", "fp16") or case.batch > 1:
            return None
        operator = self._fc(["product", case.m, case.n, case.k, 0, 0], density=(1.0, 1.0, 1.0))
        return float(operator.get_roofline(self._one, self._unit)["Latency (msec)"]) * 1e3

    def step_us(self, case: Step) -> float | None:
        d = case.decoder
        model = self._config(
            model=case.model, vocab_size=d.vocabulary, max_model_len=MOST_LENGTH,
            hidden_size=d.hidden, intermediate_size=d.intermediate, num_ffi=2,
            num_decoder_layers=d.layers, num_attention_heads=d.heads, head_dim=d.head_dim,
            num_key_value_heads=d.kv_heads,
        )  # fmt: skip
        with contextlib.redirect_stdout(io.StringIO()):
            if case.phase == "prefill":
                out = self._prefill(
                    model=model, batch_size=case.batch, input_tokens=case.seq,
                    system_name=self._system, bits="bf16",
                )  # fmt: skip
            else:
                out = self._decode(
                    model=model, batch_size=case.batch, input_tokens=case.context,
                    output_tokens=1, Bb=1, system_name=self._system, bits="bf16",
                )  # fmt: skip
        return float(out["Latency"]) * 1e3


class LlmAnalysis:
    """llm-analysis: FLOP and byte counts of a layer (github.com/cli99/llm-analysis)."""

    name = "llm-analysis"

    def __init__(self) -> None:
        analysis = import_module("llm_analysis.analysis")
        config = import_module("llm_analysis.config")
        analysis.logger.setLevel("ERROR")
        self._analysis, self._config = analysis, config
        self._gpu = config.GPUConfig(
            name="h200", mem_per_GPU_in_GB=141, hbm_bandwidth_in_GB_per_sec=4800,
            intra_node_bandwidth_in_GB_per_sec=450, intra_node_min_message_latency=8e-6,
            peak_fp16_TFLOPS=989, peak_i8_TFLOPS=1979, peak_i4_TFLOPS=3958,
            inter_node_bandwidth_in_GB_per_sec=400,
        )  # fmt: skip

    def gemm_us(self, case: Gemm) -> float | None:
        del case  # it knows layers only
        return None

    def step_us(self, case: Step) -> float | None:
        d = case.decoder
        model = self._config.ModelConfig(
            name=case.model, num_layers=d.layers, n_head=d.heads, hidden_dim=d.hidden,
            vocab_size=d.vocabulary, max_seq_len=MOST_LENGTH, num_key_value_heads=d.kv_heads,
            ffn_embed_dim=d.intermediate, expansion_ratio=d.intermediate / d.hidden,
            model_type="llama",
        )  # fmt: skip
        it = self._analysis.LLMAnalysis(
            model,
            self._gpu,
            self._config.get_dtype_config_by_name("w16a16e16"),
            self._config.ParallelismConfig(),
        )
        out = it.inference(
            batch_size_per_gpu=case.batch,
            seq_len=case.context if case.phase == "decode" else case.seq,
            num_tokens_to_generate=1,
        )
        return float(out["decode_latency" if case.phase == "decode" else "prefill_latency"]) * 1e6
