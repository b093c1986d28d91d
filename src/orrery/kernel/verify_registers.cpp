// Rules registers and memory: what is alive at once fits a thread, all shared buffers fit a CTA.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/geometry.h"
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

// The statements, counted over all phases, between which a fragment's value must be kept.
struct Life {
  int64_t first = -1;
  int64_t last = -1;
  int64_t registers = 0;
  StageId stage;  // whose threads hold it
};

int64_t registers_of(const Buffer& buffer) {
  const int64_t bits = buffer.fragment.count(Place::Register) * element_bits(buffer.dtype);
  return (bits + 31) / 32;
}

// A value that was there before a loop and is read in it is needed by the next trip too.
void extend(Life& life, int64_t now, Use use, const Phase& phase, int64_t phase_begin) {
  if (life.first < 0) life.first = now;
  life.last = std::max(life.last, now);
  if (phase.loop && life.first < phase_begin && use != Use::Write) {
    const auto length = static_cast<int64_t>(phase.body.size());
    life.last = std::max(life.last, phase_begin + length - 1);
  }
}

std::vector<Life> lives_of(const Program& program) {
  std::vector<Life> lives(program.buffers.size());
  int64_t now = 0;
  for (const Phase& phase : program.phases) {
    const int64_t begin = now;
    for (const Statement& statement : phase.body) {
      for_each_buffer(statement.op, [&](BufferId id, Use use) {
        if (program[id].space != Space::Fragment) return;
        Life& life = lives[id.index()];
        if (life.first < 0) {
          life.registers = registers_of(program[id]);
          life.stage = statement.stage;
        }
        extend(life, now, use, phase, begin);
      });
      ++now;
    }
  }
  return lives;
}

// Registers alive while statement `now` runs. A result may take the registers of operands that die
// there, since maps go element by element.
int64_t alive(const Statement& statement, const std::vector<Life>& lives, int64_t now) {
  int64_t sum = 0;
  for (const Life& life : lives) {
    const bool holds = life.first >= 0 && life.stage == statement.stage;
    if (holds && life.first <= now && now <= life.last) sum += life.registers;
  }
  const auto* map = std::get_if<Map>(&statement.op);
  if (map == nullptr || lives[map->to.index()].first != now) return sum;
  int64_t dying = 0;
  for_each_buffer(map->value, [&](BufferId id, Use) {
    if (id != map->to && lives[id.index()].last == now) {
      dying = std::max(dying, lives[id.index()].registers);
    }
  });
  return sum - std::min(dying, lives[map->to.index()].registers);
}

int64_t registers_allowed(const Program& program, const Stage& stage) {
  const TargetLimits& limits = target_limits(program.target);
  if (stage.registers > 0) return std::min(stage.registers, limits.registers_per_thread);
  int64_t threads = 0;
  for (const Stage& each : program.stages) threads += each.warps * limits.warp_size;
  return std::min(limits.registers_per_thread,
                  limits.registers_per_core / (threads * program.ctas_per_sm));
}

}  // namespace

void verify_registers(const Program& program, Report& report) {
  const std::vector<Life> lives = lives_of(program);
  int64_t now = 0;
  int64_t worst = 0;
  for_each_statement(program, [&](const Site& site) {
    const int64_t needed = alive(site.statement, lives, now++);
    const int64_t allowed = registers_allowed(program, site.stage());
    if (needed > allowed && needed > worst) {
      worst = needed;
      report.add("registers",
                 site.who(),
                 "got {} registers a thread for fragments alive here, need at most {}",
                 needed,
                 allowed);
    }
  });
}

void verify_memory(const Program& program, Report& report) {
  const int64_t total = shared_plan(program).total;
  const int64_t largest = target_limits(program.target).shared_per_cta;
  if (total > largest) {
    report.add("memory",
               "kernel",
               "got {} bytes of shared memory, need at most {} on {}",
               total,
               largest,
               name(program.target));
  }
}

}  // namespace orrery::kernel::detail
