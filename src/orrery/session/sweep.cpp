// Runs sweeps.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/session/operators.h"
#include "orrery/session/predictor.h"
#include "orrery/session/range.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"

namespace orrery::session {

namespace {

constexpr size_t kChunk = 16;  // neighbours on a grid share calls, so a thread takes several

/// The clock is an option beside those of the subject.
constexpr std::string_view kState = "state";

/// Is the value of this option a list by nature, or the path of a file?
bool is_single(const std::string& subject, std::string_view name) {
  if (const Operator* op = find_operator(subject); op != nullptr) {
    return std::any_of(op->keys.begin(), op->keys.end(), [name](const Key& key) {
      return key.name == name && key.is_list;
    });
  }
  const auto options = model_options();
  return std::any_of(options.begin(), options.end(), [name](const ModelOption& option) {
    return option.name == name && !option.takes_values;
  });
}

bool is_axis(const std::string& subject, const Given& given) {
  return given.first != kState && has_values(given.second) && !is_single(subject, given.first);
}

/// The subject's options at one point: those of one value, and the point's value on each axis.
std::vector<Given> options_at(const report::Sweep& sweep, size_t point) {
  std::vector<Given> options = sweep.fixed;
  for (size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    if (sweep.axes[axis].name != kState) {
      options.emplace_back(sweep.axes[axis].name, sweep.value(point, axis));
    }
  }
  return options;
}

/// The clock of a point; empty: what predictions take.
std::string state_at(const SweepRequest& request, const report::Sweep& sweep, size_t point) {
  if (!has_values(request.state)) {
    return request.state;
  }
  return sweep.value(point, sweep.axes.size() - 1);  // the last axis, as grid_of makes it
}

Result<ModelRequest> model_at(const SweepRequest& request, const report::Sweep& sweep, size_t at) {
  const std::string& machine = request.machines[at / sweep.points_per_machine()];
  ORR_TRY(ModelRequest model, model_request(request.subject, machine, options_at(sweep, at)));
  const std::string state = state_at(request, sweep, at);
  model.state = state.empty() ? model.state : state;
  model.by = request.by.empty() ? model.by : request.by;
  model.passes_off = request.passes_off;
  return model;
}

CallRequest call_at(const SweepRequest& request, const report::Sweep& sweep, size_t at) {
  CallRequest call{.op = request.subject,
                   .arguments = {},
                   .machine = request.machines[at / sweep.points_per_machine()]};
  for (const auto& [name, value] : options_at(sweep, at)) {
    call.arguments.push_back(fmt::format("{}={}", name, value));
  }
  const std::string state = state_at(request, sweep, at);
  call.state = state.empty() ? call.state : state;
  call.cache = request.cache.empty() ? call.cache : request.cache;
  call.by = request.by.empty() ? call.by : request.by;
  return call;
}

report::SweepPoint kept(const report::ModelPrediction& prediction) {
  const plan::Estimate& total = prediction.time.total;
  return {.error = {},
          .time = total.time,
          .low = total.low,
          .high = total.high,
          .bound = total.bound,
          .tokens_per_second = prediction.tokens / total.time.seconds().value(),
          .memory = prediction.plan.memory.total(),
          .fits = prediction.fit.fits,
          .warnings = total.warnings};
}

report::SweepPoint kept(const report::CallPrediction& prediction) {
  const plan::Estimate& once = prediction.time.once;
  return {.error = {},
          .time = once.time,
          .low = once.low,
          .high = once.high,
          .bound = once.bound,
          .tokens_per_second = 0,
          .memory = {},
          .fits = true,
          .warnings = once.warnings};
}

report::SweepPoint failed(const Error& error) {
  report::SweepPoint point;
  point.error = error.message;
  return point;
}

report::SweepPoint predict(Predictor& predictor,
                           const SweepRequest& request,
                           const report::Sweep& sweep,
                           size_t at) {
  if (!sweep.is_model) {
    const auto prediction = predictor.predict(call_at(request, sweep, at));
    return prediction.ok() ? kept(*prediction) : failed(prediction.error());
  }
  const Result<ModelRequest> model = model_at(request, sweep, at);
  if (!model.ok()) {
    return failed(model.error());
  }
  const auto& prediction = predictor.predict(*model);
  return prediction.ok() ? kept(*prediction) : failed(prediction.error());
}

/// Adds an axis; `points` grows by the number of its values.
Result<void> add_axis(report::Sweep& sweep, const Given& given, size_t& points) {
  const bool dashed = sweep.is_model || given.first == kState;
  ORR_TRY(auto values,
          expand_values((dashed ? "--" : "") + given.first, given.second, kMostPoints));
  points *= values.size();
  if (points > kMostPoints) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.sweep] got {} points and more, need at most {}",
                      points,
                      kMostPoints);
  }
  sweep.axes.push_back({given.first, std::move(values)});
  return {};
}

