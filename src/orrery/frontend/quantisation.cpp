// Precisions from quantization_config, hf_quant_config.json and compressed-tensors.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

#include "orrery/base/text.h"
#include "orrery/frontend/huggingface_internal.h"
#include "orrery/frontend/module_pattern.h"

namespace orrery::frontend {

namespace {

using graph::Precision;
using graph::Scheme;

/// Names of modules that stand for a part of a layer, after "model.layers.N.". One that is meant
/// leaves the part as it is.
struct PartModules {
  Part part;
  std::array<std::string_view, 8> names;
};

constexpr std::array kModules = {
    PartModules{Part::Qkv,
                {"self_attn.q_proj",
                 "self_attn.qkv_proj",
                 "self_attn.q_a_proj",
                 "self_attn.kv_a_proj_with_mqa",
                 "self_attn.query_key_value",
                 "attention.query_key_value"}},
    PartModules{Part::LatentUp, {"self_attn.q_b_proj", "self_attn.kv_b_proj"}},
    PartModules{Part::Indexer, {"self_attn.indexer.wq_b", "self_attn.indexer.wk"}},
    PartModules{Part::AttentionOutput,
                {"self_attn.o_proj",
                 "self_attn.out_proj",
                 "self_attn.dense",
                 "attention.dense",
                 "linear_attn.out_proj",
                 "mixer.out_proj",
                 "mamba.out_proj",
                 "conv.out_proj"}},
    PartModules{Part::MixerInput,
                {"linear_attn.in_proj_qkvz",
                 "linear_attn.in_proj_qkv",
                 "mixer.in_proj",
                 "mamba.in_proj",
                 "conv.in_proj"}},
    PartModules{Part::Up,
                {"mlp.gate_proj",
                 "mlp.up_proj",
                 "mlp.gate_up_proj",
                 "feed_forward.gate_proj",
                 "feed_forward.w1"}},
    PartModules{Part::Down, {"mlp.down_proj", "feed_forward.down_proj", "feed_forward.w2"}},
    PartModules{Part::Experts, {}},  // experts_module
    PartModules{Part::SharedUp,
                {"mlp.shared_experts.gate_proj",
                 "mlp.shared_expert.gate_proj",
                 "mlp.shared_mlp.gate_proj",
                 "mlp.shared_experts.up_proj"}},
    PartModules{Part::SharedDown,
                {"mlp.shared_experts.down_proj",
                 "mlp.shared_expert.down_proj",
                 "mlp.shared_mlp.down_proj"}},
};

/// Where the experts of a layer lie: beside its feed-forward or in it, by family
/// (transformers 5.24).
std::string_view experts_module(std::string_view family) {
  const auto is = [family](std::string_view start) { return family.starts_with(start); };
  if (is("gemma4")) {
    return "experts.0.gate_proj";
  }
  if (is("mixtral") || is("minimax") || is("phimoe") || is("granitemoe")) {
    return "block_sparse_moe.experts.0.w1";
  }
  if (is("llama4") || is("jamba") || is("lfm2")) {
    return "feed_forward.experts.0.gate_proj";
  }
  return is("nemotron_h") ? "mixer.experts.0.up_proj" : "mlp.experts.0.gate_proj";
}

constexpr std::array<std::string_view, 4> kRoots = {
    "model.layers.", "model.language_model.layers.", "language_model.model.layers.", "layers."};

/// What a quantised layer is made of, and what is left out.
struct Plan {
  Precision precision;
  std::vector<std::string> ignored;
  bool experts_only = false;
};

class Reader {
 public:
  Reader(const Json& root, std::string path, Model& model, Complaints& complaints)
      : root_(root), path_(std::move(path)), model_(model), complaints_(complaints) {}

