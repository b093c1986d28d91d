// Predictions as text.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "orrery/base/quantity_text.h"
#include "orrery/base/text.h"
#include "orrery/report/by_kind.h"
#include "orrery/report/predict_report.h"
#include "orrery/report/setting_text.h"
#include "orrery/report/speed_text.h"
#include "orrery/report/table.h"

namespace orrery::report {

namespace {

using Column = TextTable::Column;

std::string share(Duration part, Duration whole) {
  return fmt::format("{:.1f} %", 100 * (part / whole));
}

std::string interval(const plan::Estimate& estimate) {
  return fmt::format("{} to {}", to_text(estimate.low), to_text(estimate.high));
}

std::string time_line(const plan::Estimate& estimate) {
  return fmt::format("time     {}   ({}, 80 %)   bound: {}   evidence: {}\n",
                     to_text(estimate.time),
                     interval(estimate),
                     name(estimate.bound),
                     name(estimate.evidence));
}

std::string setting_line(const Setting& setting) {
  return fmt::format("library  {}\n", libraries_text(setting));
}

/// A list of warnings, each on a line; nothing if there are none.
std::string warnings(const plan::Estimate& estimate) {
  std::string text;
  for (const std::string& warning : estimate.warnings) {
    text += "warning: " + warning + '\n';
  }
  return text;
}

/// What one would have to change for a program to fit.
std::string what_fits(const Fit& fit) {
  std::vector<std::string> ways;
  if (fit.largest_batch > 0) {
    ways.push_back(fmt::format("at batch {}", fit.largest_batch));
  }
  if (fit.smallest_tp > 0) {
    ways.push_back(fmt::format("on {} GPUs (--tp {})", fit.smallest_tp, fit.smallest_tp));
  }
  if (fit.fp8_cache) {
    ways.emplace_back("with keys and values in fp8 (--kv-cache fp8)");
  }
  return ways.empty() ? "neither at batch 1 nor on all GPUs of a node" : join(ways, ", or ");
}

std::string memory_lines(const ModelPrediction& prediction) {
  const plan::Memory& memory = prediction.plan.memory;
  const Fit& fit = prediction.fit;
  std::string text =
      fmt::format("memory   {} of {}: weights {}, KV cache {}, activations {}, reserve {}\n",
                  to_text(memory.total()),
                  to_text(fit.capacity),
                  to_text(memory.weights),
                  to_text(memory.cache),
                  to_text(memory.activations),
                  to_text(memory.reserve));
  if (!fit.fits) {
    const Bytes usable = fit.usable * fit.capacity;
    text +=
        fmt::format("         does not fit: {} more than the {} that a program may use ({:.0f} %)",
                    to_text(memory.total() - usable),
                    to_text(usable),
                    100 * fit.usable);
    text += "\n         would fit " + what_fits(fit) + '\n';
  }
  return text;
}

std::string kinds_table(const ModelPrediction& prediction) {
  TextTable table({{"operator"},
                   {"calls", Align::Right},
                   {"time", Align::Right},
                   {"share", Align::Right},
                   {"bound"},
                   {"of limit", Align::Right}});
  for (const KindTime& kind :
       by_kind(prediction.plan, prediction.time, prediction.setting.limits)) {
    table.add({std::string(kind.kind),
               fmt::format("{}", kind.calls),
               to_text(kind.time),
               share(kind.time, prediction.time.device),
               std::string(name(kind.bound)),
               fmt::format("{:.0f} %", 100 * (kind.least / kind.time))});
  }
  return table.to_text();
}

std::string kernels_of(const plan::StepTime& step) {
  std::vector<std::string> names;
  for (const kernel::Profile& profile : *step.kernels) {
    names.push_back(profile.kernel);
  }
  const std::string joined = join(names, " + ");
  return step.candidates > 1 ? fmt::format("{} (1 of {})", joined, step.candidates) : joined;
}

std::string steps_table(const ModelPrediction& prediction) {
  TextTable table({{"step"},
                   {"call"},
                   {"times", Align::Right},
                   {"each", Align::Right},
                   {"share", Align::Right},
                   {"bound"},
                   {"kernel"}});
  for (size_t i = 0; i < prediction.plan.steps.size(); ++i) {
    const plan::Step& step = prediction.plan.steps[i];
    const plan::StepTime& time = prediction.time.steps[i];
    table.add({step.name,
               library::to_text(step.call),
               fmt::format("{}", step.times),
               to_text(time.once.time),
               share(time.total, prediction.time.device),
               std::string(name(time.once.bound)),
               kernels_of(time)});
  }
  return table.to_text();
}

/// The terms of all steps added up by name: what launching, first accesses, DRAM ... take in all.
/// Terms of one kernel overlap, so the sums may exceed the time.
std::string terms_of_steps(const ModelPrediction& prediction) {
  std::vector<plan::Term> sums;
  for (size_t i = 0; i < prediction.plan.steps.size(); ++i) {
    for (const plan::Term& term : prediction.time.steps[i].once.terms) {
      auto found = std::find_if(sums.begin(), sums.end(), [&term](const plan::Term& sum) {
        return sum.name == term.name;
      });
      if (found == sums.end()) {
        sums.push_back({term.name, Duration::zero()});
        found = sums.end() - 1;
      }
      found->time += term.time * prediction.plan.steps[i].times;
    }
  }
  TextTable table({{"term"}, {"all steps", Align::Right}, {"of the time", Align::Right}});
  for (const plan::Term& sum : sums) {
    table.add({sum.name, to_text(sum.time), share(sum.time, prediction.time.device)});
  }
  return table.to_text();
}

std::string title(const ModelPrediction& prediction) {
  std::vector<std::string> sizes;
  for (const auto& [name, value] : prediction.sizes) {
    sizes.push_back(fmt::format("{} {}", name, value));
  }
  return fmt::format("{} on {}: {}, {}\n",
                     prediction.model,
                     prediction.setting.machine_title,
                     prediction.phase,
                     join(sizes, ", "));
}

/// What each of several kernels takes.
std::string each_table(const plan::StepTime& step) {
  TextTable table({{"kernel"}, {"time", Align::Right}, {"of the time", Align::Right}, {"bound"}});
  for (size_t i = 0; i < step.each->size(); ++i) {
    const plan::Estimate& each = (*step.each)[i];
    table.add({(*step.kernels)[i].kernel,
               to_text(each.time),
               share(each.time, step.once.time),
               std::string(name(each.bound))});
  }
  return table.to_text();
}

std::string_view cost_of(Price price) {
  switch (price) {
    case Price::Padding:
      return "costs memory; cut the result";
    case Price::Layout:
      return "the same numbers";
    case Price::Work:
      return "per unit of work";
    case Price::Accuracy:
      return "costs accuracy";
    case Price::Compile:
      return "another program";
    case Price::Latency:
      return "longer steps";
    case Price::Gpus:
      return "more GPUs";
  }
  ORR_UNREACHABLE();
}

std::string help_lines(const ModelPrediction& prediction) {
  if (!prediction.advice) {
    return "";
  }
  if (prediction.advice->helps.empty()) {
    return fmt::format(
        "\nNone of {} other runtimes, batches, precisions and numbers of GPUs would save 2 %.\n",
        prediction.advice->tried);
  }
  TextTable table(
      {{"would help most"}, {"step", Align::Right}, {"saves a token", Align::Right}, {"price"}});
  for (const Help& help : prediction.advice->helps) {
    table.add({help.change,
               to_text(help.time),
               fmt::format("{:.0f} %", 100 * help.gain),
               std::string(cost_of(help.price))});
  }
  return '\n' + table.to_text();
}

std::string advice_lines(const Advice& advice) {
  if (advice.helps.empty()) {
    return advice.tried == 0
               ? "\nNo small change of shape, layout or type applies.\n"
               : fmt::format("\nNone of {} small changes of shape, layout or type would help.\n",
                             advice.tried);
  }
  TextTable table({{"would help"},
                   {"time", Align::Right},
                   {"saves", Align::Right},
                   {"price"},
                   {"kernel then"}});
  for (const Help& help : advice.helps) {
    table.add({help.change,
               to_text(help.time),
               fmt::format("{:.0f} %", 100 * help.gain),
               std::string(cost_of(help.price)),
               help.kernels.empty() ? "the same" : help.kernels});
  }
  return '\n' + table.to_text();
}

}  // namespace

std::string_view name(Price price) {
  switch (price) {
    case Price::Padding:
      return "padding";
    case Price::Layout:
      return "layout";
    case Price::Work:
      return "work";
    case Price::Accuracy:
      return "accuracy";
    case Price::Compile:
      return "compile";
    case Price::Latency:
      return "latency";
    case Price::Gpus:
      return "gpus";
  }
  ORR_UNREACHABLE();
}

namespace {

/// How many GPUs the report's one is of, and how they share the model where not by layers alone.
std::string shared_by(const ModelPrediction& prediction) {
  const int64_t gpus = std::max(prediction.tp, prediction.ep);
  if (gpus == 1) {
    return "";
  }
  return fmt::format(", one of {} GPUs", gpus) +
         (prediction.ep > 1 ? fmt::format(" (tp {}, ep {})", prediction.tp, prediction.ep) : "");
}

}  // namespace

std::string to_text(const ModelPrediction& prediction, Detail detail) {
  const plan::PlanTime& time = prediction.time;
  std::string text = title(prediction);
  text += setting_line(prediction.setting);
  text += fmt::format("runtime  {}{}, clock {}, {} layers{}\n\n",
                      name(prediction.plan.runtime),
                      prediction.engine == "pytorch" ? "" : " with " + prediction.engine,
                      prediction.setting.clock,
                      prediction.layers,
                      shared_by(prediction));
  text += time_line(time.total);
  text += fmt::format("speed    {} tokens/s\n",
                      speed(prediction.tokens / time.total.time.seconds().value()));
  text += fmt::format("kernels  {} launches", time.kernels);
  text += prediction.plan.runtime == plan::Runtime::Eager
              ? fmt::format(", device {}, host {}\n", to_text(time.device), to_text(time.host))
              : "\n";
  text += memory_lines(prediction) + '\n';
  text += kinds_table(prediction);
  text += help_lines(prediction);
  if (detail == Detail::Explained) {
    text += '\n' + steps_table(prediction) + '\n' + terms_of_steps(prediction);
    text += "Terms of one kernel run side by side, so they add up to more than the time.\n";
  }
  const std::string warned = warnings(time.total);
  return warned.empty() ? text : text + '\n' + warned;
}

std::string to_text(const CallPrediction& prediction, Detail detail) {
  const plan::StepTime& time = prediction.time;
  std::string text = fmt::format(
      "{} on {}\n", library::to_text(prediction.call), prediction.setting.machine_title);
  text += setting_line(prediction.setting);
  text +=
      fmt::format("clock    {}, operands {}\n\n",
                  prediction.setting.clock,
                  prediction.conditions.activations == plan::CacheState::Warm ? "warm" : "cold");
  text += time_line(time.once);
  text += fmt::format("kernel   {}\n", kernels_of(time));
  if (detail == Detail::Explained) {
    TextTable table({{"term"}, {"time", Align::Right}, {"of the time", Align::Right}});
    for (const plan::Term& term : time.once.terms) {
      table.add({term.name, to_text(term.time), share(term.time, time.once.time)});
    }
    if (!time.each->empty()) {
      text += '\n' + each_table(time);
    }
    text += '\n' + table.to_text() + '\n';
    for (const kernel::Profile& profile : *time.kernels) {
      text += fmt::format("{}: {} CTAs of {} threads, {} a SM, {} units\n",
                          profile.kernel,
                          profile.ctas,
                          profile.threads,
                          profile.ctas_per_sm,
                          profile.units);
      for (const std::string& reason : profile.reasons) {
        text += "  why: " + reason + '\n';
      }
    }
  }
  if (prediction.advice) {
    text += advice_lines(*prediction.advice);
  }
  return text + warnings(time.once);
}

}  // namespace orrery::report
