// Events a second of the queue, as a simulated GPU uses it: so many actors, each with one event.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "orrery/sim/queue.h"

namespace orrery::sim {
namespace {

void replace_top(benchmark::State& state) {
  Queue<uint32_t> queue;
  const auto actors = static_cast<uint32_t>(state.range(0));
  for (uint32_t actor = 0; actor < actors; ++actor) {
    queue.push(actor % 7, actor);
  }
  for (auto _ : state) {
    const auto next = queue.top();
    queue.replace_top(next.time + 100 + (next.event * 37) % 64, next.event);
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(replace_top)->Arg(132)->Arg(528)->Arg(4224);

}  // namespace
}  // namespace orrery::sim
