// Printer of graphs.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/print.h"

#include <fmt/format.h>

#include <iterator>
#include <variant>

#include "orrery/base/text.h"
#include "orrery/graph/infer.h"

namespace orrery::graph {

namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result + '"';
}

class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}

  std::string run() {
    line("", "graph {}", quoted(graph_.name()));
    for (const std::string& dim : graph_.dims()) {
      line("", "dim {}", dim);
    }
    declarations({}, "");
    size_t next_repeat = 0;
    for (size_t i = 0; i <= graph_.ops().size(); ++i) {
      while (next_repeat < graph_.repeats().size() && graph_.repeats()[next_repeat].first == i) {
        repeat(next_repeat);
        i = graph_.repeats()[next_repeat].last;
        ++next_repeat;
      }
      if (i < graph_.ops().size()) {
        op(graph_.ops()[i], "");
      }
    }
    for (const ValueId output : graph_.outputs()) {
      line("", "output {}", graph_[output].name);
    }
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(std::string_view indent, fmt::format_string<Args...> format, Args&&... args) {
    text_ += indent;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  std::string typed(const Value& value) const {
    return value.name + ": " + to_text(value.type, graph_.dims());
  }

  void declarations(RepeatId repeat, std::string_view indent) {
    for (const Value& value : graph_.values()) {
      const bool assigned = value.kind == ValueKind::Result || value.kind == ValueKind::Carried;
      if (!assigned && value.repeat == repeat) {
        line(indent, "{} {}", name(value.kind), typed(value));
      }
    }
  }

  void repeat(size_t index) {
    const Repeat& repeat = graph_.repeats()[index];
    line("", "repeat {} {}", repeat.count, repeat.name);
    for (const Carry& carry : repeat.carries) {
      line("  ", "carry {} = {}", typed(graph_[carry.inside]), graph_[carry.start].name);
    }
    declarations(RepeatId::from_index(index), "  ");
    for (size_t i = repeat.first; i < repeat.last; ++i) {
      op(graph_.ops()[i], "  ");
    }
    for (const Carry& carry : repeat.carries) {
      line("  ", "next {} = {}", graph_[carry.inside].name, graph_[carry.next].name);
    }
    line("", "end");
  }

  void op(const Op& op, std::string_view indent) {
    std::string inputs;
    for (const ValueId input : op.inputs) {
      inputs += ' ' + graph_[input].name;
    }
    line(indent, "{} = {}{}{}", typed(graph_[op.result]), name(op.kind), inputs, attributes(op));
  }

  std::string word(int64_t value) const { return fmt::format("{}", value); }

  std::string word(double value) const { return format_double_exact(value); }

  std::string word(bool value) const { return value ? "1" : "0"; }

  std::string word(const std::vector<int64_t>& value) const {
    return fmt::format("[{}]", fmt::join(value, ", "));
  }

  std::string word(const Shape& value) const { return to_text(value, graph_.dims()); }

  std::string word(Scheme value) const { return std::string(name(value)); }

  std::string word(DType value) const { return std::string(name(value)); }

  std::string word(OpKind value) const { return std::string(name(value)); }

  std::string attributes(const Op& op) const {
    static const Attributes kDefault;
    const OpInfo& has = info(op.kind);
    std::string text;
    for (const AttributeInfo& each : all_attributes()) {
      std::visit(
          [&](auto member) {
            const auto& value = op.attributes.*member;
            if (has.has(each.bit) && (each.required || value != kDefault.*member)) {
              text += fmt::format(" {}={}", each.key, word(value));
            }
          },
          each.member);
    }
    return text;
  }

  const Graph& graph_;
  std::string text_;
};

}  // namespace

std::string print(const Graph& graph) {
  return Printer(graph).run();
}

}  // namespace orrery::graph
