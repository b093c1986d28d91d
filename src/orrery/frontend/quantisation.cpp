// Precisions from quantization_config, hf_quant_config.json and compressed-tensors.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <set>

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
  std::array<std::string_view, 14> names;
};

constexpr std::array kModules = {
    PartModules{Part::Qkv,
                {"self_attn.q_proj",
                 "self_attn.qkv_proj",
                 "self_attn.q_a_proj",
                 "self_attn.kv_a_proj_with_mqa",
                 "self_attn.k_proj",
                 "self_attn.v_proj",
                 "self_attn.W_pack",
                 "self_attn.query_key_value",
                 "self_attention.query_key_value",
                 "attention.query_key_value",
                 "attention.wqkv",
                 "attn.c_attn",
                 "mixer.q_proj"}},
    PartModules{Part::LatentUp, {"self_attn.q_b_proj", "self_attn.kv_b_proj"}},
    PartModules{Part::Indexer, {"self_attn.indexer.wq_b", "self_attn.indexer.wk"}},
    PartModules{Part::AttentionOutput,
                {"self_attn.o_proj",
                 "self_attn.out_proj",
                 "self_attn.dense",
                 "attention.dense",
                 "self_attention.dense",
                 "attention.wo",
                 "attn.c_proj",
                 "mixer.o_proj",
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
                 "mlp.dense_h_to_4h",
                 "mlp.c_fc",
                 "mlp.w1",
                 "mlp.w2",
                 "mixer.up_proj",
                 "fc1",
                 "feed_forward.gate_proj",
                 "feed_forward.up_proj",
                 "feed_forward.w1",
                 "feed_forward.w3"}},
    PartModules{Part::Down,
                {"mlp.down_proj",
                 "mlp.dense_4h_to_h",
                 "mlp.c_proj",
                 "mixer.down_proj",
                 "fc2",
                 "feed_forward.down_proj",
                 "feed_forward.w2"}},
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

constexpr std::array<std::string_view, 11> kRoots = {"model.layers.",
                                                     "model.language_model.layers.",
                                                     "language_model.model.layers.",
                                                     "layers.",
                                                     "backbone.layers.",
                                                     "model.decoder.layers.",
                                                     "transformer.h.",
                                                     "transformer.layers.",
                                                     "transformer.encoder.layers.",
                                                     "gpt_neox.layers.",
                                                     "model.text_model.layers."};

/// Parts of names of modules that no precision of a layer stands for: what is not a product, is
/// small, is kept as it is by every engine, or is no part of the layers.
constexpr std::array<std::string_view, 28> kOthers = {
    "norm",   "embed",   "head",   "gate",    "router",    "vision", "visual",
    "tower",  "project", "merger", "adapter", "connector", "mtp",    "bias",
    "rotary", "conv1d",  "A_log",  "dt_",     "audio",     "speech", "sink",
    "eagle",  "nextn",   "ln_",    "talker",  "hyper",     "g_proj", "indexer"};

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
    const bool read =
        algorithm.empty() ? by_method(method, config, plan) : by_algorithm(algorithm, config, plan);
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
    for (const std::string_view key : {"bits", "w_bit"}) {
      const Json* given = config.find(key);
      if (given != nullptr && given->kind != Json::Kind::Integer) {
        return refuse(key, given->to_text(), "4 or 8");
      }
    }
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

  bool by_method(const std::string& method, const Json& config, Plan& plan) {
    if (method == "fp8") {
      return fp8(config, plan);
    }
    if (method == "mxfp4") {
      return mxfp4(plan);
    }
    if (method == "awq" || method == "gptq") {
      return integers(config, plan);
    }
    if (method == "compressed-tensors" || method == "modelopt") {
      return groups(config, plan);
    }
    if (method == "fbgemm_fp8") {
      return channels(plan);
    }
    return refuse("quant_method",
                  method,
                  "fp8, mxfp4, awq, gptq, fbgemm_fp8, modelopt or compressed-tensors");
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

  static Scheme scheme_of(const Json& weights, int64_t group) {
    const std::string strategy = text(weights, "strategy");
    return strategy == "block"     ? Scheme::Block
           : strategy == "channel" ? Scheme::Channel
           : group > 0             ? Scheme::Group
                                   : Scheme::Tensor;
  }

  /// Activations of another type than the weights are products of kinds that are not timed.
  bool same_type(const Json& activations, int64_t bits, bool floats) {
    const int64_t own = integer(activations, "num_bits", bits);
    const std::string type = text(activations, "type");
    return (own == bits && (type == "float") == floats) ||
           refuse("config_groups.input_activations",
                  fmt::format("{} bits {}", own, type),
                  "the type of the weights, or none");
  }

  bool weight_type(const Json& weights, const Json* activations, Plan& plan) {
    const int64_t bits = integer(weights, "num_bits", 0);
    const bool floats = text(weights, "type") == "float";
    const int64_t group = std::max<int64_t>(group_size(weights, "group_size", 0), 0);
    const bool both = activations != nullptr && activations->is_object();
    if (both && !same_type(*activations, bits, floats)) {
      return false;
    }
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
      plan.precision = {type, both ? type : model_.dtype, scheme_of(weights, group), group};
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
/// any run of whole parts of the name between dots ("mlp" of model.layers.0.mlp.up_proj), as
/// engines match them.
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
    if (!plain_.empty() && holds_plain(name)) {
      return true;
    }
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      return matches_module(pattern, name, steps_);
    });
  }

  bool gave_up() const { return steps_.gave_up; }

 private:
  bool holds_plain(std::string_view name) {
    for (size_t begin = 0; begin < name.size(); begin = next_part(name, begin) + 1) {
      for (size_t end = next_part(name, begin);; end = next_part(name, end + 1)) {
        if (plain_.contains(name.substr(begin, end - begin))) {
          return true;
        }
        if (end == name.size()) {
          break;
        }
      }
    }
    return false;
  }

  // Where the part of a name that begins at `from` ends.
  static size_t next_part(std::string_view name, size_t from) {
    return std::min(name.size(), name.find('.', from));
  }

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

