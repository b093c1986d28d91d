// Parser of graphs: a declaration or an operator a line, names before use.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/parse.h"

#include <map>
#include <optional>
#include <variant>

#include "orrery/base/text.h"

namespace orrery::graph {

namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : scan_(text, "graph.parse") {}

  Result<Graph> run() {
    ORR_TRY_VOID(scan_.expect("graph"));
    ORR_TRY(data_.name, scan_.expect_string());
    while (!scan_.at_end()) {
      ORR_TRY_VOID(statement());
    }
    if (repeat_.valid()) {
      return scan_.error("'end' of the repeat");
    }
    return Graph::make(std::move(data_));
  }

 private:
  Result<void> statement() {
    if (scan_.accept("dim")) {
      ORR_TRY(const auto name, scan_.expect_identifier());
      dims_.emplace(name, DimId::from_index(data_.dims.size()));
      data_.dims.emplace_back(name);
      return {};
    }
    for (const ValueKind kind :
         {ValueKind::Input, ValueKind::Weight, ValueKind::Constant, ValueKind::Cache}) {
      if (scan_.accept(name(kind))) {
        return declared(kind);
      }
    }
    if (scan_.accept("repeat")) {
      return repeat();
    }
    if (scan_.accept("carry")) {
      return carry();
    }
    if (scan_.accept("next")) {
      return next();
    }
    if (scan_.accept("end")) {
      return end();
    }
    if (scan_.accept("output")) {
      ORR_TRY(const ValueId output, value());
      data_.outputs.push_back(output);
      return {};
    }
    return op();
  }

  Result<void> declared(ValueKind kind) {
    Value value;
    value.kind = kind;
    value.repeat = repeat_;
    ORR_TRY_VOID(typed(value));
    add(std::move(value));
    return {};
  }

  /// name: dtype [extents]
  Result<void> typed(Value& value) {
    ORR_TRY(const auto name, scan_.expect_identifier());
    value.name = name;
    ORR_TRY_VOID(scan_.expect(":"));
    const Position at = scan_.position();
    ORR_TRY(const auto type, scan_.expect_identifier());
    const Result<DType> dtype = parse_dtype(type);
    if (!dtype.ok()) {
      return scan_.error_at(at, dtype.error().message);
    }
    value.type.dtype = *dtype;
    ORR_TRY(value.type.shape, shape());
    return {};
  }

  Result<Shape> shape() {
    Shape extents;
    ORR_TRY_VOID(scan_.expect("["));
    if (scan_.accept("]")) {
      return extents;
    }
    do {
      if (scan_.peek().kind == TokenKind::Identifier) {
        const auto found = dims_.find(scan_.peek().text);
        if (found == dims_.end()) {
          return scan_.error("the name of an extent");
        }
        scan_.next();
        extents.emplace_back(found->second);
      } else {
        ORR_TRY(const int64_t number, scan_.expect_integer());
        extents.emplace_back(number);
      }
    } while (scan_.accept(","));
    ORR_TRY_VOID(scan_.expect("]"));
    return extents;
  }

  Result<std::vector<int64_t>> order() {
    std::vector<int64_t> axes;
    ORR_TRY_VOID(scan_.expect("["));
    do {
      ORR_TRY(const int64_t axis, scan_.expect_integer());
      axes.push_back(axis);
    } while (scan_.accept(","));
    ORR_TRY_VOID(scan_.expect("]"));
    return axes;
  }

  ValueId add(Value value) {
    const ValueId id = ValueId::from_index(data_.values.size());
    values_.emplace(value.name, id);
    data_.values.push_back(std::move(value));
    return id;
  }

  Result<ValueId> value() {
    const auto found = values_.find(scan_.peek().text);
    if (scan_.peek().kind != TokenKind::Identifier || found == values_.end()) {
      return scan_.error("the name of a value");
    }
    scan_.next();
    return found->second;
  }

  Result<void> repeat() {
    if (repeat_.valid()) {
      return scan_.error("'end' of the repeat before");
    }
    Repeat repeat;
    ORR_TRY(repeat.count, scan_.expect_integer());
    ORR_TRY(repeat.name, scan_.expect_identifier());
    repeat.first = data_.ops.size();
    repeat_ = RepeatId::from_index(data_.repeats.size());
    data_.repeats.push_back(std::move(repeat));
    return {};
  }

