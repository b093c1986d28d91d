// Memory against capacity.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/fitting.h"

#include <utility>
#include <vector>

namespace orrery::session {

namespace {

/// GPUs of the node that have to share a model for it to fit; 0: all of them are too few.
Result<int64_t> smallest_tp(const Fitting& fitting,
                            int64_t batch,
                            Bytes budget,
                            std::pair<int64_t, int64_t> between) {
  std::vector<plan::Binding> all = fitting.step.sizes;
  for (plan::Binding& size : all) {
    size.second = size.first == "batch" ? batch : size.second;
  }
  for (int64_t tp = between.first; tp <= between.second; tp *= 2) {
    const auto graph = fitting.graph_of(tp);
    if (!graph.ok()) {
      continue;
    }
    ORR_TRY(const graph::Sizes sizes, graph::Sizes::bind(**graph, all));
    if (plan::memory_of(**graph, sizes).total() <= budget) {
      return tp;
    }
  }
  return 0;
}

}  // namespace

Result<report::Fit> fit_of(const Fitting& fitting,
                           const plan::Memory& memory,
                           const ModelRequest& request) {
  report::Fit fit{.capacity = fitting.chip.dram.capacity, .usable = request.usable_memory};
  const Bytes usable = fit.usable * fit.capacity;
  fit.fits = memory.total() <= usable;
  if (fit.fits) {
    return fit;
  }
  fit.fp8_cache = !fitting.whole.cache && memory.total() - 0.5 * memory.cache <= usable;
  const Bytes budget = usable - memory.reserve - fitting.towers;
  const Step& step = fitting.step;
  if (step.requests.empty() && budget > Bytes(0.0)) {
    ORR_TRY(const int64_t of_a_group,
            plan::largest_extent(fitting.graph, step.sizes, "batch", budget));
    fit.largest_batch = of_a_group * parallel_of(request).groups();
    const std::pair between(2 * request.tp, fitting.chip.link.gpus);
    ORR_TRY(fit.smallest_tp, smallest_tp(fitting, request.batch, budget, between));
  }
  return fit;
}

}  // namespace orrery::session
