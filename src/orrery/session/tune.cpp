// Ranks candidates and emits the best.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orrery/base/quantity_text.h"
#include "orrery/base/text.h"
#include "orrery/emit/cpu/emit.h"
#include "orrery/emit/cuda/emit.h"
#include "orrery/emit/hip/emit.h"
#include "orrery/kernel/print.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/table.h"
#include "orrery/session/session.h"
#include "orrery/session/setting.h"
#include "orrery/session/tune_families.h"

namespace orrery::session {

namespace {

Result<const TunedFamily*> find_family(std::string_view name) {
  std::vector<std::string> names;
  for (const TunedFamily& family : tuned_families()) {
    if (family.op.name == name) {
      return &family;
    }
    names.emplace_back(family.op.name);
  }
  return make_error(ErrorCode::NotFound,
                    "[session.tune] operator: got '{}', need one of {}{}",
                    name,
                    join(names, ", "),
                    did_you_mean(name, names));
}

/// One candidate, timed; an error if one of its kernels cannot run on the chip.
Result<Tuned> timed(std::string name,
                    std::vector<kernel::Program> programs,
                    const kernel::Extents& extents,
                    const plan::Estimator& estimator,
                    const plan::Conditions& conditions) {
  Tuned tuned{
      .name = std::move(name), .programs = std::move(programs), .kernels = {}, .estimate = {}};
  for (const kernel::Program& program : tuned.programs) {
    ORR_TRY(kernel::Profile profile,
            kernel::derive_profile(program, extents, estimator.machine().chip));
    tuned.kernels.push_back(std::move(profile));
  }
  tuned.estimate = plan::choose({tuned.kernels}, estimator, conditions).estimate;
  return tuned;
}

Result<emit::Source> emitted(const kernel::Program& program, std::string_view target) {
  const bool nvidia = program.target == kernel::Target::Sm90a;
  if (target == "cpu") {
    return emit::cpu::emit(program);
  }
  if (target == "cuda" && nvidia) {
    return emit::cuda::emit(program);
  }
  if (target == "hip" && !nvidia) {
    return emit::hip::emit(program);
  }
  if (target == "cuda" || target == "hip") {
    return make_error(ErrorCode::InvalidInput,
                      "[session.tune] target: got {} for a program of {}, need {}, cpu or text",
                      target,
                      name(program.target),
                      nvidia ? "cuda" : "hip");
  }
  return make_error(ErrorCode::InvalidInput,
                    "[session.tune] target: got '{}', need cuda, hip, cpu or text",
                    target);
}

Result<std::vector<TunedSource>> sources(const Tuned& tuned, std::string_view target) {
  std::vector<TunedSource> all;
  for (const kernel::Program& program : tuned.programs) {
    if (target == "text") {
      all.push_back({program.name, kernel::print(program)});
      continue;
    }
    ORR_TRY(emit::Source source, emitted(program, target));
    all.push_back({std::move(source.entry), std::move(source.code)});
  }
  return all;
}

}  // namespace

const std::vector<Operator>& tuned_operators() {
  static const std::vector<Operator> kOperators = [] {
    std::vector<Operator> all;
    for (const TunedFamily& family : tuned_families()) {
      all.push_back(family.op);
    }
    return all;
  }();
  return kOperators;
}

Result<Tuning> Session::tune(const TuneRequest& request) const {
  if (request.top < 1) {
    return make_error(
        ErrorCode::InvalidInput, "[session.tune] top: got {}, need at least 1", request.top);
  }
  ORR_TRY(const TunedFamily* family, find_family(request.op));
  plan::Conditions conditions;
  ORR_TRY(conditions.clock, parse_state(request.state));
  ORR_TRY(machine::Machine machine, catalog_.machine(request.machine));
  const std::unique_ptr<plan::Estimator> made = estimator_of(std::move(machine), By::Cost);
  const plan::Estimator& estimator = *made;
  ArgumentReader arguments(family->op, request.arguments);
  ORR_TRY(Candidates candidates, family->candidates(arguments, estimator.machine().chip));
  Tuning tuning{.call = request.op + " " + join(request.arguments, " "),
                .machine = estimator.machine().id,
                .machine_title = estimator.machine().title,
                .clock = std::string(name(conditions.clock)),
                .tried = candidates.programs.size(),
                .best = {},
                .sources = {}};
  std::string last_error;
  for (auto& [name, programs] : candidates.programs) {
    auto tuned = timed(name, std::move(programs), candidates.extents, estimator, conditions);
    if (tuned.ok()) {
      tuning.best.push_back(*std::move(tuned));
    } else {
      last_error = tuned.error().message;
    }
  }
  if (tuning.best.empty()) {
    return make_error(ErrorCode::Infeasible,
                      "[session.tune] {}: got no configuration that runs on {} among {}{}",
                      tuning.call,
                      estimator.machine().id,
                      tuning.tried,
                      last_error.empty() ? "" : ", the last because: " + last_error);
  }
  std::stable_sort(tuning.best.begin(), tuning.best.end(), [](const Tuned& a, const Tuned& b) {
    return a.estimate.time < b.estimate.time;
  });
  tuning.best.resize(std::min(tuning.best.size(), static_cast<size_t>(request.top)));
  if (!request.target.empty()) {
    ORR_TRY(tuning.sources, sources(tuning.best.front(), request.target));
  }
  return tuning;
}

std::string to_text(const Tuning& tuning) {
  using report::Align;
  report::TextTable table({{"#", Align::Right},
                           {"configuration"},
                           {"time", Align::Right},
                           {"interval"},
                           {"bound"},
                           {"CTAs", Align::Right},
                           {"a core", Align::Right}});
  for (size_t i = 0; i < tuning.best.size(); ++i) {
    const Tuned& tuned = tuning.best[i];
    table.add({fmt::format("{}", i + 1),
               tuned.name,
               to_text(tuned.estimate.time),
               fmt::format("{} to {}", to_text(tuned.estimate.low), to_text(tuned.estimate.high)),
               std::string(name(tuned.estimate.bound)),
               fmt::format("{}", tuned.kernels.front().ctas),
               fmt::format("{}", tuned.kernels.front().ctas_per_sm)});
  }
  return fmt::format("{} on {}: {} configurations, clock {}\n\n{}",
                     tuning.call,
                     tuning.machine_title,
                     tuning.tried,
                     tuning.clock,
                     table.to_text());
}

std::string to_json(const Tuning& tuning) {
  report::JsonWriter json;
  json.begin_object().member("schema", "orrery.tuning/1").member("call", tuning.call);
  json.member("machine", tuning.machine).member("clock", tuning.clock);
  json.member("tried", static_cast<int64_t>(tuning.tried)).key("configurations").begin_array();
  for (const Tuned& tuned : tuning.best) {
    json.begin_object().member("name", tuned.name).member("time_us", tuned.estimate.time);
    json.member("low_us", tuned.estimate.low).member("high_us", tuned.estimate.high);
    json.member("bound", name(tuned.estimate.bound));
    json.member("ctas", tuned.kernels.front().ctas);
    json.member("ctas_per_sm", tuned.kernels.front().ctas_per_sm);
    json.member("programs", static_cast<int64_t>(tuned.programs.size())).end_object();
  }
  return json.end_array().end_object().text();
}

}  // namespace orrery::session
