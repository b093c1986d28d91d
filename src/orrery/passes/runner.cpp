// Runs the pipeline.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/runner.h"

#include <algorithm>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/passes/pipeline.h"

namespace orrery::passes {

namespace {

Result<void> check_names(const std::vector<std::string>& off) {
  if (off.empty()) {
    return {};
  }
  std::vector<std::string> known;
  for (const Pass& pass : all_passes()) {
    known.emplace_back(pass.name);
  }
  for (const std::string& name : off) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return make_error(ErrorCode::NotFound,
                        "[passes.runner] pass: got '{}', need one of {}{}",
                        name,
                        join(known, ", "),
                        did_you_mean(name, known));
    }
  }
  return {};
}

}  // namespace

Result<plan::Plan> run(const graph::Graph& graph,
                       const Context& context,
                       const RunOptions& options) {
  ORR_TRY_VOID(check_names(options.off));
  const auto now = [&options] { return options.clock ? options.clock() : 0; };
  const auto report = [&options](const PassRan& ran) {
    if (options.watch) {
      options.watch(ran);
    }
  };
  Rewrites own;
  Rewrites& known = options.known == nullptr ? own : *options.known;
  known.tidy();
  const graph::Graph* current = &graph;
  for (const Pass& pass : all_passes()) {
    if (std::find(options.off.begin(), options.off.end(), pass.name) != options.off.end()) {
      continue;
    }
    const int64_t start = now();
    const graph::Graph* const before = current;
    if (const auto reads = pass.reads(*before, context)) {
      const auto next = known.graph(pass, *before, context, *reads);
      if (!next.ok()) {
        return next.error().with_note(fmt::format("in pass {}", pass.name));
      }
      current = *next;
    }
    const bool changed = options.watch && !(*current == *before);
    report({pass.name, changed, now() - start, current});
  }
  const Lowering& lowering = lowering_for(context.runtime);
  const int64_t start = now();
  auto plan = lowering.run(*current, context, known);
  if (!plan.ok()) {
    return plan.error().with_note(fmt::format("in pass {}", lowering.name));
  }
  report({lowering.name, true, now() - start, nullptr});
  return plan;
}

}  // namespace orrery::passes
