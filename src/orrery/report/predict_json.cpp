// Predictions as JSON.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "orrery/report/by_kind.h"
#include "orrery/report/json_writer.h"
#include "orrery/report/predict_report.h"

namespace orrery::report {

namespace {

void write_setting(JsonWriter& json, const Setting& setting) {
  json.key("machine").begin_object();
  json.member("id", setting.machine).member("title", setting.machine_title).end_object();
  json.key("library").begin_object();
  json.member("id", setting.library).member("version", setting.library_version).end_object();
  json.member("clock", setting.clock);
}

void write_estimate(JsonWriter& json, const plan::Estimate& estimate) {
  json.member("time_us", estimate.time);
  json.member("low_us", estimate.low);
  json.member("high_us", estimate.high);
  json.member("bound", name(estimate.bound));
  json.member("evidence", name(estimate.evidence));
  json.key("terms").begin_array();
  for (const plan::Term& term : estimate.terms) {
    json.begin_object().member("name", term.name).member("time_us", term.time).end_object();
  }
  json.end_array();
  json.key("warnings").begin_array();
  for (const std::string& warning : estimate.warnings) {
    json.value(warning);
  }
  json.end_array();
}

void write_limits(JsonWriter& json, const Limits& limits) {
  json.key("limits").begin_object();
  json.member("dram_bytes_per_second", limits.dram.value());
  json.member("l2_bytes_per_second", limits.l2.value());
  json.member("link_bytes_per_second", limits.link.value());
  json.member("vector_flop_per_second", limits.vector.value());
  json.key("tensor_flop_per_second").begin_object();
  for (const auto& [type, rate] : limits.tensor) {
    json.member(name(type), rate.value());
  }
  json.end_object().end_object();
}

void write_kernels(JsonWriter& json,
                   const library::Call& call,
                   const plan::StepTime& step,
                   const Limits& limits) {
  const std::vector<Work> works = works_of(call, step);
  json.member("candidates", static_cast<int64_t>(step.candidates));
  json.key("kernels").begin_array();
  for (size_t i = 0; i < step.kernels->size(); ++i) {
    const kernel::Profile& profile = (*step.kernels)[i];
    const plan::Estimate& time = step.each->empty() ? step.once : (*step.each)[i];
    json.begin_object();
    const Work& work = works[i];
    json.member("time_us", time.time).member("bound", name(time.bound));
    json.member("least_us", std::min(least_time(work, limits), time.time))
        .member("flop", work.flops.value());
    json.member("issued_flop", work.issued().value());
    json.member("dram_bytes", work.dram.value());
    if (work.tensor.value() > 0) {
      json.member("tensor_type", name(work.type));
    }
    json.member("name", profile.kernel).member("family", profile.family);
    json.member("units", profile.units).member("ctas", profile.ctas);
    json.member("threads", profile.threads).member("ctas_per_sm", profile.ctas_per_sm);
    json.key("reasons").begin_array();
    for (const std::string& reason : profile.reasons) {
      json.value(reason);
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_advice(JsonWriter& json, const Advice& advice) {
  json.member("tried", advice.tried);
  json.key("helps").begin_array();
  for (const Help& help : advice.helps) {
    json.begin_object().member("change", help.change).member("price", name(help.price));
    json.member("time_us", help.time).member("gain", help.gain);
    if (!help.kernels.empty()) {
      json.member("kernels", help.kernels);
    }
    json.end_object();
  }
  json.end_array();
}

void write_memory(JsonWriter& json, const ModelPrediction& prediction) {
  const plan::Memory& memory = prediction.plan.memory;
  json.key("memory").begin_object();
  json.member("weights_bytes", memory.weights.value());
  json.member("kv_cache_bytes", memory.cache.value());
  json.member("activation_bytes", memory.activations.value());
  json.member("reserve_bytes", memory.reserve.value());
  json.member("total_bytes", memory.total().value());
  json.member("capacity_bytes", prediction.fit.capacity.value());
  json.member("usable_share", prediction.fit.usable);
  json.member("fits", prediction.fit.fits);
  if (!prediction.fit.fits) {
    json.member("largest_batch", prediction.fit.largest_batch);
    json.member("smallest_tp", prediction.fit.smallest_tp);
    json.member("fp8_cache_fits", prediction.fit.fp8_cache);
  }
  json.end_object();
}

void write_operators(JsonWriter& json, const ModelPrediction& prediction) {
  json.key("operators").begin_array();
  for (const KindTime& kind :
       by_kind(prediction.plan, prediction.time, prediction.setting.limits)) {
    json.begin_object().member("operator", kind.kind).member("calls", kind.calls);
    json.member("time_us", kind.time).member("share", kind.time / prediction.time.device);
    json.member("bound", name(kind.bound)).member("of_limit", kind.least / kind.time);
    json.end_object();
  }
  json.end_array();
}

void write_steps(JsonWriter& json, const ModelPrediction& prediction) {
  json.key("steps").begin_array();
  for (size_t i = 0; i < prediction.plan.steps.size(); ++i) {
    const plan::Step& step = prediction.plan.steps[i];
    const plan::StepTime& time = prediction.time.steps[i];
    json.begin_object().member("step", step.name).member("operator", plan::kind_of(step.call));
    json.member("call", library::to_text(step.call));
    json.member("times", step.times).member("total_us", time.total);
    write_estimate(json, time.once);
    write_kernels(json, step.call, time, prediction.setting.limits);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_json(const ModelPrediction& prediction, Detail detail) {
  JsonWriter json;
  write(json, prediction, detail);
  return json.text();
}

void write(JsonWriter& json, const ModelPrediction& prediction, Detail detail) {
  json.begin_object().member("schema", "orrery.model_prediction/1");
  json.member("model", prediction.model).member("phase", prediction.phase);
  for (const auto& [name, value] : prediction.sizes) {
    json.member(name, value);
  }
  json.member("layers", prediction.layers).member("tp", prediction.tp).member("ep", prediction.ep);
  json.member("runtime", name(prediction.plan.runtime)).member("engine", prediction.engine);
  write_setting(json, prediction.setting);
  write_estimate(json, prediction.time.total);
  json.member("tokens_per_second",
              prediction.tokens / prediction.time.total.time.seconds().value());
  json.member("device_us", prediction.time.device).member("host_us", prediction.time.host);
  json.member("kernels", prediction.time.kernels);
  write_memory(json, prediction);
  write_operators(json, prediction);
  if (prediction.advice) {
    write_advice(json, *prediction.advice);
  }
  if (detail == Detail::Explained) {
    write_limits(json, prediction.setting.limits);
    write_steps(json, prediction);
  }
  json.end_object();
}

std::string to_json(const CallPrediction& prediction, Detail detail) {
  JsonWriter json;
  json.begin_object().member("schema", "orrery.call_prediction/1");
  json.member("call", library::to_text(prediction.call));
  write_setting(json, prediction.setting);
  json.member("operands",
              prediction.conditions.activations == plan::CacheState::Warm ? "warm" : "cold");
  write_estimate(json, prediction.time.once);
  if (detail == Detail::Explained) {
    write_limits(json, prediction.setting.limits);
    write_kernels(json, prediction.call, prediction.time, prediction.setting.limits);
  }
  if (prediction.advice) {
    write_advice(json, *prediction.advice);
  }
  return json.end_object().text();
}

}  // namespace orrery::report
