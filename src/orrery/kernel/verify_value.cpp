// Rules map and reduce: operands have a value for each element of the result, in the registers
// where it is needed.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

// Does the tensor have one coordinate along `axis` for the whole statement? It is no axis of the
// tile then.
bool is_single(const Site& site, AxisId axis) {
  return site.program[axis].tile == 1 && has_position(site.program, site.phase, axis);
}

// Checks one expression against the axes over which it is evaluated.
class Operands {
 public:
  Operands(const Site& site,
           std::string_view rule,
           const Expr& value,
           const std::vector<AxisId>& axes,
           Report& report)
      : site_(site), rule_(rule), value_(value), axes_(axes), report_(report) {}

  void check() {
    for (const ExprNode& node : value_.nodes) {
      if (node.op == ExprOp::Buffer) buffer(site_.program[node.buffer]);
      if (node.op == ExprOp::Tensor) tensor(site_.program[node.tensor]);
      if (node.op == ExprOp::Inside) mask(node.axis);
    }
  }

  /// Fragments must lie where `layout`, of a tile with all the axes, wants them.
  void check_layouts(const FragmentLayout& layout) {
    for_each_buffer(value_, [&](BufferId id, Use) {
      const Buffer& operand = site_.program[id];
      if (operand.space != Space::Fragment) return;
      if (is_projection(operand.fragment, layout, operand.axes)) return;
      FragmentLayout needed = layout;
      for (const AxisId axis : axes_) {
        if (!has(operand.axes, axis)) needed = without_axis(needed, axis);
      }
      report_.add(rule_,
                  site_.who(),
                  "operand {}: got {{ {} }}, need {{ {} }}",
                  operand.name,
                  print(site_.program, operand.fragment),
                  print(site_.program, needed));
    });
  }

 private:
  void buffer(const Buffer& operand) {
    for (const AxisId axis : operand.axes) {
      if (!has(axes_, axis)) foreign(operand.name, axis);
    }
  }

  void tensor(const Tensor& operand) {
    if (operand.access == Access::Write) {
      report_.add(rule_,
                  site_.who(),
                  "got tensor {} that is write only, need read or readwrite",
                  operand.name);
    }
    for (const AxisId axis : operand.axes) {
      if (!has(axes_, axis) && !is_single(site_, axis)) foreign(operand.name, axis);
      if (!has_position(site_.program, site_.phase, axis)) unplaced(operand.name, axis);
    }
  }

  void mask(AxisId axis) {
    if (!has(axes_, axis) && !is_single(site_, axis)) foreign("inside", axis);
    if (!has_position(site_.program, site_.phase, axis)) unplaced("inside", axis);
  }

  void foreign(std::string_view operand, AxisId axis) {
    report_.add(rule_,
                site_.who(),
                "operand {}: got axis {}, need axes of {}",
                operand,
                site_.program[axis].name,
                axes_text(site_.program, axes_));
  }

  void unplaced(std::string_view operand, AxisId axis) {
    report_.add(rule_,
                site_.who(),
                "operand {}: got loop axis {} outside its loop, need it walked "
                "here",
                operand,
                site_.program[axis].name);
  }

  const Site& site_;
  std::string_view rule_;
  const Expr& value_;
  const std::vector<AxisId>& axes_;
  Report& report_;
};

// The axes over which a reduction runs: those of its operands, in order of appearance.
std::vector<AxisId> union_of_axes(const Site& site, const Expr& value) {
  std::vector<AxisId> axes;
  for (const ExprNode& node : value.nodes) {
    if (node.op == ExprOp::Buffer) {
      for (const AxisId axis : site.program[node.buffer].axes) {
        if (!has(axes, axis)) axes.push_back(axis);
      }
    } else if (node.op == ExprOp::Tensor) {
      for (const AxisId axis : site.program[node.tensor].axes) {
        if (!has(axes, axis) && !is_single(site, axis)) axes.push_back(axis);
      }
    }
  }
  return axes;
}

bool has_all(const std::vector<AxisId>& axes, const std::vector<AxisId>& needed) {
  return std::ranges::all_of(needed, [&](AxisId axis) { return has(axes, axis); });
}

// The first fragment among the operands that has every axis: its layout says who computes which
// element.
const Buffer* widest(const Program& program, const Expr& value, const std::vector<AxisId>& axes) {
  const Buffer* found = nullptr;
  for_each_buffer(value, [&](BufferId id, Use) {
    const Buffer& operand = program[id];
    const bool wide = operand.space == Space::Fragment && has_all(operand.axes, axes);
    if (found == nullptr && wide) found = &operand;
  });
  return found;
}

bool reads_fragments(const Program& program, const Expr& value) {
  bool reads = false;
  for_each_buffer(value,
                  [&](BufferId id, Use) { reads = reads || program[id].space == Space::Fragment; });
  return reads;
}

void check_shared_result(const Site& site, const Map& map, Operands& operands, Report& report) {
  const Buffer& to = site.program[map.to];
  if (const Buffer* wide = widest(site.program, map.value, to.axes)) {
    operands.check_layouts(wide->fragment);
  } else if (reads_fragments(site.program, map.value)) {
    report.add("map",
               site.who(),
               "got fragments that lack axes of {}, need one with all of {}",
               to.name,
               axes_text(site.program, to.axes));
  }
}

void check_dropped(const Site& site,
                   const Buffer& to,
                   const std::vector<AxisId>& axes,
                   Report& report) {
  if (!has_all(axes, to.axes)) {
    report.add("reduce",
               site.who(),
               "got a result over {}, need axes of the operands {}",
               axes_text(site.program, to.axes),
               axes_text(site.program, axes));
  } else if (axes.size() == to.axes.size()) {
    report.add("reduce",
               site.who(),
               "got a result with every axis of {}, need one axis less",
               axes_text(site.program, axes));
  }
}

void check_reduced_layout(const Site& site, const Buffer& to, const Buffer& wide, Report& report) {
  if (is_projection(to.fragment, wide.fragment, to.axes)) return;
  FragmentLayout needed = wide.fragment;
  for (const AxisId axis : wide.axes) {
    if (!has(to.axes, axis)) needed = without_axis(needed, axis);
  }
  report.add("reduce",
             site.who(),
             "result {}: got {{ {} }}, need {{ {} }}",
             to.name,
             print(site.program, to.fragment),
             print(site.program, needed));
}

}  // namespace

void verify_value(const Site& site, const Map& map, Report& report) {
  const Buffer& to = site.program[map.to];
  Operands operands(site, "map", map.value, to.axes, report);
  operands.check();
  if (to.space == Space::Fragment) {
    operands.check_layouts(to.fragment);
  } else {
    check_shared_result(site, map, operands, report);
  }
}

void verify_value(const Site& site, const Reduce& reduce, Report& report) {
  const Buffer& to = site.program[reduce.to];
  const std::vector<AxisId> axes = union_of_axes(site, reduce.value);
  Operands operands(site, "reduce", reduce.value, axes, report);
  operands.check();
  check_dropped(site, to, axes, report);
  if (to.space != Space::Fragment) {
    report.add("reduce", site.who(), "got {} in shared memory, need a fragment", to.name);
    return;
  }
  const Buffer* wide = widest(site.program, reduce.value, axes);
  if (wide == nullptr) {
    report.add("reduce",
               site.who(),
               "got no fragment with all of {}, need one to say who adds what",
               axes_text(site.program, axes));
    return;
  }
  operands.check_layouts(wide->fragment);
  check_reduced_layout(site, to, *wide, report);
}

}  // namespace orrery::kernel::detail
