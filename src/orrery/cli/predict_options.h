// The options that `predict` and `explain` share, and their run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/cli/command.h"
#include "orrery/report/predict_report.h"

namespace orrery::cli {

class PredictOptions {
 public:
  std::vector<Argument> arguments();
  Result<Answer> run(const session::Session& session, report::Detail detail) const;

 private:
  Result<Answer> run_model(const session::Session& session, report::Detail detail) const;
  Result<Answer> run_call(const session::Session& session, report::Detail detail) const;
  Result<session::ModelRequest> model_request() const;
  /// Options that only models take, where an operator was asked for.
  Result<void> refuse_model_options() const;

  std::vector<std::string> subject_;  // MODEL, or OP and key=value ...
  std::string machine_;
  std::string phase_;
  std::string batch_;
  std::string seq_;
  std::string context_;
  std::string runtime_;
  std::string state_;
  std::string cache_;
  std::string usable_memory_;
  std::vector<std::string> passes_off_;
  bool json_ = false;
};

}  // namespace orrery::cli
