// How long predictions take: a known profile, an operator with its library's choice the first time
// and again, beside a plain roofline; and how long the command line takes to start.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "orrery/plan/call_times.h"
#include "orrery/session/catalog.h"
#include "orrery/session/operators.h"
#include "orrery/session/predictor.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"
#include "orrery/session/sweep.h"

namespace orrery::session {
namespace {

const Opened& h200() {
  static const Opened kOpened = *open(Catalog({.home = "."}), "h200");
  return kOpened;
}

using Words = std::vector<std::string>;

struct Case {
  const char* op;
  Words arguments;
};

const std::array<Case, 6> kCases = {{
    {"gemm", {"m=4096", "n=4096", "k=4096"}},
    {"gemm", {"m=16", "n=4096", "k=14336"}},
    {"attention", {"batch=1", "heads=32", "kv_heads=8", "seq_q=4096", "causal=1"}},
    {"attention", {"batch=32", "heads=32", "kv_heads=8", "seq_q=1", "seq_kv=4096"}},
    {"rms_norm", {"rows=4096", "cols=4096"}},
    {"all_reduce", {"bytes=16777216"}},
}};

library::Call call_of(const benchmark::State& state) {
  const Case& one = kCases[static_cast<size_t>(state.range(0))];
  return *parse_call(one.op, one.arguments);
}

void label(benchmark::State& state) {
  state.SetLabel(library::to_text(call_of(state)));
}

/// What a spreadsheet does: FLOP over peak or bytes over bandwidth, the larger.
void roofline(benchmark::State& state) {
  const machine::Chip& chip = h200().machine().chip;
  double m = 4096;
  for (auto _ : state) {
    benchmark::DoNotOptimize(m);
    const double peak = chip.core.tensor.at(DType::BF16).value() *
                        static_cast<double>(chip.core.count) * chip.clock.max.value();
    const double flop = 2 * m * 4096 * 4096;
    const double bytes = 2 * (m * 4096 + 4096 * 4096 + m * 4096);
    benchmark::DoNotOptimize(std::max(flop / peak, bytes / chip.dram.bandwidth.value()));
  }
}

BENCHMARK(roofline);

void known_profile(benchmark::State& state) {
  const auto step = plan::time_call(call_of(state), {}, h200().library, *h200().estimator);
  const kernel::Profile& profile = step->kernels->front();
  for (auto _ : state) {
    benchmark::DoNotOptimize(h200().estimator->time(profile, {}));
  }
  label(state);
}

BENCHMARK(known_profile)->DenseRange(0, kCases.size() - 1);

void operator_first_time(benchmark::State& state) {
  const library::Call call = call_of(state);
  for (auto _ : state) {
    plan::CallTimes times(h200().library, *h200().estimator);
    benchmark::DoNotOptimize(times.time(call, {}));
  }
  label(state);
}

BENCHMARK(operator_first_time)->DenseRange(0, kCases.size() - 1)->Unit(benchmark::kMicrosecond);

void operator_again(benchmark::State& state) {
  const library::Call call = call_of(state);
  plan::CallTimes times(h200().library, *h200().estimator);
  for (auto _ : state) {
    benchmark::DoNotOptimize(times.time(call, {}));
  }
  label(state);
}

BENCHMARK(operator_again)->DenseRange(0, kCases.size() - 1);

ModelRequest llama_70b() {
  return {.model = "llama-3.1-70b", .machine = "h200", .batch = 8, .context = 2048};
}

const Catalog& catalog() {
  static const Catalog kCatalog({.home = "."});
  return kCatalog;
}

/// A step of a model from its files on: machine, libraries, config, graph, passes, kernels.
void model_pass_cold(benchmark::State& state) {
  for (auto _ : state) {
    Predictor predictor(catalog());
    benchmark::DoNotOptimize(predictor.predict(llama_70b()));
  }
}

BENCHMARK(model_pass_cold)->Unit(benchmark::kMicrosecond);

/// The files and the graph known, another batch each time: new calls, new kernels.
void model_pass_other_batch(benchmark::State& state) {
  Predictor predictor(catalog());
  ModelRequest request = llama_70b();
  for (auto _ : state) {
    request.batch = 1 + request.batch % 4096;
    benchmark::DoNotOptimize(predictor.predict(request));
  }
}

BENCHMARK(model_pass_other_batch)->Unit(benchmark::kMicrosecond);

/// Batches that come again: calls known, plan and sum anew.
void model_pass_known_calls(benchmark::State& state) {
  Predictor predictor(catalog());
  ModelRequest request = llama_70b();
  constexpr int64_t kBatches = 64;  // more than the answers that are kept
  for (auto _ : state) {
    request.batch = 1 + request.batch % kBatches;
    benchmark::DoNotOptimize(predictor.predict(request));
  }
}

BENCHMARK(model_pass_known_calls)->Unit(benchmark::kMicrosecond)->MinWarmUpTime(0.5);

/// The same question again.
void model_pass_warm(benchmark::State& state) {
  Predictor predictor(catalog());
  for (auto _ : state) {
    benchmark::DoNotOptimize(predictor.predict(llama_70b()));
  }
}

BENCHMARK(model_pass_warm)->Unit(benchmark::kMicrosecond);

/// 9,999 points on three machines, as many threads as cores.
void sweep_10000(benchmark::State& state) {
  const Session session({.home = "."});
  const SweepRequest request{.subject = "llama-3.1-70b",
                             .machines = {"a100", "h100", "h200"},
                             .options = {{"batch", "1..3333"}, {"context", "2048"}}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(session.sweep(request));
  }
}

BENCHMARK(sweep_10000)->Unit(benchmark::kMillisecond)->UseRealTime();

/// From nothing to a printed prediction: process, files, choice.
void command_line(benchmark::State& state) {
  const std::string program =
      (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "orrery").string();
  std::array<const char*, 8> words = {
      program.c_str(), "predict", "gemm", "m=4096", "n=4096", "k=4096", "--machine=h200", nullptr};
  for (auto _ : state) {
    pid_t child = 0;
    posix_spawn_file_actions_t quiet;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1, 0);
    int status = posix_spawn(
        &child, words[0], &quiet, nullptr, const_cast<char* const*>(words.data()), environ);
    posix_spawn_file_actions_destroy(&quiet);
    if (status == 0) {
      waitpid(child, &status, 0);
    }
    if (status != 0) {
      state.SkipWithError("the command line did not run");
      break;
    }
  }
}

BENCHMARK(command_line)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace orrery::session
