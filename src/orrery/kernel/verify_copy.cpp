// Rules load and store: tiles move between tensors and buffers of the same type and axes, and no
// two units write one element.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

// A tensor copy moves boxes whose rows are multiples of 16 bytes (CUDA driver API,
// cuTensorMapEncodeTiled).
constexpr int64_t kCopyBits = 16 * 8;

// The tensor's axes, in order, without some grid axes of tile 1. Registers have no order of axes.
bool axes_match(const Program& program, const Tensor& tensor, const Buffer& buffer) {
  size_t matched = 0;
  for (const AxisId axis : tensor.axes) {
    const bool next = buffer.space == Space::Shared
                          ? matched < buffer.axes.size() && buffer.axes[matched] == axis
                          : has(buffer.axes, axis);
    if (next) {
      ++matched;
    } else if (program[axis].kind != AxisKind::Grid || program[axis].tile != 1) {
      return false;
    }
  }
  return matched == buffer.axes.size();
}

void check_tile(const Site& site,
                std::string_view rule,
                const Tensor& tensor,
                const Buffer& buffer,
                Report& report) {
  if (!axes_match(site.program, tensor, buffer)) {
    report.add(rule,
               site.who(),
               "buffer {}: got axes {}, need those of {} {}{}, only grid axes of tile 1 left out",
               buffer.name,
               axes_text(site.program, buffer.axes),
               tensor.name,
               axes_text(site.program, tensor.axes),
               buffer.space == Space::Shared ? " in order" : "");
  }
  if (tensor.dtype != buffer.dtype) {
    report.add(rule,
               site.who(),
               "buffer {}: got type {}, need {} as {} has",
               buffer.name,
               name(buffer.dtype),
               name(tensor.dtype),
               tensor.name);
  }
}

// Every axis of the tensor needs a position: a loop axis has one only in its own loop.
void check_positions(const Site& site,
                     std::string_view rule,
                     const Tensor& tensor,
                     Report& report) {
  for (const AxisId axis : tensor.axes) {
    if (has_position(site.program, site.phase, axis)) continue;
    report.add(rule,
               site.who(),
               "got loop axis {} of {} outside its loop, need it walked here",
               site.program[axis].name,
               tensor.name);
  }
}

void check_tensor_copy(const Site& site, const Buffer& buffer, Report& report) {
  const bool tensor_copy = site.program.target == Target::Sm90a &&
                           site.stage().kind == StageKind::Producer &&
                           buffer.space == Space::Shared && !buffer.axes.empty();
  if (!tensor_copy) return;
  const int64_t panel = buffer.shared.panel;
  const int64_t inner = panel > 0 ? panel : site.program[buffer.axes.back()].tile;
  if (inner * element_bits(buffer.dtype) % kCopyBits != 0) {
    report.add("load",
               site.who(),
               "buffer {}: got rows of {} elements, need a multiple of 16 bytes",
               buffer.name,
               inner);
  }
  if (buffer.shared.pad > 0) {
    report.add("load",
               site.who(),
               "buffer {}: got pad {}, need none for a tensor copy",
               buffer.name,
               buffer.shared.pad);
  }
}

// Is each unit alone with its part of the tensor along grid axis `axis`? Yes if the tensor has the
// axis, or a loop axis whose walk is divided among its tiles, or if there is only one tile.
bool divides(const Program& program, const Tensor& tensor, AxisId axis) {
  const Axis& a = program[axis];
  if (a.extent.symbol.empty() && a.extent.fixed <= a.tile) return true;
  return std::ranges::any_of(
      tensor.axes, [&](AxisId each) { return each == axis || program[each].parts == axis; });
}

void check_owned(const Site& site, const Tensor& tensor, Report& report) {
  for (size_t i = 0; i < site.program.axes.size(); ++i) {
    const AxisId axis = AxisId::from_index(i);
    if (site.program[axis].kind == AxisKind::Grid && !divides(site.program, tensor, axis)) {
      report.add("store",
                 site.who(),
                 "got {} without grid axis {}, need it: units would write the same elements",
                 tensor.name,
                 site.program[axis].name);
    }
  }
  if (site.phase.loop && !has(tensor.axes, *site.phase.loop)) {
    report.add("store",
               site.who(),
               "got {} without loop axis {}, need it: each trip would "
               "overwrite the last",
               tensor.name,
               site.program[*site.phase.loop].name);
  }
}

void check_staging(const Site& site, const Tensor& tensor, const Buffer& via, Report& report) {
  if (via.space != Space::Shared) {
    report.add("store", site.who(), "got {} in registers, need staging in shared memory", via.name);
    return;
  }
  check_tile(site, "store", tensor, via, report);
}

}  // namespace

void verify_copy(const Site& site, const Load& load, Report& report) {
  const Tensor& tensor = site.program[load.from];
  const Buffer& buffer = site.program[load.to];
  if (tensor.access == Access::Write) {
    report.add("load",
               site.who(),
               "got tensor {} that is write only, need read or readwrite",
               tensor.name);
  }
  check_tile(site, "load", tensor, buffer, report);
  check_positions(site, "load", tensor, report);
  check_tensor_copy(site, buffer, report);
}

void verify_copy(const Site& site, const Store& store, Report& report) {
  const Tensor& tensor = site.program[store.to];
  const Buffer& buffer = site.program[store.from];
  if (tensor.access == Access::Read) {
    report.add("store",
               site.who(),
               "got tensor {} that is read only, need write or readwrite",
               tensor.name);
  }
  if (buffer.space != Space::Fragment) {
    report.add("store", site.who(), "got {} in shared memory, need a fragment", buffer.name);
  } else {
    check_tile(site, "store", tensor, buffer, report);
  }
  if (store.via) check_staging(site, tensor, site.program[*store.via], report);
  check_positions(site, "store", tensor, report);
  check_owned(site, tensor, report);
}

}  // namespace orrery::kernel::detail
