// How fast programs are built and profiled: a search does both for every candidate.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"
#include "orrery/kernel/profile.h"

namespace orrery::kernel {
namespace {

machine::Chip hopper() {
  machine::Chip chip;
  chip.core = {.count = 132,
               .warp_size = 32,
               .schedulers = 4,
               .max_threads = 2048,
               .max_ctas = 32,
               .registers = 65536,
               .register_granularity = 8,
               .shared_capacity = Bytes(228 * 1024),
               .shared_per_cta = Bytes(227 * 1024),
               .shared_reserved = Bytes(1024),
               .fma_lanes = 128,
               .special_lanes = 16,
               .shared_bandwidth = BytesPerCycle(128),
               .l2_port = BytesPerCycle(64),
               .tensor = {{DType::BF16, FlopsPerCycle(4096)}}};
  chip.l2.effective = Bytes(38e6);
  chip.l2.sector = Bytes(32);
  return chip;
}

void build_gemm(benchmark::State& state) {
  GemmConfig config;
  config.epilogue =
      linear_epilogue({.bias = true, .activation = Activation::Gelu, .residual = true});
  for (auto _ : state) {
    benchmark::DoNotOptimize(gemm_program(config));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(build_gemm);

void profile_gemm(benchmark::State& state) {
  const machine::Chip chip = hopper();
  const Program program = gemm_program({}).value();
  Extents e;
  e.set("m", 4096);
  e.set("n", 4096);
  e.set("k", 4096);
  for (auto _ : state) {
    benchmark::DoNotOptimize(derive_profile(program, e, chip));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(profile_gemm);

void build_and_profile_gemm(benchmark::State& state) {
  const machine::Chip chip = hopper();
  Extents e;
  e.set("m", 4096);
  e.set("n", 4096);
  e.set("k", 4096);
  GemmConfig config;
  config.epilogue =
      linear_epilogue({.bias = true, .activation = Activation::Gelu, .residual = true});
  for (auto _ : state) {
    const auto program = gemm_program(config);
    benchmark::DoNotOptimize(derive_profile(*program, e, chip));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(build_and_profile_gemm);

void build_and_profile_decode(benchmark::State& state) {
  const machine::Chip chip = hopper();
  Extents e;
  e.set("b", 8);
  e.set("h", 8);
  e.set("g", 8);
  e.set("s", 8192);
  for (auto _ : state) {
    const auto program = decode_attention_program({.ring = 3, .parts = 4});
    benchmark::DoNotOptimize(derive_profile(*program, e, chip));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(build_and_profile_decode);

void list_gemm_configs(benchmark::State& state) {
  const machine::Chip chip = hopper();
  for (auto _ : state) {
    benchmark::DoNotOptimize(gemm_configs({4096, 4096, 4096}, chip, {}));
  }
}

BENCHMARK(list_gemm_configs);

}  // namespace
}  // namespace orrery::kernel
