// Rules name, id, size and expression: the program can be printed, read back, and followed.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

template <class T>
void check_names(const std::vector<T>& named, std::string_view what, Report& report) {
  for (size_t i = 0; i < named.size(); ++i) {
    const std::string& name = named[i].name;
    if (!is_name(name)) {
      report.add("name",
                 fmt::format("{} {}", what, i),
                 "got '{}', need letters, digits and _, at most {}, no reserved word",
                 name,
                 kMaxNameLength);
    }
    for (size_t j = 0; j < i; ++j) {
      if (named[j].name == name) {
        report.add("name", fmt::format("{} {}", what, name), "got it twice, need each name once");
      }
    }
  }
}

// Tensors and buffers stand on the same sides of statements, so they share their names.
void check_shared_names(const Program& program, Report& report) {
  for (const Tensor& tensor : program.tensors) {
    for (const Buffer& buffer : program.buffers) {
      if (tensor.name != buffer.name) continue;
      report.add(
          "name", fmt::format("buffer {}", buffer.name), "got the name of a tensor, need another");
    }
  }
}

class Structure {
 public:
  Structure(const Program& program, Report& report) : program_(program), report_(report) {}

  void axis(const Axis& axis) {
    const auto who = [&] { return fmt::format("axis {}", axis.name); };
    const bool fixed = axis.extent.symbol.empty();
    if (!fixed && !is_name(axis.extent.symbol)) {
      report_.add("name", who(), "got extent '{}', need a name or a number", axis.extent.symbol);
    }
    if (!fixed && axis.extent.fixed != 0) {
      report_.add("size",
                  who(),
                  "got an extent that is both {} and {}, need one",
                  axis.extent.symbol,
                  axis.extent.fixed);
    }
    if (fixed) between(axis.extent.fixed, 1, kMaxExtent, "extent", who);
    between(axis.tile, 1, kMaxTile, "tile", who);
    between(axis.multiple, 1, kMaxTile, "multiple", who);
    if (axis.parts) id(program_.axes, *axis.parts, "parts", who);
  }

  void tensor(const Tensor& tensor) {
    axes(tensor.axes, [&] { return fmt::format("tensor {}", tensor.name); });
  }

  void stage(const Stage& stage) {
    const auto who = [&] { return fmt::format("stage {}", stage.name); };
    between(stage.warps, 1, kMaxWarps, "warps", who);
    between(stage.registers, 0, kMaxRegisters, "registers", who);
  }

  void buffer(const Buffer& buffer) {
    const auto who = [&] { return fmt::format("buffer {}", buffer.name); };
    axes(buffer.axes, who);
    between(buffer.ring, 1, kMaxRing, "ring", who);
    for (const int64_t size :
         {buffer.shared.panel, buffer.shared.swizzle, buffer.shared.pad, buffer.shared.resident}) {
      between(size, 0, kMaxTile, "panel, swizzle, pad or resident", who);
    }
    most(buffer.fragment.digits.size(), kMaxDigits, "digits", who);
    for (const Digit& digit : buffer.fragment.digits) {
      between(digit.extent, 1, kMaxTile, "extent of a digit", who);
      between(
          digit.stride, digit.axis ? 1 : 0, digit.axis ? kMaxTile : 0, "stride of a digit", who);
      if (digit.axis) id(program_.axes, *digit.axis, "axis of a digit", who);
    }
  }

  void launch() {
    const auto raster = [] { return std::string("raster"); };
    between(program_.raster.group, 1, kMaxTile, "group", raster);
    most(program_.raster.order.size(), kMaxAxes, "axes", raster);
    for (const AxisId axis : program_.raster.order) id(program_.axes, axis, "axis", raster);
    const auto cluster = [] { return std::string("cluster"); };
    if (program_.cluster) {
      id(program_.axes, program_.cluster->axis, "axis", cluster);
      between(program_.cluster->size, 1, kMaxTile, "size", cluster);
    }
    between(program_.ctas_per_sm, 1, kMaxTile, "ctas_per_sm", [] { return std::string("kernel"); });
  }

  void phases() {
    size_t statements = 0;
    for (size_t i = 0; i < program_.phases.size(); ++i) {
      const Phase& phase = program_.phases[i];
      const auto who = [&] { return fmt::format("phase {}", i); };
      if (phase.loop) id(program_.axes, *phase.loop, "loop axis", who);
      if (phase.body.empty()) report_.add("size", who(), "got no statements, need at least one");
      statements += phase.body.size();
      for (const Statement& each : phase.body) statement(each);
    }
    most(statements, kMaxStatements, "statements", [] { return std::string("kernel"); });
  }