  Result<void> carry() {
    if (!repeat_.valid()) {
      return scan_.error("a repeat around 'carry'");
    }
    Value inside;
    inside.kind = ValueKind::Carried;
    inside.repeat = repeat_;
    ORR_TRY_VOID(typed(inside));
    ORR_TRY_VOID(scan_.expect("="));
    ORR_TRY(const ValueId start, value());
    data_.repeats.back().carries.push_back({add(std::move(inside)), start, {}});
    return {};
  }

  Result<void> next() {
    const Position at = scan_.position();
    ORR_TRY(const ValueId inside, value());
    ORR_TRY_VOID(scan_.expect("="));
    ORR_TRY(const ValueId next, value());
    if (repeat_.valid()) {
      for (Carry& carry : data_.repeats.back().carries) {
        if (carry.inside == inside) {
          carry.next = next;
          return {};
        }
      }
    }
    return scan_.error_at(at, "got a name that no open repeat carries, need a carried one");
  }

  Result<void> end() {
    if (!repeat_.valid()) {
      return scan_.error("a repeat before 'end'");
    }
    data_.repeats.back().last = data_.ops.size();
    repeat_ = {};
    return {};
  }

  /// name: type = operator inputs attributes
  Result<void> op() {
    Value result;
    result.repeat = repeat_;
    ORR_TRY_VOID(typed(result));
    ORR_TRY_VOID(scan_.expect("="));
    const auto kind = find_op(scan_.peek().text);
    if (!kind) {
      return scan_.error("an operator");
    }
    scan_.next();
    Op op;
    op.kind = *kind;
    while (values_.contains(scan_.peek().text) && op.inputs.size() < info(*kind).most_inputs) {
      ORR_TRY(const ValueId input, value());
      op.inputs.push_back(input);
    }
    ORR_TRY_VOID(attributes(op));
    result.producer = OpId::from_index(data_.ops.size());
    op.result = add(std::move(result));
    data_.ops.push_back(std::move(op));
    return {};
  }

  /// key=value for each attribute that the operator has, in the table's order. (No value may be
  /// named like a key, see verify.cpp, so inputs end where keys begin.)
  Result<void> attributes(Op& op) {
    const OpInfo& has = info(op.kind);
    for (const AttributeInfo& each : all_attributes()) {
      if (!has.has(each.bit) || (!each.required && !scan_.peek().is(each.key))) {
        continue;
      }
      ORR_TRY_VOID(scan_.expect(each.key));
      ORR_TRY_VOID(scan_.expect("="));
      ORR_TRY_VOID(std::visit(
          [&](auto member) -> Result<void> { return read(op.attributes.*member); }, each.member));
    }
    return {};
  }

  Result<void> read(int64_t& to) {
    ORR_TRY(to, scan_.expect_integer());
    return {};
  }

  Result<void> read(double& to) {
    ORR_TRY(to, scan_.expect_number());
    return {};
  }

  Result<void> read(bool& to) {
    ORR_TRY(const int64_t number, scan_.expect_integer());
    to = number != 0;
    return {};
  }

  Result<void> read(std::vector<int64_t>& to) {
    ORR_TRY(to, order());
    return {};
  }

  Result<void> read(Shape& to) {
    ORR_TRY(to, shape());
    return {};
  }

  Result<void> read(Scheme& to) {
    return read_named(to, find_scheme(scan_.peek().text), "a scheme of scales");
  }

  Result<void> read(OpKind& to) {
    return read_named(to, find_op(scan_.peek().text), "an operator");
  }

  Result<void> read(DType& to) {
    const Result<DType> type = parse_dtype(scan_.peek().text);
    return read_named(to, type.ok() ? std::optional(*type) : std::nullopt, "an element type");
  }

  template <class T>
  Result<void> read_named(T& to, std::optional<T> found, std::string_view need) {
    if (!found) {
      return scan_.error(need);
    }
    scan_.next();
    to = *found;
    return {};
  }

  Scanner scan_;
  GraphData data_;
  RepeatId repeat_;  // the open one
  std::map<std::string, DimId, std::less<>> dims_;
  std::map<std::string, ValueId, std::less<>> values_;
};

}  // namespace

Result<Graph> parse(std::string_view text) {
  return Parser(text).run();
}

}  // namespace orrery::graph
