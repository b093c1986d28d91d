// Time to build, verify, print, hash and read a program: what a search pays for each candidate.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "orrery/kernel/family/gemm.h"
#include "orrery/kernel/parse.h"
#include "orrery/kernel/print.h"
#include "orrery/kernel/sample_texts_internal.h"
#include "orrery/kernel/verify.h"

namespace orrery::kernel {
namespace {

const sample::Sample& sample_of(const benchmark::State& state) {
  return sample::kAll[static_cast<size_t>(state.range(0))];
}

void verify_program(benchmark::State& state) {
  const Program program = parse(sample_of(state).text).value();
  for (auto _ : state) benchmark::DoNotOptimize(verify(program).ok());
  state.SetLabel(std::string(sample_of(state).name));
}

BENCHMARK(verify_program)->DenseRange(0, sample::kAll.size() - 1);

void print_program(benchmark::State& state) {
  const Program program = parse(sample_of(state).text).value();
  for (auto _ : state) benchmark::DoNotOptimize(print(program));
  state.SetLabel(std::string(sample_of(state).name));
}

BENCHMARK(print_program)->DenseRange(0, sample::kAll.size() - 1);

void parse_program(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(parse(sample_of(state).text).ok());
  state.SetLabel(std::string(sample_of(state).name));
}

BENCHMARK(parse_program)->DenseRange(0, sample::kAll.size() - 1);

void build_verify_and_hash_gemm(benchmark::State& state) {
  for (auto _ : state) {
    const Program program = gemm_program({}).value();
    benchmark::DoNotOptimize(verify(program).ok());
    benchmark::DoNotOptimize(text_hash(program));
  }
}

BENCHMARK(build_verify_and_hash_gemm);

}  // namespace
}  // namespace orrery::kernel
