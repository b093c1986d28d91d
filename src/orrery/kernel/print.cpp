// The text form of kernel programs, written: declarations, statements, layouts.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/print.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <type_traits>
#include <vector>

#include "orrery/base/hash.h"
#include "orrery/kernel/print_internal.h"

namespace orrery::kernel {
namespace detail {

void Printer::axes(const std::vector<AxisId>& axes) {
  out_ += '[';
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i > 0) out_ += ", ";
    name(program_.axes, axes[i]);
  }
  out_ += ']';
}

void Printer::option(std::string_view word, int64_t value, int64_t unless) {
  if (value != unless) write(" {} {}", word, value);
}

void Printer::axis(const Axis& axis) {
  write("axis {} extent ", axis.name);
  if (axis.extent.symbol.empty()) {
    write("{}", axis.extent.fixed);
  } else {
    out_ += axis.extent.symbol;
  }
  option("multiple", axis.multiple, 1);
  write(" tile {}", axis.tile);
  switch (axis.kind) {
    case AxisKind::Grid:
      out_ += " grid";
      break;
    case AxisKind::Loop:
      out_ += " loop";
      break;
    case AxisKind::Whole:
      out_ += " whole";
      break;
  }
  if (axis.parts) {
    out_ += " parts ";
    name(program_.axes, *axis.parts);
  }
  out_ += '\n';
}

void Printer::tensor(const Tensor& tensor) {
  write("tensor {} {} ", tensor.name, orrery::name(tensor.dtype));
  axes(tensor.axes);
  switch (tensor.access) {
    case Access::Read:
      out_ += " read\n";
      return;
    case Access::Write:
      out_ += " write\n";
      return;
    case Access::ReadWrite:
      out_ += " readwrite\n";
      return;
  }
}

void Printer::stage(const Stage& stage) {
  write("stage {} {} warps {}",
        stage.name,
        stage.kind == StageKind::Producer ? "producer" : "consumer",
        stage.warps);
  option("registers", stage.registers, 0);
  out_ += '\n';
}

void Printer::buffer(const Buffer& buffer) {
  write("buffer {} {} ", buffer.name, orrery::name(buffer.dtype));
  axes(buffer.axes);
  if (buffer.space == Space::Shared) {
    write(" shared ring {}", buffer.ring);
    option("panel", buffer.shared.panel, 0);
    option("swizzle", buffer.shared.swizzle, 0);
    option("pad", buffer.shared.pad, 0);
    option("resident", buffer.shared.resident, 0);
    out_ += '\n';
    return;
  }
  out_ += " fragment {";
  if (!buffer.fragment.digits.empty()) out_ += ' ';
  layout(buffer.fragment);
  out_ += " }\n";
}

void Printer::layout(const FragmentLayout& layout) {
  static constexpr std::string_view kPlaces[] = {"register", "lane", "warp"};
  const Digit* before = nullptr;
  for (const Digit& digit : layout.digits) {
    if (before != nullptr) out_ += ' ';
    if (before == nullptr || before->place != digit.place) {
      write("{} ", kPlaces[static_cast<size_t>(digit.place)]);
    }
    write("{}:", digit.extent);
    if (digit.axis) {
      name(program_.axes, *digit.axis);
      write("*{}", digit.stride);
    } else {
      out_ += '_';
    }
    before = &digit;
  }
}

void Printer::launch() {
  if (!program_.raster.order.empty() || program_.raster.group != 1) {
    out_ += "raster";
    for (const AxisId id : program_.raster.order) {
      out_ += ' ';
      name(program_.axes, id);
    }
    option("group", program_.raster.group, 1);
    out_ += '\n';
  }
  if (program_.cluster) {
    out_ += "cluster ";
    name(program_.axes, program_.cluster->axis);
    write(" {}\n", program_.cluster->size);
  }
  if (program_.persistent) out_ += "persistent\n";
  if (program_.ctas_per_sm != 1) write("ctas_per_sm {}\n", program_.ctas_per_sm);
}

void Printer::operation(const Load& load) {
  name(program_.buffers, load.to);
  out_ += " <- ";
  name(program_.tensors, load.from);
}

void Printer::operation(const Store& store) {
  name(program_.tensors, store.to);
  out_ += " <- ";
  name(program_.buffers, store.from);
  if (store.via) {
    out_ += " via ";
    name(program_.buffers, *store.via);
  }
}

void Printer::operation(const Map& map) {
  name(program_.buffers, map.to);
  out_ += " = ";
  expression(map.value);
}

void Printer::operation(const Reduce& reduce) {
  name(program_.buffers, reduce.to);
  out_ += reduce.kind == ReduceKind::Sum ? " = sum(" : " = max_over(";
  expression(reduce.value);
  out_ += ')';
}

void Printer::operation(const Mma& mma) {
  name(program_.buffers, mma.acc);
  write(" += mma m{}n{}k{} ", mma.shape.m, mma.shape.n, mma.shape.k);
  name(program_.buffers, mma.first);
  out_ += ' ';
  name(program_.buffers, mma.second);
}

void Printer::statement(const Statement& statement) {
  name(program_.stages, statement.stage);
  out_ += ": ";
  std::visit([this](const auto& op) { operation(op); }, statement.op);
}

void Printer::phase(const Phase& phase) {
  if (phase.loop) {
    out_ += "loop ";
    name(program_.axes, *phase.loop);
    out_ += '\n';
  } else {
    out_ += "once\n";
  }
  for (const Statement& line : phase.body) {
    out_ += "  ";
    statement(line);
    out_ += '\n';
  }
}

void Printer::program() {
  write("kernel {}\ntarget {}\n", program_.name, kernel::name(program_.target));
  for (const Axis& a : program_.axes) axis(a);
  for (const Tensor& t : program_.tensors) tensor(t);
  for (const Stage& s : program_.stages) stage(s);
  for (const Buffer& b : program_.buffers) buffer(b);
  launch();
  for (const Phase& p : program_.phases) phase(p);
}

}  // namespace detail

std::string print(const Program& program) {
  detail::Printer printer(program);
  printer.program();
  return printer.take();
}

std::string print(const Program& program, const Statement& statement) {
  detail::Printer printer(program);
  printer.statement(statement);
  return printer.take();
}

std::string print(const Program& program, const Expr& expression) {
  detail::Printer printer(program);
  printer.expression(expression);
  return printer.take();
}

std::string print(const Program& program, const FragmentLayout& layout) {
  detail::Printer printer(program);
  printer.layout(layout);
  return printer.take();
}

uint64_t text_hash(const Program& program) {
  return hash_bytes(print(program));
}

}  // namespace orrery::kernel
