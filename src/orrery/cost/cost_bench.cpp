// How long the closed form takes: a known GEMM, causal attention (8 kinds of units), an operator
// with its choice.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "orrery/cost/estimate.h"
#include "orrery/library/library.h"
#include "test/support/tree.h"

namespace orrery::cost {
namespace {

struct Fixture {
  ClosedForm form{test::machine("h200-sxm")};
  library::Library library = test::libraries(form.machine());
};

void time_of(benchmark::State& state, const library::Call& call) {
  const Fixture fixture;
  const auto all = fixture.library.candidates(call, fixture.form.machine().chip);
  for (auto _ : state) {
    benchmark::DoNotOptimize(fixture.form.time(all->front().front(), {}));
  }
}

void known_gemm(benchmark::State& state) {
  time_of(state, library::GemmCall{.m = 4096, .n = 4096, .k = 4096});
}

BENCHMARK(known_gemm);

void causal_attention(benchmark::State& state) {
  time_of(state,
          library::AttentionCall{.heads = 32,
                                 .kv_heads = 8,
                                 .seq_q = 4096,
                                 .seq_kv = 4096,
                                 .head_dim = 128,
                                 .causal = true});
}

BENCHMARK(causal_attention);

void pointwise(benchmark::State& state) {
  time_of(state, library::RowsCall{.op = "silu", .rows = 4096, .cols = 14336});
}

BENCHMARK(pointwise);

void gemm_with_choice(benchmark::State& state) {
  const Fixture fixture;
  for (auto _ : state) {
    const auto all = fixture.library.candidates(library::GemmCall{.m = 4096, .n = 4096, .k = 4096},
                                                fixture.form.machine().chip);
    benchmark::DoNotOptimize(plan::choose(*all, fixture.form, {}));
  }
}

BENCHMARK(gemm_with_choice);

}  // namespace
}  // namespace orrery::cost
