// Profiles of programs: resolves extents, counts each phase, and puts units of the same trips
// together.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/profile.h"

#include <algorithm>
#include <map>

#include "orrery/kernel/geometry.h"
#include "orrery/kernel/occupancy.h"
#include "orrery/kernel/profile_internal.h"

namespace orrery::kernel {
namespace {

bool uses(const Program& program, auto&& matches) {
  for (const Phase& phase : program.phases) {
    for (const Statement& statement : phase.body) {
      if (matches(statement.op)) {
        return true;
      }
    }
  }
  return false;
}

/// The name that rules and reports know the kernel's kind by.
std::string family_of(const Program& program) {
  const bool multiplies =
      uses(program, [](const Op& op) { return std::holds_alternative<Mma>(op); });
  const bool reduces =
      uses(program, [](const Op& op) { return std::holds_alternative<Reduce>(op); });
  if (multiplies) {
    return reduces ? "attention" : "gemm";
  }
  return reduces ? "row_norm" : "pointwise";
}

Result<Counting> resolve(const Program& program,
                         const Extents& extents,
                         const machine::Chip& chip) {
  Counting c{.program = program, .chip = chip, .map = {}, .extents = {}, .tiles = {}};
  for (size_t a = 0; a < program.axes.size(); ++a) {
    const AxisId axis = AxisId::from_index(a);
    ORR_TRY(const int64_t extent, extent_of(program, axis, extents));
    ORR_TRY(const int64_t tiles, tiles_of(program, axis, extents));
    c.extents.push_back(extent);
    c.tiles.push_back(tiles);
  }
  ORR_TRY(c.map, unit_map(program, extents));
  for (size_t i = 0; i < c.map.order.size(); ++i) {
    c.tiles[c.map.order[i].index()] = c.map.tiles[i];
  }
  return c;
}

// ---- phases

void add(PipeWork& total, const PipeWork& more) {
  if (more.tensor.value() > 0) {
    total.tensor_type = more.tensor_type;
  }
  total.tensor += more.tensor;
  total.issue += more.issue;
  total.fma += more.fma;
  total.special += more.special;
  total.shared_read += more.shared_read;
  total.shared_write += more.shared_write;
  total.l2_read += more.l2_read;
  total.l2_write += more.l2_write;
}

/// Statements of a stage follow each other, so their chains add up; loads are issued together and
/// wait once.
void add(Chain& total, const Chain& more) {
  total.memory = std::max(total.memory, more.memory);
  total.shared += more.shared;
  total.barriers += more.barriers;
  total.instructions += more.instructions;
}

/// Does a statement of the body other than a product read what a product of the body accumulates?
/// Then the matrix pipe and the others take turns within a trip instead of running side by side.
bool takes_turns(const Phase& phase) {
  const auto reads = [&](const Expr& value, BufferId acc) {
    return std::any_of(value.nodes.begin(), value.nodes.end(), [&](const ExprNode& node) {
      return node.op == ExprOp::Buffer && node.buffer == acc;
    });
  };
  for (const Statement& product : phase.body) {
    const auto* mma = std::get_if<Mma>(&product.op);
    if (mma == nullptr) {
      continue;
    }
    for (const Statement& other : phase.body) {
      const auto* map = std::get_if<Map>(&other.op);
      const auto* reduce = std::get_if<Reduce>(&other.op);
      if ((map != nullptr && reads(map->value, mma->acc)) ||
          (reduce != nullptr && reads(reduce->value, mma->acc))) {
        return true;
      }
    }
  }
  return false;
}

int64_t ring_of(const Program& program, const Phase& phase) {
  int64_t ring = 1;
  bool any = false;
  for (const Statement& statement : phase.body) {
    const auto* load = std::get_if<Load>(&statement.op);
    if (load != nullptr && program[load->to].space == Space::Shared) {
      const int64_t depth = program[load->to].ring;
      ring = any ? std::min(ring, depth) : depth;
      any = true;
    }
  }
  return ring;
}

/// Cycles that the matrix pipe and the instructions of one warp take after each other.
Cycles in_turn(const Counting& c, const PipeWork& work, double issue_per_warp) {
  const auto rate = c.chip.core.tensor.find(work.tensor_type);
  const double tensor = rate == c.chip.core.tensor.end() ? 0 : (work.tensor / rate->second).value();
  return Cycles(tensor + issue_per_warp);
}

ProfilePhase count_phase(const Counting& c, const Phase& phase) {
  ProfilePhase result;
  result.name = phase.loop ? "loop " + c.program[*phase.loop].name : "once";
  result.ring = phase.loop ? ring_of(c.program, phase) : 1;
  const StatementCount overhead = count_phase_overhead(c, phase);
  result.work = overhead.work;
  result.chain = overhead.chain;
  double issue_per_warp = overhead.issue_per_warp;
  for (const Statement& statement : phase.body) {
    const StatementCount count = count_statement(c, statement);
    add(result.work, count.work);
    add(result.chain, count.chain);
    if (c.program[statement.stage].kind == StageKind::Consumer) {
      issue_per_warp += count.issue_per_warp;
    }
  }
  if (takes_turns(phase)) {
    result.chain.fixed = in_turn(c, result.work, issue_per_warp);
    result.chain.instructions = 0;  // they are among the warp's instructions
  }
  return result;
}

// ---- kinds of units

/// Trips of each phase for units whose part of the walks is `part`.
std::vector<int64_t> trips_of(const Counting& c, int64_t part) {
  std::vector<int64_t> trips;
  for (const Phase& phase : c.program.phases) {
    if (!phase.loop) {
      trips.push_back(1);
      continue;
    }
    const Axis& axis = c.program[*phase.loop];
    const int64_t tiles = c.tiles[phase.loop->index()];
    if (!axis.parts) {
      trips.push_back(tiles);
      continue;
    }
    const int64_t parts = c.tiles[axis.parts->index()];
    const int64_t step = (tiles + parts - 1) / parts;
    trips.push_back(std::clamp<int64_t>(tiles - part * step, 0, step));
  }
  return trips;
}

/// The grid axis that walks are divided among, if any.
std::optional<AxisId> parts_axis(const Program& program) {
  for (const Phase& phase : program.phases) {
    if (phase.loop && program[*phase.loop].parts) {
      return program[*phase.loop].parts;
    }
  }
  return std::nullopt;
}

std::vector<UnitKind> count_kinds(const Counting& c) {
  std::vector<ProfilePhase> phases;
  for (const Phase& phase : c.program.phases) {
    phases.push_back(count_phase(c, phase));
  }
  const auto axis = parts_axis(c.program);
  const int64_t parts = axis ? c.tiles[axis->index()] : 1;
  const auto per_part = static_cast<double>(c.map.units()) / static_cast<double>(parts);
  std::vector<UnitKind> kinds;
  std::vector<int64_t> before;
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<int64_t> trips = trips_of(c, part);
    if (!kinds.empty() && trips == before) {
      kinds.back().count += per_part;
      continue;
    }
    UnitKind kind{.count = per_part, .phases = phases};
    for (size_t p = 0; p < phases.size(); ++p) {
      kind.phases[p].trips = static_cast<double>(trips[p]);
    }
    kinds.push_back(std::move(kind));
    before = std::move(trips);
  }
  return kinds;
}

Error does_not_fit(const Program& program, const CtaResources& cta, OccupancyLimit limit) {
  return make_error(
      ErrorCode::Infeasible,
      "[kernel.profile] a CTA of kernel '{}' does not fit an SM ({}): got {} threads, "
      "{} registers and {} bytes of shared memory",
      program.name,
      name(limit),
      cta.threads,
      cta.registers,
      cta.shared.value());
}

/// The overlap of core work with memory traffic in a program without rings. The phases of one CTA
/// follow each other, so a lone CTA pays the sum (p = 1); r resident CTAs wait at different places,
/// and the more there are, the nearer they come to the larger of the two: p = r, up to where it
/// makes no difference. No constant is fitted here. Programs with rings leave it to the machine.
double interleaving(const Program& program, int64_t resident) {
  constexpr int64_t kEnough = 6;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.ring > 1) {
      return 0;
    }
  }
  return static_cast<double>(std::min(resident, kEnough));
}

}  // namespace

