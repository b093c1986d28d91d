// Predictions that remember: files, graphs, times of calls and whole answers are made once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "orrery/base/result.h"
#include "orrery/frontend/model_graph.h"
#include "orrery/frontend/override_precision.h"
#include "orrery/frontend/parallel.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/rewrites.h"
#include "orrery/plan/call_times.h"
#include "orrery/report/prediction.h"
#include "orrery/session/catalog.h"
#include "orrery/session/fitting.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"

namespace orrery::session {

// A sweep asks for ten thousand steps of one model on three machines. What the steps share is kept:
//
//     machine and library files      read once a machine
//     model file, graph of a phase   read and built once a model
//     what passes make of a graph    made once a graph and what they read of a step
//     time of a call                 computed once a machine, call and conditions
//     whole answers                  the last kAnswers, found by their request
//
// What is kept changes no answer. Files are read when first asked for and not again, so a predictor
// lives as long as a run, not as long as a service. Not for several threads at once: each has its
// own.
class Predictor {
 public:
  static constexpr size_t kAnswers = 32;
  static constexpr size_t kMostCalls = 4096;  // remembered of a machine; then it forgets them all

  /// The catalog must outlive it.
  explicit Predictor(const Catalog& catalog) : catalog_(catalog) {}

  /// The reference holds until the next prediction.
  const Result<report::ModelPrediction>& predict(const ModelRequest& request);
  Result<report::CallPrediction> predict(const CallRequest& request);

 private:
  /// A machine with its library, and the times of calls on it.
  struct Known {
    explicit Known(Opened made)
        : opened(std::move(made)),
          setting(session::setting(opened, plan::ClockState::Steady)),
          times(opened.library, *opened.estimator) {}

    report::Setting setting_of(plan::ClockState clock) const;

    Opened opened;
    report::Setting setting;
    plan::CallTimes times;
  };

  struct Model {
    frontend::Model model;
    std::map<std::pair<frontend::Phase, frontend::Parallel>, graph::Graph> graphs;
    Bytes towers;  // memory of their weights
  };

  Result<report::ModelPrediction> compute(const ModelRequest& request);
  Result<Known*> known_machine(std::string_view name, std::string_view by);
  Result<Model*> known_model(const ModelRequest& request);
  Result<const graph::Graph*> known_graph(Model& model,
                                          frontend::Phase phase,
                                          const frontend::Parallel& parallel);
  /// What fit_of asks, with graphs that are kept; all of them must outlive it.
  Fitting fitting(Model& model,
                  const graph::Graph& graph,
                  const Step& step,
                  const machine::Chip& chip);

  const Catalog& catalog_;
  std::map<std::pair<std::string, By>, std::unique_ptr<Known>> machines_;
  std::map<std::pair<std::string, frontend::PrecisionNames>, Model> models_;
  passes::Rewrites rewrites_;  // of the graphs of models_
  std::deque<std::pair<ModelRequest, Result<report::ModelPrediction>>> answers_;  // newest first
};

}  // namespace orrery::session
