// Sizes of a step, read from a request.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/step.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "orrery/session/requests.h"

namespace orrery::session {

namespace {

using Sizes = std::vector<plan::Binding>;

Result<int64_t> checked(std::string_view what, int64_t value, int64_t most) {
  if (value < 1 || value > most) {
    return make_error(
        ErrorCode::InvalidInput, "[session.predict] {}: got {}, need 1 to {}", what, value, most);
  }
  return value;
}

Error not_of_phase(std::string_view what, std::string_view phase, std::string_view need) {
  return make_error(ErrorCode::InvalidInput,
                    "[session.predict] {}: does not belong to {}, need {}",
                    what,
                    phase,
                    need);
}

/// The named extents of the phase's graph, which is that of one group of GPUs.
Result<Sizes> sizes_of(const ModelRequest& request, Step& step) {
  constexpr int64_t kMostBatch = int64_t{1} << 20;
  constexpr int64_t kMostTokens = int64_t{1} << 26;
  ORR_TRY(const int64_t all, checked("batch", request.batch, kMostBatch));
  const int64_t groups = parallel_of(request).groups();
  const int64_t batch = (all + groups - 1) / groups;
  if (all % groups != 0) {
    step.notes.push_back(fmt::format(
        "batch {} over {} groups of GPUs: timed with {} sequences on each", all, groups, batch));
  }
  const bool decode = step.phase == frontend::Phase::Decode;
  if (decode && request.seq) {
    return not_of_phase("seq", "decode", "context (the tokens attended to)");
  }
  if (!decode && request.context && request.context != request.seq) {
    return not_of_phase(
        "context",
        "prefill",
        "seq; a chunk behind cached tokens is --phase mixed --requests 1xTOKENS@CACHED");
  }
  ORR_TRY(const int64_t tokens,
          decode ? checked("context", request.context.value_or(1024), kMostTokens)
                 : checked("seq", request.seq.value_or(512), kMostTokens));
  // Keeps every count of a decoder's elements inside 64 bits.
  ORR_TRY_VOID(checked("batch x tokens", batch * tokens, int64_t{1} << 36));
  return Sizes{{"batch", batch}, {decode ? "context" : "seq", tokens}};
}

Result<void> read_mixed(const ModelRequest& request, Step& step) {
  if (request.requests.empty() || request.seq || request.context || request.batch != 1) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.predict] mixed: got {}, need requests alone",
                      request.requests.empty() ? "no requests" : "batch, seq or context");
  }
  if (parallel_of(request).groups() > 1) {
    return make_error(
        ErrorCode::InvalidInput,
        "[session.predict] mixed: got ep {} and tp {}, need ep up to tp (the requests "
        "are those of one group of GPUs)",
        request.ep,
        request.tp);
  }
  ORR_TRY(step.requests, read_requests(request.requests));
  int64_t tokens = 0;
  int64_t keys = 0;
  for (const passes::Request& each : step.requests) {
    tokens += each.tokens;
    keys += each.tokens + each.cached;
    step.context = std::max(step.context, each.tokens + each.cached);
  }
  step.phase = frontend::Phase::Mixed;
  step.sizes = {{"batch", 1}, {"seq", tokens}};
  step.shown = {{"requests", static_cast<int64_t>(step.requests.size())},
                {"tokens", tokens},
                {"context", keys}};
  step.tokens = static_cast<double>(tokens);
  return {};
}

}  // namespace

Result<Step> step_of(const ModelRequest& request) {
  Step step;
  if (request.phase == "mixed") {
    ORR_TRY_VOID(read_mixed(request, step));
    return step;
  }
  if (!request.requests.empty()) {
    return not_of_phase("requests", request.phase, "--phase mixed");
  }
  ORR_TRY(step.phase, frontend::parse_phase(request.phase));
  ORR_TRY(step.sizes, sizes_of(request, step));
  step.batch = step.sizes.front().second;
  return step;
}

void keep_sizes(const graph::Graph& graph, const ModelRequest& request, Step& step) {
  if (!step.requests.empty()) {
    return;
  }
  std::erase_if(step.sizes, [&graph](const plan::Binding& size) {  // an image has its own
    return std::find(graph.dims().begin(), graph.dims().end(), size.first) == graph.dims().end();
  });
  step.shown = step.sizes;
  for (plan::Binding& size : step.shown) {
    size.second = size.first == "batch" ? request.batch : size.second;
  }
  step.context = step.sizes.size() < 2 ? 0 : step.sizes[1].second;
  const bool one = step.phase == frontend::Phase::Decode || step.sizes.size() < 2;
  step.tokens =
      static_cast<double>(request.batch) * (one ? 1.0 : static_cast<double>(step.context));
}

}  // namespace orrery::session