/// Splits the options into axes and those of one value; the clock's axis is the last.
Result<report::Sweep> grid_of(const SweepRequest& request) {
  report::Sweep sweep;
  sweep.subject = request.subject;
  sweep.is_model = find_operator(request.subject) == nullptr;
  size_t points = request.machines.size();
  for (const Given& given : request.options) {
    if (!is_axis(request.subject, given)) {
      sweep.fixed.push_back(given);
      continue;
    }
    ORR_TRY_VOID(add_axis(sweep, given, points));
  }
  if (has_values(request.state)) {
    ORR_TRY_VOID(add_axis(sweep, {std::string(kState), request.state}, points));
    for (const std::string& state : sweep.axes.back().values) {
      ORR_TRY_VOID(parse_state(state));
    }
  } else if (!request.state.empty()) {
    ORR_TRY_VOID(parse_state(request.state));
  }
  sweep.points.resize(points);
  return sweep;
}

/// What is wrong with a point's options is wrong with the question; found before the first
/// prediction, on the first machine.
Result<void> check_options(const SweepRequest& request, const report::Sweep& sweep) {
  for (size_t at = 0; at < sweep.points_per_machine(); ++at) {
    if (sweep.is_model) {
      ORR_TRY_VOID(model_at(request, sweep, at));
    } else {
      const CallRequest call = call_at(request, sweep, at);
      ORR_TRY_VOID(parse_call(call.op, call.arguments));
    }
  }
  return {};
}

/// Finds every machine; one whose libraries are not there has no version of them.
Result<std::vector<report::Setting>> settings_of(const Catalog& catalog,
                                                 const SweepRequest& request,
                                                 bool is_model) {
  std::string clock = is_model ? ModelRequest{}.state : CallRequest{}.state;
  if (!request.state.empty()) {
    clock = has_values(request.state) ? "" : request.state;  // an axis says it
  }
  std::vector<report::Setting> settings;
  std::set<std::string> seen;
  for (const std::string& name : request.machines) {
    ORR_TRY(const machine::Machine machine, catalog.machine(name));
    if (!seen.insert(machine.id).second) {
      return make_error(ErrorCode::InvalidInput,
                        "[session.sweep] machines: got {} twice ('{}'), need each once",
                        machine.id,
                        join(request.machines, ","));
    }
    const auto library = catalog.library(machine);
    settings.push_back({.machine = machine.id,
                        .machine_title = machine.title,
                        .library = library.ok() ? library->id() : "",
                        .library_version = library.ok() ? library->version() : "no libraries",
                        .clock = clock,
                        .limits = report::limits_of(machine.chip)});
  }
  if (settings.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.sweep] machines: got none, need one or more");
  }
  return settings;
}

/// Hands out chunks of points to threads and waits for them.
class Crew {
 public:
  Crew(const Catalog& catalog, const SweepRequest& request, report::Sweep& sweep)
      : catalog_(catalog), request_(request), sweep_(sweep) {}

  void run() {
    const size_t chunks = (sweep_.points.size() + kChunk - 1) / kChunk;
    const size_t cores = std::max(1U, std::thread::hardware_concurrency());
    const size_t threads = std::min(chunks, request_.threads == 0 ? cores : request_.threads);
    if (threads <= 1 && !request_.progress) {
      work();
      return;
    }
    std::vector<std::jthread> crew;
    for (size_t i = 0; i < threads; ++i) {
      crew.emplace_back([this] { work(); });
    }
    watch();
  }

 private:
  void work() {
    Predictor predictor(catalog_);
    for (;;) {
      const size_t first = next_.fetch_add(kChunk);
      if (first >= sweep_.points.size()) {
        return;
      }
      const size_t last = std::min(first + kChunk, sweep_.points.size());
      for (size_t at = first; at < last; ++at) {
        sweep_.points[at] = predict(predictor, request_, sweep_, at);
      }
      const std::scoped_lock lock(mutex_);
      done_ += last - first;
      changed_.notify_one();
    }
  }

  void watch() {
    constexpr std::chrono::milliseconds kPause(100);
    std::unique_lock lock(mutex_);
    while (done_ < sweep_.points.size()) {
      changed_.wait_for(lock, kPause, [this] { return done_ == sweep_.points.size(); });
      if (request_.progress) {
        request_.progress(done_, sweep_.points.size());
      }
    }
  }

  const Catalog& catalog_;
  const SweepRequest& request_;
  report::Sweep& sweep_;  // each point is written by one thread
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t done_ = 0;
};

}  // namespace

bool is_sweep(const SweepRequest& request) {
  return has_values(request.state) ||
         std::any_of(request.options.begin(), request.options.end(), [&](const Given& given) {
           return is_axis(request.subject, given);
         });
}

Result<report::Sweep> Session::sweep(const SweepRequest& request) const {
  ORR_TRY(report::Sweep sweep, grid_of(request));
  ORR_TRY(sweep.settings, settings_of(catalog_, request, sweep.is_model));
  ORR_TRY_VOID(check_options(request, sweep));
  Crew(catalog_, request, sweep).run();
  const bool any = std::any_of(sweep.points.begin(), sweep.points.end(), [](const auto& point) {
    return point.error.empty();
  });
  if (!any) {
    return make_error(ErrorCode::InvalidInput, "{}", sweep.points.front().error);
  }
  return sweep;
}

}  // namespace orrery::session
