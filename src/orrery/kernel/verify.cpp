// The verifier of kernel programs: runs the rules and collects what offends them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify.h"

#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel {
namespace detail {
namespace {

void verify_statement(const Site& site, Report& report) {
  const Op& op = site.statement.op;
  if (const auto* load = std::get_if<Load>(&op)) {
    verify_copy(site, *load, report);
  } else if (const auto* store = std::get_if<Store>(&op)) {
    verify_copy(site, *store, report);
  } else if (const auto* map = std::get_if<Map>(&op)) {
    verify_value(site, *map, report);
  } else if (const auto* reduce = std::get_if<Reduce>(&op)) {
    verify_value(site, *reduce, report);
  } else if (const auto* mma = std::get_if<Mma>(&op)) {
    verify_mma(site, *mma, report);
  }
}

}  // namespace

Result<void> Report::result(const Program& program) && {
  if (notes_.empty()) return {};
  Error error = make_error(ErrorCode::InvalidInput,
                           "[kernel.verify] kernel {}: got {} offender{}, need none",
                           program.name,
                           notes_.size(),
                           notes_.size() == 1 ? "" : "s");
  error.notes = std::move(notes_);
  return error;
}

int64_t element_bits(DType type) {
  return static_cast<int64_t>(element_size(type).value() * 8);
}

std::string axes_text(const Program& program, const std::vector<AxisId>& axes) {
  std::string text = "[";
  for (const AxisId axis : axes) {
    if (text.size() > 1) text += ", ";
    text += program[axis].name;
  }
  return text + "]";
}

}  // namespace detail

Result<void> verify(const Program& program) {
  detail::Report report;
  detail::verify_structure(program, report);
  if (!report.clean()) return std::move(report).result(program);
  detail::verify_axes(program, report);
  detail::verify_buffers(program, report);
  // What is alive and where it lies can only be counted for tiles of sane sizes.
  if (report.clean()) {
    detail::verify_registers(program, report);
    detail::verify_memory(program, report);
  }
  detail::verify_stages(program, report);
  detail::for_each_statement(
      program, [&](const detail::Site& site) { detail::verify_statement(site, report); });
  detail::verify_flow(program, report);
  return std::move(report).result(program);
}

}  // namespace orrery::kernel
