// The graph verifier.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/verify.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <variant>

#include "orrery/base/text.h"
#include "orrery/graph/infer.h"

namespace orrery::graph {

namespace {

/// As the scanner reads one: [A-Za-z_][A-Za-z0-9_.]*.
bool is_identifier(std::string_view text) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  const auto rest = [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
  };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), rest);
}

/// Words of the text form, which therefore name no value.
bool is_reserved(std::string_view text) {
  static constexpr std::string_view kWords[] = {"graph",
                                                "dim",
                                                "input",
                                                "weight",
                                                "constant",
                                                "cache",
                                                "repeat",
                                                "carry",
                                                "next",
                                                "end",
                                                "output"};
  const auto attributes = all_attributes();
  return std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords) ||
         std::any_of(attributes.begin(), attributes.end(), [text](const AttributeInfo& each) {
           return each.key == text;
         });
}

class Verifier {
 public:
  explicit Verifier(const GraphData& data) : data_(data) {}

  Result<void> run() {
    check_dims();
    check_values();
    if (wrong_.empty()) {  // the rest follows ids, which are now known to be in range
      check_repeats();
    }
    if (wrong_.empty()) {
      check_ops();
      check_carries();
      check_outputs();
    }
    if (!wrong_.empty()) {
      return make_error(
          ErrorCode::InvalidInput, "[graph.verify] graph '{}': {}", data_.name, join(wrong_, "; "));
    }
    return {};
  }

 private:
  template <class... Args>
  void wrong(fmt::format_string<Args...> format, Args&&... args) {
    wrong_.push_back(fmt::format(format, std::forward<Args>(args)...));
  }

  bool in_range(ValueId id) const { return id.valid() && id.index() < data_.values.size(); }

  const Value& value(ValueId id) const { return data_.values[id.index()]; }

  void check_name(std::string_view what, const std::string& name, std::set<std::string>& seen) {
    if (!is_identifier(name) || is_reserved(name)) {
      wrong("{} '{}': need a name of letters, digits, '_' and '.' that is no word of the text form",
            what,
            name);
    } else if (!seen.insert(name).second) {
      wrong("{} '{}' is declared twice", what, name);
    }
  }

  void check_dims() {
    std::set<std::string> seen;
    for (const std::string& dim : data_.dims) {
      check_name("extent", dim, seen);
    }
  }

  void check_values() {
    std::set<std::string> seen;
    for (const Value& each : data_.values) {
      check_name("value", each.name, seen);
      for (const Dim dim : each.type.shape) {
        const bool fits =
            dim.named() ? dim.symbol.index() < data_.dims.size() && dim.fixed == 0 : dim.fixed >= 1;
        if (!fits) {
          wrong("value '{}': got {}, need extents of at least 1",
                each.name,
                to_text(each.type, data_.dims));
          break;
        }
      }
      if (each.repeat.valid() && each.repeat.index() >= data_.repeats.size()) {
        wrong("value '{}' belongs to no repeat", each.name);
      }
      const bool is_result = each.kind == ValueKind::Result;
      if (is_result != each.producer.valid() ||
          (is_result && each.producer.index() >= data_.ops.size())) {
        wrong("value '{}' has no operator", each.name);
      }
    }
    for (const Op& op : data_.ops) {
      const bool inputs = std::all_of(
          op.inputs.begin(), op.inputs.end(), [this](ValueId id) { return in_range(id); });
      if (!inputs || !in_range(op.result)) {
        wrong("{}: an input or result is no value", name(op.kind));
      }
    }
  }

  void check_repeats() {
    size_t end = 0;
    std::set<std::string> seen;
    for (const Repeat& repeat : data_.repeats) {
      check_name("repeat", repeat.name, seen);
      if (repeat.count < 1) {
        wrong("repeat '{}': got a count of {}, need at least 1", repeat.name, repeat.count);
      }
      if (repeat.first < end || repeat.last < repeat.first || repeat.last > data_.ops.size()) {
        wrong("repeat '{}': got operators {} to {} of {}, need a range after the repeat before",
              repeat.name,
              repeat.first,
              repeat.last,
              data_.ops.size());
      }
      end = repeat.last;
      for (const Carry& carry : repeat.carries) {
        if (!in_range(carry.inside) || !in_range(carry.start) || !in_range(carry.next)) {
          wrong("repeat '{}': a carried value lacks its start or its next", repeat.name);
        }
      }
    }
  }

