// The facade: what Orrery can do, as one call each.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/report/comparison.h"
#include "orrery/report/prediction.h"
#include "orrery/report/simulation_report.h"
#include "orrery/report/sweep.h"
#include "orrery/session/catalog.h"
#include "orrery/session/operators.h"
#include "orrery/session/tune.h"
#include "orrery/validate/ranking.h"
#include "orrery/validate/validate.h"

namespace orrery::session {

// Example:
//
//     const session::Session orrery({.home = "/usr/share/orrery"});
//     ORR_TRY(const auto prediction, orrery.predict(session::ModelRequest{
//         .model = "llama-3.1-8b", .machine = "h200", .phase = "decode", .batch = 32, .context =
//         1024}));
//     puts(report::to_text(prediction, report::Detail::Summary).c_str());

/// A step of a model. Sizes that a phase does not have must be left out.
struct ModelRequest {
  std::string model;    // name or path of a config.json
  std::string machine;  // name or path of a machine file
  std::string phase = "decode";
  int64_t batch = 1;                // sequences, on all GPUs together
  std::optional<int64_t> seq = {};  // prefill: tokens of each prompt; 512 if left out
  std::optional<int64_t> context =
      {};  // decode: tokens attended to, the new one included; 1024 if left out
  std::string runtime = "graph";
  std::string engine = "pytorch";  // whose attention, experts and all-reduces (passes/engine.h)
  std::string state = "steady";    // of the clock: burst or steady
  std::string by = "cost";         // who times kernels: cost (closed form) or device (simulated)
  double usable_memory =
      0.9;  // share of the machine's memory; vLLM's gpu_memory_utilization is 0.9
  std::vector<std::string> passes_off = {};
  std::string requests = {};  // mixed: the sequences, in short form or by file (requests.h)
  int64_t tp = 1;             // GPUs that share every layer
  int64_t ep = 1;             // GPUs that share the experts (frontend/parallel.h)
  double imbalance = 0;       // rows of the busiest expert over the mean; 0: of a uniform routing
  std::string weights = {};   // precisions (frontend/override_precision.h); empty: as the file says
  std::string activations = {};
  std::string kv_cache = {};
  int64_t images = 0;  // in each sequence, whose tokens hold theirs; prefill, mixed
  std::optional<double> host_launch_us = {};  // eager: of an operator; left out: the machine's
  double reserve_gib = 1;  // of driver, framework and collectives: vLLM's logs show 0.5 to 1.5
  bool advice = false;     // also predict changes that would help

  bool operator==(const ModelRequest&) const = default;
};

/// One operator, e.g. {"gemm", {"m=4096", "n=4096", "k=4096"}}.
struct CallRequest {
  std::string op;
  std::vector<std::string> arguments;
  std::string machine;
  std::string state =
      "mixed";  // burst, steady, or a window across both, as tables of kernels are measured
  std::string cache = "cold";  // of the operands: cold or warm
  std::string by = "cost";     // who times it: cost (closed form) or device (simulated)
  bool advice = false;         // also try small changes that would make it faster
};

/// One operator on the simulated device.
struct SimulateRequest {
  std::string op;
  std::vector<std::string> arguments;
  std::string machine;
  std::string state = "mixed";  // of the clock
  std::string cache = "cold";   // of the operands
  bool counters = false;        // list them
};

struct ValidateRequest {
  std::vector<std::string> files;
  std::string machine;
  std::string out = {};  // file for the predictions, or a folder for several; empty: none
  std::optional<std::string> state = {};  // left out: as the file was measured
  std::optional<std::string> cache = {};
  std::optional<std::string> runtime = {};
  std::string by = "cost";    // who times kernels: cost (closed form) or device (simulated)
  bool given_kernel = false;  // the names of the kernels that ran may be read
};

/// One validated file.
struct ValidatedFile {
  std::string path;
  validate::Validation validation;
  std::vector<validate::Score> scores;
  std::vector<validate::Ranking> rankings;  // where rows are ways to do the same
};

struct SweepRequest;  // sweep.h

class Session {
 public:
  explicit Session(Places places) : catalog_(std::move(places)) {}

  const Catalog& catalog() const { return catalog_; }

  Result<report::ModelPrediction> predict(const ModelRequest& request) const;
  Result<report::CallPrediction> predict(const CallRequest& request) const;
  /// What happens on every SM while the call's kernels run.
  Result<report::SimulationReport> simulate(const SimulateRequest& request) const;
  /// One step of a model on several machines, each once (request.machine is not read). A machine on
  /// which it cannot be predicted has its error. Errors: an unknown machine; none predicted.
  Result<report::Comparison> compare(const ModelRequest& request,
                                     const std::vector<std::string>& machines) const;
  /// A grid of predictions.
  Result<report::Sweep> sweep(const SweepRequest& request) const;
  /// Ranks a family's kernels for one call. Error Infeasible: none runs on the machine.
  Result<Tuning> tune(const TuneRequest& request) const;
  /// Reads models.json beside each file for tables of models.
  Result<std::vector<ValidatedFile>> validate(const ValidateRequest& request) const;

 private:
  Catalog catalog_;
};

}  // namespace orrery::session
