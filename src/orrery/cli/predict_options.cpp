// Options of predict and explain.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/predict_options.h"

#include <limits>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/cli/numbers.h"

namespace orrery::cli {

std::vector<Argument> PredictOptions::arguments() {
  return {
      {.name = "subject",
       .value = "MODEL|OP [key=value ...]",
       .help = "a model (name or path of a config.json), or an operator with its sizes",
       .list = &subject_,
       .required = true},
      {.name = "--machine",
       .value = "M",
       .help = "machine: name, or path of a .toml",
       .text = &machine_,
       .required = true},
      {.name = "--phase", .value = "P", .help = "prefill or decode [decode]", .text = &phase_},
      {.name = "--batch", .value = "B", .help = "sequences [1]", .text = &batch_},
      {.name = "--seq",
       .value = "S",
       .help = "prefill: tokens of each prompt [512]",
       .text = &seq_},
      {.name = "--context",
       .value = "C",
       .help = "decode: tokens attended to [1024]",
       .text = &context_},
      {.name = "--runtime", .value = "R", .help = "graph or eager [graph]", .text = &runtime_},
      {.name = "--state",
       .value = "S",
       .help = "clock: burst, steady or mixed [models steady, operators mixed]",
       .text = &state_},
      {.name = "--cache",
       .value = "C",
       .help = "operators: operands cold or warm [cold]",
       .text = &cache_},
      {.name = "--usable-memory",
       .value = "F",
       .help = "share of the memory a program may use [0.9]",
       .text = &usable_memory_},
      {.name = "--pass-off",
       .value = "NAME",
       .help = "do not run this pass (may be repeated)",
       .list = &passes_off_},
      {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
  };
}

Result<Answer> PredictOptions::run(const session::Session& session, report::Detail detail) const {
  const std::string& name = subject_[0];
  if (session::find_operator(name) != nullptr) {
    return run_call(session, detail);
  }
  if (subject_.size() > 1) {
    const bool has_sizes = subject_[1].find('=') != std::string::npos;
    std::vector<std::string> names;
    for (const session::Operator& op : session::operators()) {
      names.emplace_back(op.name);
    }
    return has_sizes ? make_error(ErrorCode::NotFound,
                                  "[cli] operator: got '{}', need one that `orrery ops` lists{}",
                                  name,
                                  did_you_mean(name, names))
                     : make_error(ErrorCode::InvalidInput,
                                  "[cli] got '{}' after the model, need options",
                                  subject_[1]);
  }
  return run_model(session, detail);
}

Result<session::ModelRequest> PredictOptions::model_request() const {
  session::ModelRequest request{.model = subject_[0], .machine = machine_};
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  request.phase = phase_.empty() ? request.phase : phase_;
  request.runtime = runtime_.empty() ? request.runtime : runtime_;
  request.state = state_.empty() ? request.state : state_;
  if (!batch_.empty()) {
    ORR_TRY(request.batch, whole("--batch", batch_, 1, kMost));
  }
  if (!seq_.empty()) {
    ORR_TRY(request.seq, whole("--seq", seq_, 1, kMost));
  }
  if (!context_.empty()) {
    ORR_TRY(request.context, whole("--context", context_, 1, kMost));
  }
  if (!usable_memory_.empty()) {
    ORR_TRY(request.usable_memory, decimal("--usable-memory", usable_memory_));
  }
  if (!cache_.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[cli] --cache: belongs to operators, a model's plan decides it");
  }
  request.passes_off = passes_off_;
  return request;
}

Result<Answer> PredictOptions::run_model(const session::Session& session,
                                         report::Detail detail) const {
  ORR_TRY(const session::ModelRequest request, model_request());
  ORR_TRY(const report::ModelPrediction prediction, session.predict(request));
  return Answer{json_ ? to_json(prediction, detail) : to_text(prediction, detail),
                prediction.fit.fits ? 0 : 1};
}

Result<void> PredictOptions::refuse_model_options() const {
  const std::pair<std::string_view, const std::string*> options[] = {
      {"--phase", &phase_},
      {"--batch", &batch_},
      {"--seq", &seq_},
      {"--context", &context_},
      {"--runtime", &runtime_},
      {"--usable-memory", &usable_memory_},
  };
  std::vector<std::string> given;
  for (const auto& [name, text] : options) {
    if (!text->empty()) {
      given.emplace_back(name);
    }
  }
  if (!passes_off_.empty()) {
    given.emplace_back("--pass-off");
  }
  if (!given.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[cli] {}: belongs to models, need key=value for the operator '{}'",
                      join(given, ", "),
                      subject_[0]);
  }
  return {};
}

Result<Answer> PredictOptions::run_call(const session::Session& session,
                                        report::Detail detail) const {
  ORR_TRY_VOID(refuse_model_options());
  session::CallRequest request{
      .op = subject_[0],
      .arguments = {subject_.begin() + 1, subject_.end()},
      .machine = machine_,
  };
  request.state = state_.empty() ? request.state : state_;
  request.cache = cache_.empty() ? request.cache : cache_;
  request.advice = detail == report::Detail::Explained;
  ORR_TRY(const report::CallPrediction prediction, session.predict(request));
  return Answer{json_ ? to_json(prediction, detail) : to_text(prediction, detail), 0};
}

}  // namespace orrery::cli