  std::optional<Plan> read() {
    const Json* nested = root_.find("quantization");  // of an hf_quant_config.json
    const Json& config = nested != nullptr ? *nested : root_;
    Plan plan;
    plan.precision.activations = model_.dtype;
    for (const std::string_view key :
         {"modules_to_not_convert", "ignore", "exclude_modules", "ignored_layers"}) {
      read_ignored(key, config.find(key), plan);
    }
    read_cache(config);
    const std::string algorithm = text(config, "quant_algo");
    const std::string method = text(config, "quant_method");
    if (!keys_understood(config)) {
      return std::nullopt;
    }
    const bool read = !algorithm.empty()                    ? by_algorithm(algorithm, config, plan)
                      : method == "fp8"                     ? fp8(config, plan)
                      : method == "mxfp4"                   ? mxfp4(plan)
                      : method == "awq" || method == "gptq" ? integers(config, plan)
                      : method == "compressed-tensors" || method == "modelopt"
                          ? groups(config, plan)
                      : method == "fbgemm_fp8" ? channels(plan)
                                               : refuse("quant_method",
                                                        method,
                                                        "fp8, mxfp4, awq, gptq, fbgemm_fp8, "
                                                        "modelopt or compressed-tensors");
    return read ? std::optional(std::move(plan)) : std::nullopt;
  }

 private:
  /// Refuses what would change the arithmetic: layers of other widths or of none, pruned weights.
  bool keys_understood(const Json& config) {
    const Json* dynamic = config.find("dynamic");
    if (dynamic != nullptr && dynamic->is_object() && !dynamic->members.empty()) {
      return refuse("dynamic", dynamic->to_text(), "one width for all layers");
    }
    const Json* head = config.find("lm_head");
    if (head != nullptr && head->kind == Json::Kind::Bool && head->boolean) {
      return refuse("lm_head", "true", "a head that is not quantised");
    }
    const Json* sparsity = config.find("sparsity_config");
    const std::string structure =
        sparsity != nullptr && sparsity->is_object() ? text(*sparsity, "format") : "";
    if (!structure.empty() && structure != "dense") {
      return refuse("sparsity_config.format", structure, "dense");
    }
    const std::string format = text(config, "format");
    if (format.find("24") != std::string::npos) {
      return refuse("format", format, "weights that are not pruned");
    }
    return true;
  }

  static std::string text(const Json& object, std::string_view key) {
    const Json* value = object.find(key);
    return value == nullptr ? "" : value->string;
  }

  static int64_t integer(const Json& object, std::string_view key, int64_t missing) {
    const Json* value = object.find(key);
    return value == nullptr || value->kind != Json::Kind::Integer ? missing : value->integer;
  }

  /// A list of names and patterns, each of which can be matched.
  void read_ignored(std::string_view key, const Json* list, Plan& plan) {
    if (list == nullptr || list->is_null()) {
      return;
    }
    if (list->kind != Json::Kind::Array) {
      wrong(key, *list, "a list of texts");
      return;
    }
    for (const Json& each : list->items) {
      if (each.kind != Json::Kind::String || !is_module_pattern(each.string)) {
        wrong(key, each, "a module's name or a pattern");
        return;
      }
      plan.ignored.push_back(each.string);
    }
  }

  void wrong(std::string_view key, const Json& value, std::string_view need) {
    complaints_.wrong.push_back(
        fmt::format("{}{}: got {}, need {}", path_, key, value.to_text(), need));
  }

  /// Weights that share a scale: -1 for a whole row.
  int64_t group_size(const Json& config, std::string_view key, int64_t missing) {
    const Json* value = config.find(key);
    if (value == nullptr || value->is_null()) {
      return missing;
    }
    constexpr int64_t kMost = int64_t{1} << 20;
    const bool fits = value->kind == Json::Kind::Integer &&
                      (value->integer == -1 || (value->integer > 0 && value->integer <= kMost));
    if (!fits) {
      wrong(key, *value, "-1 or a positive integer");
    }
    return fits ? value->integer : missing;
  }

  bool refuse(std::string_view key, std::string_view got, std::string_view need) {
    complaints_.unsupported.push_back(
        fmt::format("{}{}: got '{}', need {}", path_, key, got.substr(0, 60), need));
    return false;
  }

  void read_cache(const Json& config) {
    const Json* scheme = config.find("kv_cache_scheme");
    const bool eight = scheme != nullptr && scheme->is_object() &&
                       integer(*scheme, "num_bits", 0) == 8 && text(*scheme, "type") == "float";
    const std::string named = text(config, "kv_cache_quant_algo");
    if (eight || named == "FP8") {
      model_.cache = DType::F8E4M3;
    } else if (!named.empty()) {
      refuse("kv_cache_quant_algo", named, "FP8");
    } else if (scheme != nullptr && scheme->is_object()) {
      refuse("kv_cache_scheme", scheme->to_text(), "8 bits, float");
    }
  }

