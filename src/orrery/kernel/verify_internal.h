// What the rules of the verifier share: the report, and who uses which buffer how.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/limits.h"
#include "orrery/kernel/print.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel::detail {

/// Collects offenders. Nothing is allocated until the first.
class Report {
 public:
  template <class... Args>
  void add(std::string_view rule,
           std::string_view who,
           fmt::format_string<Args...> format,
           Args&&... args) {
    notes_.push_back(fmt::format(
        "[kernel.verify.{}] {}: {}", rule, who, fmt::format(format, std::forward<Args>(args)...)));
  }

  bool clean() const { return notes_.empty(); }

  Result<void> result(const Program& program) &&;

 private:
  std::vector<std::string> notes_;
};

/// One statement where it stands.
struct Site {
  const Program& program;
  const Phase& phase;
  const Statement& statement;

  const Stage& stage() const { return program[statement.stage]; }

  std::string who() const { return fmt::format("'{}'", print(program, statement)); }
};

/// Calls `visit(site)` for every statement, in order.
template <class Visit>
void for_each_statement(const Program& program, Visit visit) {
  for (const Phase& phase : program.phases) {
    for (const Statement& statement : phase.body) visit(Site{program, phase, statement});
  }
}

enum class Use { Read, Write, Update, Staging };

/// Calls `visit(buffer, use)` for the buffers of an expression (reads) and of an operation: reads
/// first, then writes.
template <class Visit>
void for_each_buffer(const Expr& expression, Visit visit) {
  for (const ExprNode& node : expression.nodes) {
    if (node.op == ExprOp::Buffer) visit(node.buffer, Use::Read);
  }
}

template <class Visit>
void for_each_buffer(const Op& op, Visit visit) {
  if (const auto* load = std::get_if<Load>(&op)) {
    visit(load->to, Use::Write);
  } else if (const auto* store = std::get_if<Store>(&op)) {
    visit(store->from, Use::Read);
    if (store->via) visit(*store->via, Use::Staging);
  } else if (const auto* map = std::get_if<Map>(&op)) {
    for_each_buffer(map->value, visit);
    visit(map->to, Use::Write);
  } else if (const auto* reduce = std::get_if<Reduce>(&op)) {
    for_each_buffer(reduce->value, visit);
    visit(reduce->to, Use::Write);
  } else if (const auto* mma = std::get_if<Mma>(&op)) {
    visit(mma->first, Use::Read);
    visit(mma->second, Use::Read);
    visit(mma->acc, Use::Update);
  }
}

inline bool has(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Has `axis` a position in this phase? A loop axis has one only where it is walked.
inline bool has_position(const Program& program, const Phase& phase, AxisId axis) {
  return program[axis].kind != AxisKind::Loop || phase.loop == axis;
}

/// Bits of one element.
int64_t element_bits(DType type);

/// "[m, k]", for messages.
std::string axes_text(const Program& program, const std::vector<AxisId>& axes);

// The rules, each file in the order of verify.h.
void verify_structure(const Program& program, Report& report);
void verify_axes(const Program& program, Report& report);
void verify_buffers(const Program& program, Report& report);
void verify_stages(const Program& program, Report& report);
void verify_registers(const Program& program, Report& report);
void verify_memory(const Program& program, Report& report);
void verify_flow(const Program& program, Report& report);
void verify_copy(const Site& site, const Load& load, Report& report);
void verify_copy(const Site& site, const Store& store, Report& report);
void verify_value(const Site& site, const Map& map, Report& report);
void verify_value(const Site& site, const Reduce& reduce, Report& report);
void verify_mma(const Site& site, const Mma& mma, Report& report);

}  // namespace orrery::kernel::detail
