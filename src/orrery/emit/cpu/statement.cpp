// Statements as loops over their elements.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/check.h"
#include "orrery/emit/cpu/statement_internal.h"
#include "orrery/emit/cpu/types_internal.h"
#include "orrery/emit/naming.h"
#include "orrery/kernel/print.h"

namespace orrery::emit::cpu {
namespace {

using kernel::AxisId;
using kernel::BufferId;
using kernel::TensorId;

using Axes = std::vector<AxisId>;

bool contains(const Axes& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

// Writes statements whose elements are numbered by the variables of `open_loops`.
class Statements {
 public:
  Statements(const Scope& scope, Writer& out) : scope_(scope), program_(scope.program), out_(out) {}

  void operator()(const kernel::Load& load) {
    const kernel::Buffer& buffer = program_[load.to];
    const size_t loops = open_loops(buffer.axes);
    std::string value = read(load.from, buffer.axes);
    if (buffer.dtype != program_[load.from].dtype) value = rounded(buffer.dtype, value);
    out_.line("{} = {};", element(load.to, buffer.axes), value);
    close_loops(loops);
  }

  void operator()(const kernel::Store& store) {
    const kernel::Buffer& buffer = program_[store.from];
    const DType type = program_[store.to].dtype;
    std::string value = element(store.from, buffer.axes);
    if (store.via && program_[*store.via].dtype != buffer.dtype) {
      value = rounded(program_[*store.via].dtype, value);
    }
    const size_t loops = open_loops(buffer.axes);
    const std::string condition = inside(program_[store.to].axes, buffer.axes);
    out_.line("{}{}[{}] = {};",
              condition.empty() ? "" : fmt::format("if ({}) ", condition),
              tensor_name(program_, store.to),
              position(store.to, buffer.axes),
              stored(type, value));
    close_loops(loops);
  }

  void operator()(const kernel::Map& map) {
    const kernel::Buffer& buffer = program_[map.to];
    const size_t loops = open_loops(buffer.axes);
    const std::string value = evaluate(map.value, buffer.axes);
    out_.line("{} = {};", element(map.to, buffer.axes), rounded(buffer.dtype, value));
    close_loops(loops);
  }

  void operator()(const kernel::Reduce& reduce) {
    const kernel::Buffer& buffer = program_[reduce.to];
    const bool sum = reduce.kind == kernel::ReduceKind::Sum;
    const Axes reduced = reduced_axes(reduce);
    Axes all = buffer.axes;
    all.insert(all.end(), reduced.begin(), reduced.end());
    const size_t outer = open_loops(buffer.axes);
    out_.line("float result = {};",
              sum ? "0.0f" : literal(-std::numeric_limits<double>::infinity()));
    const size_t inner = open_loops(reduced);
    const std::string value = evaluate(reduce.value, all);
    out_.raw(sum ? fmt::format("result += {};", value)
                 : fmt::format("result = maximum(result, {});", value));
    close_loops(inner);
    out_.line("{} = {};", element(reduce.to, buffer.axes), rounded(buffer.dtype, "result"));
    close_loops(outer);
  }

  // Rows, then the contracted axes, then columns: k ascends for every element, and the inner loop
  // vectorises.
  void operator()(const kernel::Mma& mma) {
    const Axes& acc = program_[mma.acc].axes;
    Axes rows;
    Axes columns;
    Axes contracted;
    for (size_t i = 0; i < program_.axes.size(); ++i) {
      const AxisId axis = AxisId::from_index(i);
      const bool in_first = contains(program_[mma.first].axes, axis);
      const bool in_second = contains(program_[mma.second].axes, axis);
      if (contains(acc, axis)) {
        (in_first ? rows : columns).push_back(axis);
      } else if (in_first || in_second) {
        contracted.push_back(axis);
      }
    }
    Axes all = rows;
    all.insert(all.end(), contracted.begin(), contracted.end());
    all.insert(all.end(), columns.begin(), columns.end());
    const size_t loops = open_loops(all);
    out_.line(
        "{} += {} * {};", element(mma.acc, all), element(mma.first, all), element(mma.second, all));
    close_loops(loops);
  }

 private:
  size_t open_loops(const Axes& axes) {
    size_t opened = 0;
    for (const AxisId axis : axes) {
      if (program_[axis].tile == 1) continue;
      const std::string i = index_name(program_, axis);
      out_.open("for (int64_t {} = 0; {} < {}; ++{})", i, i, program_[axis].tile, i);
      ++opened;
    }
    if (opened == 0) {  // a single element still gets a scope of its own
      out_.begin();
      return 1;
    }
    return opened;
  }

  void close_loops(size_t count) {
    for (size_t i = 0; i < count; ++i) out_.close();
  }

  // The element's coordinate along an axis of the tensors: "at_m + i_m".
  std::string coordinate(AxisId axis, const Axes& loops) const {
    const bool moves = scope_.moving.contains(axis);
    const bool varies = contains(loops, axis) && program_[axis].tile > 1;
    if (moves && varies) {
      return corner_name(program_, axis) + " + " + index_name(program_, axis);
    }
    if (varies) return index_name(program_, axis);
    return moves ? corner_name(program_, axis) : "0";
  }

  std::string element(BufferId id, const Axes& loops) const {
    const kernel::Buffer& buffer = program_[id];
    std::string text;
    for (const AxisId axis : buffer.axes) {
      const int64_t tile = program_[axis].tile;
      if (tile == 1) continue;
      ORR_CHECK(contains(loops, axis)) << "no loop over '" << program_[axis].name << "'";
      if (!text.empty()) text = fmt::format("{} * {} + ", parenthesised(text), tile);
      text += index_name(program_, axis);
    }
    return fmt::format("{}[{}]", buffer_name(program_, id), text.empty() ? "0" : text);
  }

  static std::string parenthesised(const std::string& text) {
    return text.find(' ') == std::string::npos ? text : "(" + text + ")";
  }

  // The element's place in a tensor, row-major.
  std::string position(TensorId id, const Axes& loops) const {
    std::string text;
    for (const AxisId axis : program_[id].axes) {
      if (!text.empty()) {
        text = fmt::format("{} * {} + ", parenthesised(text), extent_name(program_, axis));
      }
      text += coordinate(axis, loops);
    }
    return text.empty() ? "0" : text;
  }

  // Do these axes' coordinates lie inside the tensors? Tiles of one element always do.
  std::string inside(const Axes& axes, const Axes& loops) const {
    std::string text;
    for (const AxisId axis : axes) {
      if (program_[axis].tile == 1 || !contains(loops, axis)) continue;
      if (!text.empty()) text += " && ";
      text += fmt::format("{} < {}", coordinate(axis, loops), extent_name(program_, axis));
    }
    return text;
  }

  std::string read(TensorId id, const Axes& loops) const {
    const std::string value = loaded(
        program_[id].dtype, fmt::format("{}[{}]", tensor_name(program_, id), position(id, loops)));
    const std::string condition = inside(program_[id].axes, loops);
    return condition.empty() ? value : fmt::format("({} ? {} : 0.0f)", condition, value);
  }

  // Writes the definitions of an expression and returns its value.
  std::string evaluate(const kernel::Expr& expression, const Axes& loops) {
    Spelling spelling;
    spelling.dialect = &dialect();
    spelling.leaf = [&](const kernel::ExprNode& node) -> std::string {
      if (node.op == kernel::ExprOp::Buffer) return element(node.buffer, loops);
      if (node.op == kernel::ExprOp::Tensor) return read(node.tensor, loops);
      return fmt::format("static_cast<float>({})", extent_name(program_, node.axis));
    };
    spelling.inside = [&](AxisId axis) {
      return fmt::format("{} < {}", coordinate(axis, loops), extent_name(program_, axis));
    };
    const ExpressionText text = print(expression, spelling);
    for (const std::string& definition : text.definitions) out_.raw(definition);
    return text.value;
  }

  // Axes that an operand has and the result lacks, ascending.
  Axes reduced_axes(const kernel::Reduce& reduce) const {
    std::set<AxisId> axes;
    const auto add = [&](const Axes& more) {
      for (const AxisId axis : more) {
        if (program_[axis].tile > 1 && !contains(program_[reduce.to].axes, axis)) axes.insert(axis);
      }
    };
    for (const kernel::ExprNode& node : reduce.value.nodes) {
      if (node.op == kernel::ExprOp::Buffer) add(program_[node.buffer].axes);
      if (node.op == kernel::ExprOp::Tensor) add(program_[node.tensor].axes);
    }
    return {axes.begin(), axes.end()};
  }

  const Scope& scope_;
  const kernel::Program& program_;
  Writer& out_;
};

}  // namespace

void write_statement(const Scope& scope, const kernel::Statement& statement, Writer& out) {
  out.line("// {}", kernel::print(scope.program, statement));
  Statements statements(scope, out);
  std::visit([&](const auto& op) { statements(op); }, statement.op);
}

}  // namespace orrery::emit::cpu
