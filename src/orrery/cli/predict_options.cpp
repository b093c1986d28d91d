// Options of predict, explain and compare.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/predict_options.h"

#include <cstdlib>

#include "orrery/base/text.h"
#include "orrery/cli/numbers.h"
#include "orrery/cli/output.h"
#include "orrery/cli/progress.h"
#include "orrery/report/html.h"
#include "orrery/session/files.h"

namespace orrery::cli {

template <class Report>
Result<void> PredictOptions::write_page(const Report& report,
                                        const std::vector<std::string>& machines) const {
  if (html_.empty()) {
    return {};
  }
  std::vector<std::string> read = subject_;
  read.insert(read.end(), machines.begin(), machines.end());
  read.insert(read.end(), texts_.begin(), texts_.end());
  ORR_TRY_VOID(check_output("--html", html_, read));
  return write_file(html_, report::to_html(report));
}

PredictOptions::PredictOptions() : texts_(session::model_options().size()) {}

std::vector<Argument> PredictOptions::arguments(Takes takes) {
  std::vector<Argument> all = {
      {.name = "subject",
       .value = "MODEL|OP [key=value ...]",
       .help = "a model (name, or path of a config.json or of its folder), or an operator with its "
               "sizes",
       .list = &subject_,
       .required = true},
  };
  const auto options = session::model_options();
  for (size_t i = 0; i < options.size(); ++i) {
    all.push_back({.name = "--" + std::string(options[i].name),
                   .value = std::string(options[i].value),
                   .help = "models: " + std::string(options[i].meaning),
                   .text = &texts_[i]});
  }
  const std::vector<Argument> others = {
      {.name = "--state",
       .value = "S",
       .help = "clock: burst, steady or mixed [models steady, operators mixed]",
       .text = &state_},
      {.name = "--cache",
       .value = "C",
       .help = "operators: operands cold or warm [cold]",
       .text = &cache_},
      {.name = "--by",
       .value = "WHO",
       .help = "who times kernels: cost (closed form) or device (simulated) [cost]",
       .text = &by_},
      {.name = "--pass-off",
       .value = "NAME",
       .help = "models: do not run this pass (may be repeated)",
       .list = &passes_off_},
      {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
      {.name = "--html",
       .value = "FILE",
       .help = "also write the report as one page for a browser",
       .text = &html_},
  };
  all.insert(all.end(), others.begin(), others.end());
  if (takes == Takes::Sweeps) {
    all.push_back({.name = "--threads",
                   .value = "N",
                   .help = "sweeps: threads to use [$ORRERY_THREADS, else one per core]",
                   .text = &threads_});
    all.push_back(
        {.name = "--csv", .value = "", .help = "sweeps: CSV instead of text", .flag = &csv_});
  }
  return all;
}

Result<void> check_one_machine(const std::string& machine) {
  if (machine.find(',') == std::string::npos || session::is_file(machine)) {
    return {};
  }
  return make_error(
      ErrorCode::InvalidInput,
      "[cli] --machine: got '{}', need one; `orrery compare --machines {}` takes several",
      machine,
      machine);
}

bool PredictOptions::is_operator() const {
  return session::find_operator(subject_[0]) != nullptr;
}

std::vector<session::Given> PredictOptions::given() const {
  std::vector<session::Given> given;
  if (is_operator()) {
    for (size_t i = 1; i < subject_.size(); ++i) {
      const size_t equals = subject_[i].find('=');
      const std::string value = equals == std::string::npos ? "" : subject_[i].substr(equals + 1);
      given.emplace_back(subject_[i].substr(0, equals), value);
    }
    return given;
  }
  const auto options = session::model_options();
  for (size_t i = 0; i < options.size(); ++i) {
    if (!texts_[i].empty()) {
      given.emplace_back(options[i].name, texts_[i]);
    }
  }
  return given;
}

Result<void> PredictOptions::check() const {
  if (csv_ && json_) {
    return make_error(ErrorCode::InvalidInput, "[cli] --csv, --json: got both, need one");
  }
  ORR_TRY_VOID(threads());
  if (is_operator()) {
    std::vector<std::string> wrong;
    const auto options = session::model_options();
    for (size_t i = 0; i < options.size(); ++i) {
      if (!texts_[i].empty()) {
        wrong.push_back("--" + std::string(options[i].name));
      }
    }
    if (!passes_off_.empty()) {
      wrong.emplace_back("--pass-off");
    }
    if (!wrong.empty()) {
      return make_error(ErrorCode::InvalidInput,
                        "[cli] {}: belongs to models, need key=value for the operator '{}'",
                        join(wrong, ", "),
                        subject_[0]);
    }
    return {};
  }
  if (subject_.size() > 1 && subject_[1].find('=') != std::string::npos) {
    std::vector<std::string> names;
    for (const session::Operator& op : session::operators()) {
      names.emplace_back(op.name);
    }
    return make_error(ErrorCode::NotFound,
                      "[cli] operator: got '{}', need one that `orrery ops` lists{}",
                      subject_[0],
                      did_you_mean(subject_[0], names));
  }
  if (subject_.size() > 1) {
    return make_error(
        ErrorCode::InvalidInput, "[cli] got '{}' after the model, need options", subject_[1]);
  }
  if (!cache_.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[cli] --cache: belongs to operators, a model's plan decides it");
  }
  return {};
}

Result<size_t> PredictOptions::threads() const {
  constexpr int64_t kMostThreads = 1024;
  const char* variable = std::getenv("ORRERY_THREADS");
  const bool set = threads_.empty() && variable != nullptr;
  const std::string text = set ? variable : threads_;
  if (text.empty()) {
    return size_t{0};
  }
  ORR_TRY(const int64_t threads,
          whole(set ? "ORRERY_THREADS" : "--threads", text, 1, kMostThreads));
  return static_cast<size_t>(threads);
}

Result<session::SweepRequest> PredictOptions::sweep_request(
    const std::vector<std::string>& machines) const {
  session::SweepRequest request{.subject = subject_[0], .machines = machines};
  request.options = given();
  request.state = state_;
  request.cache = cache_;
  request.by = by_;
  request.passes_off = passes_off_;
  ORR_TRY(request.threads, threads());
  return request;
}

bool PredictOptions::is_sweep() const {
  return session::is_sweep(
      {.subject = subject_[0], .machines = {}, .options = given(), .state = state_});
}

Result<Answer> PredictOptions::sweep(const session::Session& session,
                                     const std::vector<std::string>& machines) const {
  ORR_TRY_VOID(check());
  ORR_TRY(session::SweepRequest request, sweep_request(machines));
  Progress progress;
  if (progress.is_shown()) {
    request.progress = [&progress](size_t done, size_t all) { progress.show(done, all); };
  }
  ORR_TRY(const report::Sweep sweep, session.sweep(request));
  ORR_TRY_VOID(write_page(sweep, machines));
  return Answer{csv_    ? report::to_csv(sweep)
                : json_ ? report::to_json(sweep)
                        : report::to_text(sweep),
                report::any_fits(sweep) ? 0 : 1};
}

Result<Answer> PredictOptions::predict(const session::Session& session,
                                       const std::string& machine,
                                       report::Detail detail) const {
  ORR_TRY_VOID(check());
  if (csv_) {
    return make_error(ErrorCode::InvalidInput,
                      "[cli] --csv: belongs to sweeps, need a range (--batch 1..256x2)");
  }
  return is_operator() ? predict_call(session, machine, detail)
                       : predict_model(session, machine, detail);
}

Result<Answer> PredictOptions::compare(const session::Session& session,
                                       const std::vector<std::string>& machines) const {
  ORR_TRY_VOID(check());
  if (is_operator() || is_sweep()) {
    return sweep(session, machines);
  }
  ORR_TRY(const session::ModelRequest request, model_request(""));
  ORR_TRY(const report::Comparison comparison, session.compare(request, machines));
  ORR_TRY_VOID(write_page(comparison, machines));
  return Answer{csv_    ? report::to_csv(comparison)
                : json_ ? report::to_json(comparison, report::Detail::Summary)
                        : report::to_text(comparison),
                report::any_fits(comparison) ? 0 : 1};
}

Result<session::ModelRequest> PredictOptions::model_request(const std::string& machine) const {
  ORR_TRY(session::ModelRequest request, session::model_request(subject_[0], machine, given()));
  request.state = state_.empty() ? request.state : state_;
  request.by = by_.empty() ? request.by : by_;
  request.passes_off = passes_off_;
  return request;
}

Result<Answer> PredictOptions::predict_model(const session::Session& session,
                                             const std::string& machine,
                                             report::Detail detail) const {
  ORR_TRY(session::ModelRequest request, model_request(machine));
  request.advice = true;
  ORR_TRY(const report::ModelPrediction prediction, session.predict(request));
  ORR_TRY_VOID(write_page(prediction, {machine}));
  return Answer{json_ ? to_json(prediction, detail) : to_text(prediction, detail),
                prediction.fit.fits ? 0 : 1};
}

Result<Answer> PredictOptions::predict_call(const session::Session& session,
                                            const std::string& machine,
                                            report::Detail detail) const {
  session::CallRequest request{
      .op = subject_[0],
      .arguments = {subject_.begin() + 1, subject_.end()},
      .machine = machine,
  };
  request.state = state_.empty() ? request.state : state_;
  request.cache = cache_.empty() ? request.cache : cache_;
  request.by = by_.empty() ? request.by : by_;
  request.advice = detail == report::Detail::Explained;
  ORR_TRY(const report::CallPrediction prediction, session.predict(request));
  ORR_TRY_VOID(write_page(prediction, {machine}));
  return Answer{json_ ? to_json(prediction, detail) : to_text(prediction, detail), 0};
}

}  // namespace orrery::cli
