// Advice for models: neighbours of a request.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/model_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace orrery::session {

namespace {

struct Change {
  ModelRequest request;
  report::Price price = report::Price::Compile;  // of each the best is kept
  std::string text;
};

double seconds_a_token(const report::ModelPrediction& prediction) {
  return prediction.time.total.time.seconds().value() / std::max(1.0, prediction.tokens);
}

void add_runtime(std::vector<Change>& all,
                 const ModelRequest& request,
                 std::string_view runtime,
                 std::string text) {
  Change change{request, report::Price::Compile, std::move(text)};
  change.request.runtime = runtime;
  all.push_back(std::move(change));
}

void add_precisions(std::vector<Change>& all, const ModelRequest& request) {
  if (request.weights.empty()) {
    Change change{request, report::Price::Accuracy, "products in fp8: --weights fp8"};
    change.request.weights = "fp8";
    change.request.activations.clear();
    all.push_back(std::move(change));
  }
  if (request.kv_cache.empty() && request.phase == "decode") {
    Change change{request, report::Price::Accuracy, "keys and values in fp8: --kv-cache fp8"};
    change.request.kv_cache = "fp8";
    all.push_back(std::move(change));
  }
}

std::vector<Change> changes(const ModelRequest& request) {
  std::vector<Change> all;
  if (request.runtime == "eager") {
    add_runtime(all, request, "graph", "a CUDA graph: --runtime graph");
  }
  if (request.runtime == "eager" || request.runtime == "graph") {
    add_runtime(
        all, request, "inductor", "small kernels fused by TorchInductor: --runtime inductor");
  }
  if (request.runtime == "inductor") {
    add_runtime(
        all, request, "fused", "all small kernels fused into the products: --runtime fused");
  }
  if (request.phase == "decode") {
    for (const int64_t factor : {2, 4}) {
      Change change{request, report::Price::Latency, ""};
      change.request.batch = request.batch * factor;
      change.text = fmt::format(
          "{} sequences at once: --batch {}", change.request.batch, change.request.batch);
      all.push_back(std::move(change));
    }
  }
  add_precisions(all, request);
  for (const int64_t factor : {2, 4}) {
    Change change{request, report::Price::Gpus, ""};
    change.request.tp = request.tp * factor;
    change.text = fmt::format("{} GPUs: --tp {}", change.request.tp, change.request.tp);
    all.push_back(std::move(change));
  }
  return all;
}

/// What does not fit is no help, unless nothing asked for does: then at least no larger batch.
bool worth_saying(const report::ModelPrediction& then,
                  const report::ModelPrediction& now,
                  const Change& change) {
  return then.fit.fits || (!now.fit.fits && change.price != report::Price::Latency);
}

}  // namespace

report::Advice model_advice(const ModelRequest& request,
                            const report::ModelPrediction& now,
                            const Predict& predict) {
  constexpr double kLeastGain = 0.02;
  constexpr size_t kMost = 3;
  report::Advice advice;
  for (Change& change : changes(request)) {
    change.request.advice = false;
    const Result<report::ModelPrediction> then = predict(change.request);
    if (!then.ok() || !worth_saying(*then, now, change)) {
      continue;
    }
    if (then->fit.fits && !now.fit.fits) {
      change.text += ", which fits";
    }
    ++advice.tried;
    report::Help help{.change = std::move(change.text),
                      .price = change.price,
                      .time = then->time.total.time,
                      .gain = 1 - seconds_a_token(*then) / seconds_a_token(now)};
    const auto known =
        std::find_if(advice.helps.begin(), advice.helps.end(), [&](const report::Help& each) {
          return each.price == help.price;
        });
    if (help.gain < kLeastGain) {
      continue;
    }
    if (known == advice.helps.end()) {
      advice.helps.push_back(std::move(help));
    } else if (help.gain > known->gain) {
      *known = std::move(help);
    }
  }
  std::stable_sort(advice.helps.begin(),
                   advice.helps.end(),
                   [](const report::Help& a, const report::Help& b) { return a.gain > b.gain; });
  advice.helps.resize(std::min(kMost, advice.helps.size()));
  return advice;
}

}  // namespace orrery::session
