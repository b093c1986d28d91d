// Rewrites: maps of graphs.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/rewrites.h"

#include <utility>

#include "orrery/passes/pipeline.h"

namespace orrery::passes {

Result<const graph::Graph*> Rewrites::graph(const Pass& pass,
                                            const graph::Graph& from,
                                            const Context& context,
                                            const std::string& reads) {
  Asked asked{&from, &pass, reads};
  auto found = made_.find(asked);
  if (found == made_.end()) {
    ORR_TRY(graph::Graph next, pass.run(from, context));
    auto kept = std::make_unique<const graph::Graph>(std::move(next));
    found = made_.emplace(std::move(asked), std::move(kept)).first;
  }
  return found->second.get();
}

Result<const Expanded*> Rewrites::expanded(const graph::Graph& from) {
  auto found = expanded_.find(&from);
  if (found == expanded_.end()) {
    ORR_TRY(Expanded next, expand(from));
    found = expanded_.emplace(&from, std::make_unique<const Expanded>(std::move(next))).first;
  }
  return found->second.get();
}

void Rewrites::tidy() {
  constexpr size_t kMost = 256;
  if (made_.size() + expanded_.size() > kMost) {
    made_.clear();
    expanded_.clear();
  }
}

}  // namespace orrery::passes