  void counts() {
    const auto who = [] { return std::string("kernel"); };
    most(program_.axes.size(), kMaxAxes, "axes", who);
    most(program_.tensors.size(), kMaxTensors, "tensors", who);
    most(program_.stages.size(), kMaxStages, "stages", who);
    most(program_.buffers.size(), kMaxBuffers, "buffers", who);
    most(program_.phases.size(), kMaxPhases, "phases", who);
    if (program_.phases.empty()) report_.add("size", "kernel", "got no phases, need at least one");
    if (!is_name(program_.name)) {
      report_.add("name",
                  "kernel",
                  "got '{}', need letters, digits and _, at most {}",
                  program_.name,
                  kMaxNameLength);
    }
  }

 private:
  template <class Who>
  void between(int64_t got, int64_t least, int64_t largest, std::string_view what, Who who) {
    if (got >= least && got <= largest) return;
    report_.add("size", who(), "{}: got {}, need {} to {}", what, got, least, largest);
  }

  template <class Who>
  void most(size_t got, size_t largest, std::string_view what, Who who) {
    if (got > largest) report_.add("size", who(), "got {} {}, need at most {}", got, what, largest);
  }

  template <class T, class Tag, class Who>
  bool id(const std::vector<T>& named, Id<Tag> got, std::string_view what, Who who) {
    if (got.valid() && got.index() < named.size()) return true;
    report_.add("id",
                who(),
                "{}: got id {}, need one below {}",
                what,
                got.valid() ? std::to_string(got.value()) : "none",
                named.size());
    return false;
  }

  template <class Who>
  void axes(const std::vector<AxisId>& list, Who who) {
    most(list.size(), kMaxRank, "axes", who);
    for (size_t i = 0; i < list.size(); ++i) {
      if (!id(program_.axes, list[i], "axis", who)) continue;
      if (std::find(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i), list[i]) !=
          list.begin() + static_cast<std::ptrdiff_t>(i)) {
        report_.add("size",
                    who(),
                    "got axis {} twice, need distinct axes",
                    program_.axes[list[i].index()].name);
      }
    }
  }

  void statement(const Statement& statement) {
    const auto who = [&] { return fmt::format("'{}'", print(program_, statement)); };
    id(program_.stages, statement.stage, "stage", who);
    for_each_buffer(statement.op,
                    [&](BufferId buffer, Use) { id(program_.buffers, buffer, "buffer", who); });
    if (const auto* load = std::get_if<Load>(&statement.op)) {
      id(program_.tensors, load->from, "tensor", who);
    } else if (const auto* store = std::get_if<Store>(&statement.op)) {
      id(program_.tensors, store->to, "tensor", who);
    } else if (const auto* map = std::get_if<Map>(&statement.op)) {
      expression(map->value, who);
    } else if (const auto* reduce = std::get_if<Reduce>(&statement.op)) {
      expression(reduce->value, who);
    } else if (const auto* mma = std::get_if<Mma>(&statement.op)) {
      for (const int64_t size : {mma->shape.m, mma->shape.n, mma->shape.k}) {
        between(size, 1, kMaxTile, "shape", who);
      }
    }
  }

  template <class Who>
  void expression(const Expr& expression, Who who) {
    most(expression.nodes.size(), kMaxNodes, "operations", who);
    if (!is_tree(expression)) {
      report_.add("expression",
                  who(),
                  "got nodes out of order, shared or with fields that mean nothing, need a tree as "
                  "the builders make it");
      return;
    }
    for (const ExprNode& node : expression.nodes) {
      if (node.op == ExprOp::Tensor) id(program_.tensors, node.tensor, "tensor", who);
      if (node.op == ExprOp::Extent || node.op == ExprOp::Inside) {
        id(program_.axes, node.axis, "axis", who);
      }
    }
  }

  const Program& program_;
  Report& report_;
};

}  // namespace

void verify_structure(const Program& program, Report& report) {
  Structure structure(program, report);
  structure.counts();
  check_names(program.axes, "axis", report);
  check_names(program.tensors, "tensor", report);
  check_names(program.stages, "stage", report);
  check_names(program.buffers, "buffer", report);
  check_shared_names(program, report);
  for (const Axis& axis : program.axes) structure.axis(axis);
  for (const Tensor& tensor : program.tensors) structure.tensor(tensor);
  for (const Stage& stage : program.stages) structure.stage(stage);
  for (const Buffer& buffer : program.buffers) structure.buffer(buffer);
  structure.launch();
  structure.phases();
}

}  // namespace orrery::kernel::detail
