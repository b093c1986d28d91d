// The table of a model's options.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/model_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "orrery/base/text.h"
#include "orrery/frontend/override_precision.h"
#include "orrery/passes/engine.h"
#include "orrery/plan/plan.h"

namespace orrery::session {

namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

/// A whole number from `Least` on.
template <auto Member, int64_t Least = 1>
Result<void> set_size(std::string_view name, ModelRequest& request, std::string_view text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  const bool too_large = read.ec == std::errc::result_out_of_range && text.front() != '-';
  if (read.ec != std::errc{} || read.ptr != end || value < Least) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.options] --{}: got '{}', need a whole number from {} {}",
                      name,
                      text,
                      Least,
                      too_large ? fmt::format("to {}", kMost) : "on");
  }
  request.*Member = value;
  return {};
}

Result<void> set_phase(ModelRequest& request, std::string_view text) {
  if (text != "prefill" && text != "decode" && text != "mixed") {
    return make_error(ErrorCode::InvalidInput,
                      "[session.options] --phase: got '{}', need prefill, decode or mixed",
                      text);
  }
  request.phase = text;
  return {};
}

Result<void> set_usable_memory(ModelRequest& request, std::string_view text) {
  const auto value = parse_double(text);
  if (!value || !std::isfinite(*value)) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.options] --usable-memory: got '{}', need a number",
                      text);
  }
  request.usable_memory = *value;
  return {};
}

/// A number of at least `least`, and finite.
Result<double> read_number(std::string_view name, std::string_view text, double least) {
  const auto value = parse_double(text);
  if (!value || !std::isfinite(*value) || *value < least) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.options] --{}: got '{}', need a number from {} on",
                      name,
                      text,
                      least);
  }
  return *value;
}

Result<void> set_host_launch(ModelRequest& request, std::string_view text) {
  constexpr double kLeastUs = 1e-3;  // a nanosecond: no launch is shorter
  constexpr double kMostUs = 1e6;
  ORR_TRY(const double us, read_number("host-launch-us", text, kLeastUs));
  if (us > kMostUs) {
    return make_error(ErrorCode::InvalidInput,
                      "[session.options] --host-launch-us: got '{}', need at most {}",
                      text,
                      kMostUs);
  }
  request.host_launch_us = us;
  return {};
}

constexpr std::array kOptions = {
    ModelOption{"phase", "P", "prefill, decode or mixed [decode]", set_phase},
    ModelOption{"batch",
                "B",
                "sequences [1]",
                [](ModelRequest& request, std::string_view text) {
                  return set_size<&ModelRequest::batch>("batch", request, text);
                }},
    ModelOption{"seq",
                "S",
                "prefill: tokens of each prompt [512]",
                [](ModelRequest& request, std::string_view text) {
                  return set_size<&ModelRequest::seq>("seq", request, text);
                }},
    ModelOption{"context",
                "C",
                "decode: tokens attended to [1024]",
                [](ModelRequest& request, std::string_view text) {
                  return set_size<&ModelRequest::context>("context", request, text);
                }},
    ModelOption{"runtime",
                "R",
                "graph, eager, inductor or fused [graph]",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  ORR_TRY_VOID(plan::parse_runtime(text));
                  request.runtime = text;
                  return {};
                }},
    ModelOption{"engine",
                "E",
                "whose attention, experts and all-reduces: pytorch, vllm, sglang, trtllm [pytorch]",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  ORR_TRY_VOID(passes::parse_engine(text));
                  request.engine = text;
                  return {};
                }},
    ModelOption{"requests",
                "R",
                "mixed: COUNTxTOKENS@CACHED,... or a CSV file with columns chunk, context",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  request.requests = text;
                  return {};
                },
                false},
    ModelOption{"tp",
                "T",
                "GPUs that share every layer [1]",
                [](ModelRequest& request, std::string_view text) {
                  return set_size<&ModelRequest::tp>("tp", request, text);
                }},
    ModelOption{"ep",
                "E",
                "GPUs that share the experts; above --tp, each group has its own sequences [1]",
                [](ModelRequest& request, std::string_view text) {
                  return set_size<&ModelRequest::ep>("ep", request, text);
                }},
    ModelOption{"imbalance",
                "X",
                "rows of the busiest expert over the mean [as uniform routing gives]",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  ORR_TRY(request.imbalance, read_number("imbalance", text, 1));
                  return {};
                }},
    ModelOption{"weights",
                "TYPE",
                "bf16, fp16, fp32, fp8, fp8_channel, fp8_block, int8, int4, mxfp4, nvfp4 [the "
                "model's]",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  ORR_TRY_VOID(frontend::check_names({.weights = std::string(text)}));
                  request.weights = text;
                  return {};
                }},
    ModelOption{"activations",
                "TYPE",
                "of quantised products: bf16, fp16, fp32, fp8, int8, fp4 [as the weights have it]",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  ORR_TRY_VOID(frontend::check_names({.activations = std::string(text)}));
                  request.activations = text;
                  return {};
                }},
    ModelOption{"kv-cache",
                "TYPE",
                "keys and values: bf16, fp16, fp32, fp8 [the model's]",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  ORR_TRY_VOID(frontend::check_names({.cache = std::string(text)}));
                  request.kv_cache = text;
                  return {};
                }},
    ModelOption{"images",
                "N",
                "of each prompt, their tokens among its own: times the towers too [0]",
                [](ModelRequest& request, std::string_view text) {
                  return set_size<&ModelRequest::images, 0>("images", request, text);
                }},
    ModelOption{
        "host-launch-us", "T", "eager: host time of an operator [the machine's]", set_host_launch},
    ModelOption{
        "usable-memory", "F", "share of the memory a program may use [0.9]", set_usable_memory},
    ModelOption{"reserve",
                "GIB",
                "memory of driver, framework and collectives [1]",
                [](ModelRequest& request, std::string_view text) -> Result<void> {
                  ORR_TRY(request.reserve_gib, read_number("reserve", text, 0));
                  return {};
                }},
};

}  // namespace

std::span<const ModelOption> model_options() {
  return kOptions;
}

Result<ModelRequest> model_request(std::string_view model,
                                   std::string_view machine,
                                   std::span<const Given> given) {
  ModelRequest request{.model = std::string(model), .machine = std::string(machine)};
  for (const auto& [name, text] : given) {
    const auto option =
        std::find_if(kOptions.begin(), kOptions.end(), [&name](const ModelOption& each) {
          return each.name == name;
        });
    if (option == kOptions.end()) {
      std::vector<std::string> names;
      for (const ModelOption& each : kOptions) {
        names.emplace_back(each.name);
      }
      return make_error(ErrorCode::InvalidInput,
                        "[session.options] option: got '{}', need one of {}{}",
                        name,
                        join(names, ", "),
                        did_you_mean(name, names));
    }
    ORR_TRY_VOID(option->set(request, text));
  }
  return request;
}

}  // namespace orrery::session