  bool fp8(const Json& config, Plan& plan) {
    const Json* block = config.find("weight_block_size");
    const bool blocked = block != nullptr && !block->is_null();
    if (blocked && (block->items.size() != 2 || block->items[0].integer != 128 ||
                    block->items[1].integer != 128)) {
      return refuse("weight_block_size", block->to_text(), "[128, 128]");
    }
    plan.precision = {DType::F8E4M3, DType::F8E4M3, blocked ? Scheme::Block : Scheme::Tensor, 0};
    return true;
  }

  static bool mxfp4(Plan& plan) {
    plan.precision.weight = DType::F4E2M1;
    plan.precision.scheme = Scheme::Mx;
    plan.experts_only = true;
    return true;
  }

  static bool channels(Plan& plan) {
    plan.precision = {DType::F8E4M3, DType::F8E4M3, Scheme::Channel, 0};
    return true;
  }

  bool integers(const Json& config, Plan& plan) {
    const int64_t bits = integer(config, "bits", integer(config, "w_bit", 4));
    if (bits != 4 && bits != 8) {
      return refuse("bits", fmt::format("{}", bits), "4 or 8");
    }
    const int64_t group = group_size(config, "group_size", group_size(config, "q_group_size", 128));
    plan.precision.weight = bits == 4 ? DType::I4 : DType::I8;
    plan.precision.scheme = group > 0 ? Scheme::Group : Scheme::Channel;
    plan.precision.group = std::max<int64_t>(group, 0);
    return true;
  }

  bool by_algorithm(const std::string& algorithm, const Json& config, Plan& plan) {
    if (algorithm == "FP8") {
      plan.precision = {DType::F8E4M3, DType::F8E4M3, Scheme::Tensor, 0};
    } else if (algorithm == "FP8_PB_WO" || algorithm == "FP8_BLOCK_SCALES") {
      plan.precision = {DType::F8E4M3, DType::F8E4M3, Scheme::Block, 0};
    } else if (algorithm == "NVFP4") {
      plan.precision = {DType::F4E2M1, DType::F4E2M1, Scheme::Nv, 0};
    } else if (algorithm == "W4A16_AWQ") {
      plan.precision.weight = DType::I4;
      plan.precision.scheme = Scheme::Group;
      plan.precision.group = std::max<int64_t>(group_size(config, "group_size", 128), 0);
    } else {
      return refuse("quant_algo", algorithm, "FP8, FP8_PB_WO, NVFP4 or W4A16_AWQ");
    }
    return true;
  }

  /// compressed-tensors: groups of targets with types of weights and activations. One group of all
  /// linear layers is understood.
  bool groups(const Json& config, Plan& plan) {
    const Json* all = config.find("config_groups");
    if (all == nullptr || all->members.size() != 1) {
      return refuse("config_groups",
                    all == nullptr ? "none" : fmt::format("{}", all->members.size()),
                    "one group");
    }
    const Json& group = all->members[0].value;
    const Json* targets = group.find("targets");
    const bool linear =
        targets != nullptr && targets->items.size() == 1 && targets->items[0].string == "Linear";
    const Json* weights = group.find("weights");
    if (!linear || weights == nullptr || !weights->is_object()) {
      return refuse("config_groups.targets",
                    targets == nullptr ? "none" : targets->to_text(),
                    "[\"Linear\"], with weights");
    }
    return online_transform(config) && weight_type(*weights, group.find("input_activations"), plan);
  }

  /// Rotations that are multiplied into weights cost nothing; those of activations would.
  bool online_transform(const Json& config) {
    const Json* transform = config.find("transform_config");
    const Json* groups = transform == nullptr ? nullptr : transform->find("config_groups");
    for (const JsonMember& group :
         groups == nullptr ? std::vector<JsonMember>{} : groups->members) {
      const Json* apply = group.value.find("apply");
      for (const Json& each : apply == nullptr ? std::vector<Json>{} : apply->items) {
        const std::string location = text(each, "location");
        if (!location.starts_with("weight_")) {
          return refuse("transform_config.location", location, "weight_input or weight_output");
        }
      }
    }
    return true;
  }

