// Rules stage and ring: who may do what, whose registers hold a fragment, who fills a ring.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

// PTX ISA, setmaxnreg: 24 to 256 in steps of 8.
constexpr int64_t kBudgetStep = 8;
constexpr int64_t kLeastBudget = 24;

int64_t round_up(int64_t value, int64_t step) {
  return (value + step - 1) / step * step;
}

void check_budget(const Program& program, const Stage& stage, Report& report) {
  if (program.target != Target::Sm90a || stage.registers == 0) return;
  if (stage.registers % kBudgetStep == 0 && stage.registers >= kLeastBudget) return;
  report.add("stage",
             fmt::format("stage {}", stage.name),
             "got {} registers, need a multiple of {} from {} on",
             stage.registers,
             kBudgetStep,
             kLeastBudget);
}

// All threads must fit a CTA, and all register budgets the core, for as many CTAs as are promised.
void check_totals(const Program& program, Report& report) {
  const TargetLimits& limits = target_limits(program.target);
  int64_t threads = 0;
  int64_t registers = 0;
  for (const Stage& stage : program.stages) {
    threads += stage.warps * limits.warp_size;
    registers += round_up(stage.warps, limits.warpgroup) * limits.warp_size * stage.registers;
  }
  if (threads > limits.threads_per_cta) {
    report.add(
        "stage", "kernel", "got {} threads, need at most {}", threads, limits.threads_per_cta);
  }
  if (registers * program.ctas_per_sm > limits.registers_per_core) {
    report.add("stage",
               "kernel",
               "got budgets of {} registers for {} CTAs, need at most {}",
               registers * program.ctas_per_sm,
               program.ctas_per_sm,
               limits.registers_per_core);
  }
}

void check_producer(const Site& site, Report& report) {
  if (site.stage().kind != StageKind::Producer) return;
  const auto* load = std::get_if<Load>(&site.statement.op);
  if (load != nullptr && site.program[load->to].space == Space::Shared) return;
  report.add("stage", site.who(), "got this of a producer, need loads into shared memory only");
}

// Which stage owns each buffer: fragments are the registers of one stage's threads, and a shared
// buffer is filled by one stage.
class Owners {
 public:
  explicit Owners(const Program& program) : owner_(program.buffers.size()) {}

  void visit(const Site& site, BufferId id, Use use, Report& report) {
    const Buffer& buffer = site.program[id];
    const bool fragment = buffer.space == Space::Fragment;
    if (!fragment && use == Use::Read) return;
    StageId& owner = owner_[id.index()];
    if (owner == site.statement.stage) return;
    if (owner.valid()) {
      report.add("stage",
                 site.who(),
                 "got buffer {} of stage {}, need one stage for {}",
                 buffer.name,
                 site.program[owner].name,
                 fragment ? "the registers of a fragment" : "all writes of a shared buffer");
      return;
    }
    owner = site.statement.stage;
    const int64_t warps = buffer.fragment.count(Place::Warp);
    if (fragment && warps != site.stage().warps) {
      report.add("layout",
                 fmt::format("buffer {}", buffer.name),
                 "got {} warps, need the {} of stage {}",
                 warps,
                 site.stage().warps,
                 site.stage().name);
    }
  }

 private:
  std::vector<StageId> owner_;
};

// A ring is filled by loads that run ahead: of a producer, or of the only stage there is. (The ring
// of a staging buffer is emptied by the hardware instead.)
void check_ring(const Site& site, BufferId id, Use use, Report& report) {
  const Buffer& buffer = site.program[id];
  if (buffer.ring == 1 || use == Use::Read || use == Use::Staging) return;
  const bool ahead = site.stage().kind == StageKind::Producer || site.program.stages.size() == 1;
  if (ahead && std::holds_alternative<Load>(site.statement.op)) return;
  report.add("ring",
             site.who(),
             "got a ring of {}, need a load by a producer or by the only stage",
             buffer.ring);
}

}  // namespace

void verify_stages(const Program& program, Report& report) {
  for (const Stage& stage : program.stages) check_budget(program, stage, report);
  check_totals(program, report);
  Owners owners(program);
  for_each_statement(program, [&](const Site& site) {
    check_producer(site, report);
    for_each_buffer(site.statement.op, [&](BufferId id, Use use) {
      owners.visit(site, id, use, report);
      check_ring(site, id, use, report);
    });
  });
}

}  // namespace orrery::kernel::detail