  /// The repeat that operator `index` runs in.
  RepeatId repeat_of(size_t index) const {
    for (size_t i = 0; i < data_.repeats.size(); ++i) {
      if (index >= data_.repeats[i].first && index < data_.repeats[i].last) {
        return RepeatId::from_index(i);
      }
    }
    return {};
  }

  /// May a value be read from operator `reader` in `repeat`?
  bool visible(ValueId id, size_t reader, RepeatId repeat) const {
    const Value& read = value(id);
    const bool assigned = read.kind != ValueKind::Result || read.producer.index() < reader;
    if (!read.repeat.valid() || read.repeat == repeat) {
      return assigned;
    }
    const Repeat& other = data_.repeats[read.repeat.index()];
    const bool carried_out = std::any_of(other.carries.begin(),
                                         other.carries.end(),
                                         [id](const Carry& carry) { return carry.next == id; });
    return assigned && carried_out && reader >= other.last;
  }

  void check_ops() {
    for (size_t i = 0; i < data_.ops.size(); ++i) {
      const Op& op = data_.ops[i];
      const Value& result = value(op.result);
      const RepeatId repeat = repeat_of(i);
      if (result.kind != ValueKind::Result || result.producer != OpId::from_index(i) ||
          result.repeat != repeat) {
        wrong("'{}' is not the result of the operator that assigns it", result.name);
      }
      std::vector<TensorType> types;
      for (const ValueId input : op.inputs) {
        types.push_back(value(input).type);
        if (!visible(input, i, repeat)) {
          wrong("'{}' reads '{}', which is not assigned there", result.name, value(input).name);
        }
      }
      check_type(op, types, result);
    }
  }

  void check_type(const Op& op, const std::vector<TensorType>& types, const Value& result) {
    const Result<TensorType> type = infer(op.kind, types, op.attributes, data_.dims);
    if (!type.ok()) {
      wrong("'{}': {}", result.name, type.error().message);
    } else if (*type != result.type) {
      wrong("'{}': got type {}, need {}",
            result.name,
            to_text(result.type, data_.dims),
            to_text(*type, data_.dims));
    }
    if (op.attributes != only(op.kind, op.attributes)) {
      wrong("'{}': {} has an attribute it does not take", result.name, name(op.kind));
    }
  }

  /// `from` without the attributes that `kind` does not have.
  static Attributes only(OpKind kind, const Attributes& from) {
    const OpInfo& op = info(kind);
    Attributes kept;
    for (const AttributeInfo& each : all_attributes()) {
      if (op.has(each.bit)) {
        std::visit([&](auto member) { kept.*member = from.*member; }, each.member);
      }
    }
    return kept;
  }

  void check_carries() {
    std::map<ValueId, int> carried;  // how many repeats carry it
    for (size_t i = 0; i < data_.repeats.size(); ++i) {
      const Repeat& repeat = data_.repeats[i];
      const RepeatId id = RepeatId::from_index(i);
      for (const Carry& carry : repeat.carries) {
        ++carried[carry.inside];
        const Value& inside = value(carry.inside);
        const Value& next = value(carry.next);
        if (inside.kind != ValueKind::Carried || inside.repeat != id || next.repeat != id) {
          wrong("repeat '{}': '{}' or '{}' is not its own", repeat.name, inside.name, next.name);
        }
        if (!visible(carry.start, repeat.first, {})) {
          wrong("repeat '{}' starts with '{}', which is not assigned before it",
                repeat.name,
                value(carry.start).name);
        }
        if (inside.type != next.type || inside.type != value(carry.start).type) {
          wrong("repeat '{}': '{}', its start and its next have different types",
                repeat.name,
                inside.name);
        }
      }
    }
    for (size_t i = 0; i < data_.values.size(); ++i) {
      const bool is_carried = data_.values[i].kind == ValueKind::Carried;
      const auto found = carried.find(ValueId::from_index(i));
      if (is_carried && (found == carried.end() || found->second != 1)) {
        wrong("'{}' is carried by no repeat, or by several", data_.values[i].name);
      }
    }
  }

  void check_outputs() {
    if (data_.outputs.empty()) {
      wrong("got no output, need one");
    }
    for (const ValueId output : data_.outputs) {
      if (!in_range(output) || !visible(output, data_.ops.size(), {})) {
        wrong("an output is not assigned at the end");
      }
    }
  }

  const GraphData& data_;
  std::vector<std::string> wrong_;
};

}  // namespace

Result<void> verify(const GraphData& data) {
  return Verifier(data).run();
}

}  // namespace orrery::graph