Result<Profile> derive_profile(const Program& program,
                               const Extents& extents,
                               const machine::Chip& chip) {
  ORR_TRY(Counting c, resolve(program, extents, chip));
  ORR_TRY(const Geometry whole, geometry(program, extents, 1));
  const CtaResources cta{.threads = whole.threads,
                         .registers = registers_of_cta(c, whole.threads),
                         .shared = Bytes(whole.shared_bytes)};
  const Occupancy fits = occupancy(cta, chip.core);
  if (fits.ctas < 1) {
    return does_not_fit(program, cta, fits.limit);
  }
  Profile profile;
  profile.kernel = program.name;
  profile.family = family_of(program);
  profile.units = c.map.units();
  profile.cluster = whole.cluster;
  profile.threads = whole.threads;
  profile.ctas_per_sm = fits.ctas;
  const int64_t slots = chip.core.count * fits.ctas;
  profile.ctas =
      program.persistent
          ? std::min(profile.units, std::max(whole.cluster, slots / whole.cluster * whole.cluster))
          : profile.units;
  c.resident = std::min(slots, profile.units);
  profile.kinds = count_kinds(c);
  profile.traffic = count_traffic(c, profile.kinds);
  profile.traversal = count_traversal(c);
  profile.code = count_code(c);
  profile.behaviour.overlap = interleaving(program, fits.ctas);
  return profile;
}

}  // namespace orrery::kernel
