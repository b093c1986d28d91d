// The options that `predict`, `explain` and `compare` share, and their run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/cli/command.h"
#include "orrery/report/predict_report.h"
#include "orrery/session/model_options.h"
#include "orrery/session/sweep.h"

namespace orrery::cli {

/// Whether a command has the options of sweeps: --threads, --csv.
enum class Takes { One, Sweeps };

/// Errors (InvalidInput): several machines, with the command that takes them.
Result<void> check_one_machine(const std::string& machine);

/// What is asked, apart from the machine: a model with options, or an operator with arguments.
class PredictOptions {
 public:
  PredictOptions();

  /// All but the machine, which each command names in its own way.
  std::vector<Argument> arguments(Takes takes);

  /// Is some option a list or a range?
  bool is_sweep() const;

  /// One prediction on one machine. Errors: --csv, which belongs to sweeps.
  Result<Answer> predict(const session::Session& session,
                         const std::string& machine,
                         report::Detail detail) const;
  /// One step of a model on several machines; a sweep if there is a range, or for an operator.
  Result<Answer> compare(const session::Session& session,
                         const std::vector<std::string>& machines) const;
  /// All points on all machines.
  Result<Answer> sweep(const session::Session& session,
                       const std::vector<std::string>& machines) const;

 private:
  Result<session::ModelRequest> model_request(const std::string& machine) const;
  Result<Answer> predict_model(const session::Session& session,
                               const std::string& machine,
                               report::Detail detail) const;
  Result<Answer> predict_call(const session::Session& session,
                              const std::string& machine,
                              report::Detail detail) const;
  /// Where --html asks for one.
  template <class Report>
  Result<void> write_page(const Report& report, const std::vector<std::string>& machines) const;
  bool is_operator() const;
  /// Of --threads or the environment; 0: one per core.
  Result<size_t> threads() const;
  /// Words that fit neither a model nor an operator; options of the other kind.
  Result<void> check() const;
  Result<session::SweepRequest> sweep_request(const std::vector<std::string>& machines) const;
  std::vector<session::Given> given() const;

  std::vector<std::string> subject_;  // MODEL, or OP and key=value ...
  std::vector<std::string> texts_;    // of session::model_options(), in their order
  std::string state_;
  std::string cache_;
  std::string by_;
  std::vector<std::string> passes_off_;
  std::string threads_;
  std::string html_;
  bool csv_ = false;
  bool json_ = false;
};

}  // namespace orrery::cli
