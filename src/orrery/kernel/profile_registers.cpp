// Registers of a CTA: stated by the stages, or estimated from the fragments that live together.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "orrery/kernel/limits.h"
#include "orrery/kernel/profile_internal.h"

namespace orrery::kernel {
namespace {

constexpr int64_t kBase = 24;  // addresses, extents, loop state

void visit_buffers(const Expr& value, auto&& visit) {
  for (const ExprNode& node : value.nodes) {
    if (node.op == ExprOp::Buffer) {
      visit(node.buffer);
    }
  }
}

/// Calls `visit` for every buffer that the operation reads or writes.
void visit_buffers(const Op& op, auto&& visit) {
  if (const auto* load = std::get_if<Load>(&op)) {
    visit(load->to);
  } else if (const auto* store = std::get_if<Store>(&op)) {
    visit(store->from);
  } else if (const auto* map = std::get_if<Map>(&op)) {
    visit(map->to);
    visit_buffers(map->value, visit);
  } else if (const auto* reduce = std::get_if<Reduce>(&op)) {
    visit(reduce->to);
    visit_buffers(reduce->value, visit);
  } else if (const auto* mma = std::get_if<Mma>(&op)) {
    visit(mma->acc);
    visit(mma->first);
    visit(mma->second);
  }
}

/// First and last statement at which a buffer is alive; a use inside a loop holds for the whole
/// loop when the buffer is also used outside of it.
struct Life {
  int64_t first = -1;
  int64_t last = -1;
  int64_t phase = -1;
  bool consumed = false;  // the last use is an operand of a map, whose result takes its registers
};

struct Span {
  int64_t begin = 0;
  int64_t end = 0;  // last statement of the phase
  bool loop = false;
};

void extend(Life& life, int64_t at, int64_t phase, const std::vector<Span>& spans) {
  if (life.first < 0) {
    life = {at, at, phase, false};
    return;
  }
  life.last = at;
  life.consumed = false;
  if (phase != life.phase && spans[static_cast<size_t>(phase)].loop) {
    life.last = spans[static_cast<size_t>(phase)].end;
  }
  life.phase = phase;
}

int64_t registers_of(const Buffer& buffer) {
  const double bytes = static_cast<double>(buffer.fragment.count(Place::Register)) *
                       element_size(buffer.dtype).value();
  return static_cast<int64_t>(std::ceil(bytes / 4));
}

/// A map works element by element: an operand that nobody reads afterwards gives its registers to
/// the result as it goes (ptxas does so: 117 registers for 64 values of x + r, not 128 and more).
void note_consumed(const Op& op, int64_t at, std::vector<Life>& lives) {
  const auto* map = std::get_if<Map>(&op);
  if (map == nullptr) {
    return;
  }
  visit_buffers(map->value, [&](BufferId id) {
    Life& life = lives[id.index()];
    life.consumed = id != map->to && life.last == at;
  });
}

std::vector<Life> lives_of(const Program& program, StageId stage, int64_t& statements) {
  std::vector<Span> spans;
  int64_t at = 0;
  for (const Phase& phase : program.phases) {
    const auto size = static_cast<int64_t>(phase.body.size());
    spans.push_back({at, at + size - 1, phase.loop.has_value()});
    at += size;
  }
  statements = at;
  std::vector<Life> lives(program.buffers.size());
  at = 0;
  for (size_t p = 0; p < program.phases.size(); ++p) {
    for (const Statement& statement : program.phases[p].body) {
      if (statement.stage == stage) {
        visit_buffers(statement.op, [&](BufferId id) {
          if (program[id].space == Space::Fragment) {
            extend(lives[id.index()], at, static_cast<int64_t>(p), spans);
          }
        });
        note_consumed(statement.op, at, lives);
      }
      ++at;
    }
  }
  return lives;
}

}  // namespace

int64_t live_registers(const Program& program, StageId stage) {
  int64_t statements = 0;
  const std::vector<Life> lives = lives_of(program, stage, statements);
  std::vector<int64_t> change(static_cast<size_t>(statements) + 1, 0);
  for (size_t b = 0; b < lives.size(); ++b) {
    if (lives[b].first >= 0) {
      change[static_cast<size_t>(lives[b].first)] += registers_of(program.buffers[b]);
      const int64_t freed = lives[b].last + (lives[b].consumed ? 0 : 1);
      change[static_cast<size_t>(freed)] -= registers_of(program.buffers[b]);
    }
  }
  int64_t most = 0;
  int64_t now = 0;
  for (const int64_t step : change) {
    now += step;
    most = std::max(most, now);
  }
  return most;
}

int64_t registers_of_cta(const Counting& counting, int64_t threads) {
  const Program& program = counting.program;
  const machine::Core& core = counting.chip.core;
  const int64_t step = std::max<int64_t>(1, core.register_granularity);
  const int64_t most = target_limits(program.target).registers_per_thread;
  // The compiler is told the budget: what does not fit is spilled, not allocated.
  const int64_t budget = core.registers / (threads * std::max<int64_t>(1, program.ctas_per_sm));
  int64_t needed = 0;
  int64_t stated = 0;
  for (size_t s = 0; s < program.stages.size(); ++s) {
    needed = std::max(needed, kBase + live_registers(program, StageId::from_index(s)));
    stated += program.stages[s].registers * program.stages[s].warps * warp_size(program.target);
  }
  const int64_t cap = std::min(most, budget / step * step);
  const int64_t per_thread = std::min(cap, (needed + step - 1) / step * step);
  return std::max(stated, per_thread * threads);
}

}  // namespace orrery::kernel
