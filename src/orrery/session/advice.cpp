// Advice: the neighbours of a call, and what each gains.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/session/operators.h"

namespace orrery::session {
namespace {

using report::Price;

/// Another value of one argument.
struct Neighbour {
  std::string key;
  std::string value;
  Price price = Price::Padding;
  double work = 1;  // of the call's, that it does
};

/// An operator's arguments with what is left out filled in.
std::string value_of(const Operator& op,
                     std::span<const std::string> arguments,
                     std::string_view key) {
  for (const std::string& argument : arguments) {
    if (argument.size() > key.size() && argument.starts_with(key) && argument[key.size()] == '=') {
      return argument.substr(key.size() + 1);
    }
  }
  for (const Key& each : op.keys) {
    if (each.name == key) {
      return std::string(each.preset);
    }
  }
  return "";
}

std::optional<int64_t> whole(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool read = error == std::errc() && end == text.data() + text.size() && value > 0;
  return read ? std::optional(value) : std::nullopt;
}

constexpr std::array<std::string_view, 9> kPadded = {
    "m", "n", "k", "rows", "cols", "c", "head_dim", "hidden", "inter"};
constexpr std::array<std::string_view, 4> kDivisible = {"m", "rows", "batch", "tokens"};

bool among(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void add_padded(std::vector<Neighbour>& all, std::string_view key, int64_t value) {
  int64_t last = value;
  for (const int64_t multiple : {8, 16, 32, 64, 128, 256}) {
    const int64_t rounded = (value + multiple - 1) / multiple * multiple;
    if (rounded != last && rounded < 2 * value) {
      all.push_back({std::string(key), fmt::format("{}", rounded), Price::Padding, 1});
      last = rounded;
    }
  }
}

/// How many rounds of resident blocks the longest kernel runs.
double rounds(const plan::StepTime& now, const machine::Chip& chip) {
  double most = 0;
  for (const kernel::Profile& kernel : *now.kernels) {
    const auto slots =
        std::min(static_cast<double>(kernel.ctas),
                 static_cast<double>(kernel.usable_sms > 0 ? kernel.usable_sms : chip.core.count) *
                     static_cast<double>(kernel.ctas_per_sm));
    most = std::max(most, slots > 0 ? static_cast<double>(kernel.units) / slots : 0);
  }
  return most;
}

/// Less at a time, so that the last round is full.
void add_divided(std::vector<Neighbour>& all, std::string_view key, int64_t value, double waves) {
  const double full = std::floor(waves);
  if (!(waves > 1) || waves - full < 1e-9 || waves > 16) {
    return;  // one round cannot get shorter, and of many the last hardly counts
  }
  for (const int64_t multiple : {1, 64, 128, 256}) {
    const auto fewer =
        static_cast<int64_t>(static_cast<double>(value) * full / waves) / multiple * multiple;
    if (fewer > 0 && fewer < value) {
      all.push_back({std::string(key),
                     fmt::format("{}", fewer),
                     Price::Work,
                     static_cast<double>(fewer) / static_cast<double>(value)});
    }
  }
}

/// Types with fewer bits than `text`, or fewer to multiply.
std::vector<std::string> smaller_types(std::string_view text) {
  if (text == "fp32") {
    return {"tf32", "bf16", "fp8"};
  }
  if (text == "tf32") {
    return {"bf16", "fp8"};
  }
  if (text == "bf16" || text == "fp16") {
    return {"fp8", "int8", "nvfp4", "mxfp4"};
  }
  return text == "fp8" ? std::vector<std::string>{"nvfp4", "mxfp4"} : std::vector<std::string>{};
}

/// Values of arguments that choose how, not what.
std::vector<std::string> other_ways(std::string_view key, std::string_view text) {
  if (key == "layout") {
    const bool image = text == "nchw" || text == "nhwc";
    return image ? std::vector<std::string>{"nhwc"} : std::vector<std::string>{"nt", "nn", "tn"};
  }
  if (key == "backend") {
    return {"cudnn", "flash"};
  }
  if (key == "strided") {
    return {"0"};
  }
  return key == "mode" ? std::vector<std::string>{"graph"} : std::vector<std::string>{};
}

std::vector<Neighbour> neighbours(const Operator& op,
                                  std::span<const std::string> arguments,
                                  double waves) {
  std::vector<Neighbour> all;
  for (const Key& key : op.keys) {
    const std::string text = value_of(op, arguments, key.name);
    const auto value = whole(text);
    if (value && among(kPadded, key.name)) {
      add_padded(all, key.name, *value);
    }
    if (value && among(kDivisible, key.name)) {
      add_divided(all, key.name, *value, waves);
    }
    for (std::string& way : other_ways(key.name, text)) {
      if (way != text) {
        all.push_back({std::string(key.name), std::move(way), Price::Layout, 1});
      }
    }
    if (key.name == "dtype") {
      for (std::string& type : smaller_types(text)) {
        all.push_back({"dtype", std::move(type), Price::Accuracy, 1});
      }
    }
  }
  return all;
}

std::vector<std::string> changed(std::span<const std::string> arguments,
                                 const Neighbour& neighbour) {
  std::vector<std::string> all;
  for (const std::string& argument : arguments) {
    if (!argument.starts_with(neighbour.key + "=")) {
      all.push_back(argument);
    }
  }
  all.push_back(neighbour.key + "=" + neighbour.value);
  return all;
}

std::string kernels_of(const plan::StepTime& time) {
  std::vector<std::string> names;
  for (const kernel::Profile& kernel : *time.kernels) {
    names.push_back(kernel.kernel);
  }
  return join(names, " + ");
}

/// Least gain that is worth a line. Other sizes are timed with other errors, so it takes more
/// there.
double worth(Price price) {
  return price == Price::Work ? 2.5 * kWorth : kWorth;
}

/// Neighbours come with the smallest change first: a larger one has to gain what the model can
/// tell, and a still smaller type is no better advice.
bool better(Price price, double gain, double before) {
  return price != Price::Accuracy && gain > before + kWorth;
}

}  // namespace

report::Advice advice(std::string_view op,
                      std::span<const std::string> arguments,
                      const plan::StepTime& now,
                      const plan::Conditions& conditions,
                      plan::CallTimes& times) {
  report::Advice advice;
  const Operator* known = find_operator(op);
  if (known == nullptr) {
    return advice;
  }
  std::map<Price, report::Help> best;
  for (const Neighbour& neighbour :
       neighbours(*known, arguments, rounds(now, times.estimator().machine().chip))) {
    const auto call = parse_call(op, changed(arguments, neighbour));
    if (!call.ok()) {
      continue;
    }
    plan::Conditions there = conditions;
    there.graph = conditions.graph || neighbour.key == "mode";
    const auto& time = times.time(*call, there);
    if (!time.ok()) {
      continue;
    }
    ++advice.tried;
    const double gain = 1 - time->once.time / now.once.time / neighbour.work;
    const auto at = best.find(neighbour.price);
    if (gain >= worth(neighbour.price) &&
        (at == best.end() || better(neighbour.price, gain, at->second.gain))) {
      best[neighbour.price] = {
          .change = fmt::format("{}={} instead of {}",
                                neighbour.key,
                                neighbour.value,
                                value_of(*known, arguments, neighbour.key)),
          .price = neighbour.price,
          .time = time->once.time,
          .gain = gain,
          .kernels = kernels_of(*time) == kernels_of(now) ? "" : kernels_of(*time)};
    }
  }
  for (auto& [price, help] : best) {
    advice.helps.push_back(std::move(help));
  }
  return advice;
}

}  // namespace orrery::session