  bool weight_type(const Json& weights, const Json* activations, Plan& plan) {
    const int64_t bits = integer(weights, "num_bits", 0);
    const bool floats = text(weights, "type") == "float";
    const std::string strategy = text(weights, "strategy");
    const int64_t group = std::max<int64_t>(group_size(weights, "group_size", 0), 0);
    const bool both = activations != nullptr && activations->is_object();
    if (bits == 4 && floats && group == 16) {
      plan.precision = {DType::F4E2M1, both ? DType::F4E2M1 : model_.dtype, Scheme::Nv, 0};
      return true;
    }
    if (bits == 4 && floats && group == 32) {
      plan.precision = {DType::F4E2M1, both ? DType::F4E2M1 : model_.dtype, Scheme::Mx, 0};
      return true;
    }
    if (bits == 4 && !floats && !both) {
      plan.precision.weight = DType::I4;
      plan.precision.scheme = group > 0 ? Scheme::Group : Scheme::Channel;
      plan.precision.group = group;
      return true;
    }
    if (bits == 8) {
      const DType type = floats ? DType::F8E4M3 : DType::I8;
      const Scheme scheme = strategy == "block"     ? Scheme::Block
                            : strategy == "channel" ? Scheme::Channel
                            : group > 0             ? Scheme::Group
                                                    : Scheme::Tensor;
      plan.precision = {type, both ? type : model_.dtype, scheme, group};
      return true;
    }
    return refuse("config_groups.weights",
                  fmt::format("{} bits {}", bits, text(weights, "type")),
                  "4 or 8 bits");
  }

  const Json& root_;
  std::string path_;
  Model& model_;
  Complaints& complaints_;
};

/// The modules that are left as they are. Plain names, of which files list hundreds, are looked up:
/// the name itself, the modules around it, and its ends from a dot on.
class Ignored {
 public:
  explicit Ignored(const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) {
      const bool plain = entry.find('*') == std::string::npos && !entry.starts_with("re:");
      if (plain) {
        plain_.insert(entry);
      } else {
        patterns_.push_back(entry);
      }
    }
  }

  bool holds(std::string_view name) {
    for (size_t dot = name.size(); dot != std::string_view::npos && dot > 0;
         dot = name.rfind('.', dot - 1)) {
      if (plain_.contains(name.substr(0, dot)) ||
          (dot < name.size() && plain_.contains(name.substr(dot + 1)))) {
        return true;
      }
    }
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      return matches_module(pattern, name, steps_);
    });
  }

  bool gave_up() const { return steps_.gave_up; }

 private:
  std::set<std::string, std::less<>> plain_;
  std::vector<std::string> patterns_;
  PatternSteps steps_;
};

bool is_ignored(Ignored& ignored, const PartModules& modules, size_t layer) {
  return std::any_of(modules.names.begin(), modules.names.end(), [&](std::string_view module) {
    return !module.empty() && std::any_of(kRoots.begin(), kRoots.end(), [&](std::string_view root) {
      return ignored.holds(fmt::format("{}{}.{}", root, layer, module));
    });
  });
}

}  // namespace

void read_quantisation(const Json& config,
                       std::string_view path,
                       std::vector<Layer>& layers,
                       Model& model,
                       Complaints& complaints) {
  const bool beside = config.find("quantization") != nullptr;
  const Json* found = config.find("quantization_config");
  if (found == nullptr && !beside) {
    return;
  }
  const Json& root = beside ? config : *found;
  if (!root.is_object()) {
    if (!root.is_null()) {
      complaints.wrong.push_back(
          fmt::format("{}quantization_config: got {}, need an object", path, root.to_text()));
    }
    return;
  }
  const std::string start = std::string(path) + (beside ? "" : "quantization_config.");
  const auto plan = Reader(root, start, model, complaints).read();
  if (!plan) {
    return;
  }
  Ignored ignored(plan->ignored);
  const PartModules experts{Part::Experts, {experts_module(model.family)}};
  for (size_t i = 0; i < layers.size() && !ignored.gave_up(); ++i) {
    for (const PartModules& each : kModules) {
      const PartModules& modules = each.part == Part::Experts ? experts : each;
      const bool taken = !plan->experts_only || modules.part == Part::Experts;
      if (taken && !is_ignored(ignored, modules, i)) {
        layers[i].precision[static_cast<size_t>(modules.part)] = plan->precision;
      }
    }
  }
  if (ignored.gave_up()) {
    complaints.wrong.push_back(
        fmt::format("{}ignore: got patterns that take too many steps, need simpler ones", start));
  }
}

}  // namespace orrery::frontend