/// Queries, keys and values are one product, which has one precision: the list must mean all three
/// or none.
bool is_partly_ignored(Ignored& ignored, size_t layer) {
  return std::any_of(kRoots.begin(), kRoots.end(), [&](std::string_view root) {
    int held = 0;
    for (const std::string_view module : {"q_proj", "k_proj", "v_proj"}) {
      held += ignored.holds(fmt::format("{}{}.self_attn.{}", root, layer, module)) ? 1 : 0;
    }
    return held == 1 || held == 2;
  });
}

/// Of layers that the model does not have: its heads for several tokens come after the last.
bool is_beyond(std::string_view entry, size_t layers) {
  constexpr std::string_view kLayers = "layers";
  const size_t at = entry.find(kLayers);
  if (at == std::string_view::npos) {
    return false;
  }
  std::string_view rest = entry.substr(at + kLayers.size());
  while (rest.starts_with('\\') || rest.starts_with('.')) {
    rest.remove_prefix(1);
  }
  size_t number = 0;
  size_t digits = 0;
  while (digits < rest.size() && digits < 6 && rest[digits] >= '0' && rest[digits] <= '9') {
    number = 10 * number + static_cast<size_t>(rest[digits++] - '0');
  }
  return digits > 0 && number >= layers;
}

/// The first entry that means no module of any layer, and nothing else that may be left as it is.
std::optional<std::string> unmatched(const std::vector<std::string>& entries,
                                     const std::vector<PartModules>& parts,
                                     size_t layers) {
  for (const std::string& entry : entries) {
    const bool other = std::any_of(kOthers.begin(), kOthers.end(), [&](std::string_view part) {
      return entry.find(part) != std::string::npos;
    });
    if (other || is_beyond(entry, layers)) {
      continue;
    }
    Ignored alone({entry});
    bool found = false;
    for (size_t layer = 0; layer < layers && !found; ++layer) {
      found = std::any_of(parts.begin(), parts.end(), [&](const PartModules& part) {
        return is_ignored(alone, part, layer);
      });
    }
    if (!found && !alone.gave_up()) {
      return entry;
    }
  }
  return std::nullopt;
}

/// Where a list stands, and of what.
struct ListPlace {
  std::string_view path;
  std::string_view family;
  size_t layers = 0;
};

/// Complains of names that mean no module, or a part of one.
void check_ignored(const Plan& plan,
                   Ignored& ignored,
                   const PartModules& experts,
                   const ListPlace& place,
                   Complaints& complaints) {
  if (ignored.gave_up()) {
    return;
  }
  std::vector<PartModules> parts(kModules.begin(), kModules.end());
  parts.push_back(experts);
  for (size_t i = 0; i < place.layers; ++i) {
    if (is_partly_ignored(ignored, i)) {
      complaints.unsupported.push_back(fmt::format(
          "{}ignore: got some of q_proj, k_proj and v_proj of layer {}, need all or none",
          place.path,
          i));
      break;
    }
  }
  const auto lost = unmatched(plan.ignored, parts, place.layers);
  if (lost) {
    complaints.unsupported.push_back(
        fmt::format("{}ignore: got '{}', need the name of a module of {}",
                    place.path,
                    std::string_view(*lost).substr(0, 60),
                    place.family));
  }
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
  check_ignored(*plan, ignored, experts, {start, model.family, layers.size()}, complaints);
  if (ignored.gave_up()) {
    complaints.wrong.push_back(
        fmt::format("{}ignore: got patterns that take too many steps, need simpler ones", start));
  }
}

}  // namespace orrery::frontend
