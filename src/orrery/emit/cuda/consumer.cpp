// A consumer stage: registers, waiting for rings, the statements of each phase, giving ring entries
// back.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/emit/cuda/scope_internal.h"

namespace orrery::emit::cuda {
namespace {

using kernel::Mma;
using kernel::Phase;
using kernel::Statement;

/// A statement's place in the program.
struct Spot {
  size_t phase = 0;
  size_t at = 0;
  auto operator<=>(const Spot&) const = default;
};

/// What this stage does with a ring.
struct RingUse {
  size_t ring = 0;
  Spot first;
  Spot last;
  bool across =
      false;  // used in a loop that does not fill it: waited for before and given back after
};

std::vector<RingUse> ring_uses(const Scope& scope) {
  std::vector<RingUse> uses;
  const auto& phases = scope.program().phases;
  for (size_t r = 0; r < scope.context.rings.size(); ++r) {
    const Ring& ring = scope.context.rings[r];
    std::vector<Spot> spots;
    for (size_t p = 0; p < phases.size(); ++p) {
      for (size_t s = 0; s < phases[p].body.size(); ++s) {
        if (phases[p].body[s].stage != scope.stage) continue;
        for (const BufferId buffer : ring.group.buffers) {
          if (touches(phases[p].body[s].op, buffer)) spots.push_back({p, s});
        }
      }
    }
    if (spots.empty()) continue;
    const bool across = spots.back().phase != ring.group.phase;
    uses.push_back({r, spots.front(), spots.back(), across});
  }
  return uses;
}

std::set<BufferId> buffers_of(const Scope& scope, bool accumulators) {
  std::set<BufferId> found;
  for (size_t b = 0; b < scope.program().buffers.size(); ++b) {
    const BufferId id = BufferId::from_index(b);
    for (const Phase& phase : scope.program().phases) {
      for (const Statement& statement : phase.body) {
        if (statement.stage != scope.stage) continue;
        const auto* mma = std::get_if<Mma>(&statement.op);
        const bool wanted = accumulators
                                ? mma != nullptr && mma->acc == id
                                : scope[id].space == Space::Fragment && touches(statement.op, id);
        if (wanted) found.insert(id);
      }
    }
  }
  return found;
}

void declare_registers(Scope& scope) {
  for (const BufferId id : buffers_of(scope, false)) {
    scope.out.line("Tile<{}, {}> {};",
                   element_type(scope[id].dtype),
                   scope[id].fragment.count(Place::Register),
                   buffer_name(scope.program(), id));
  }
  for (const BufferId id : buffers_of(scope, true)) {
    scope.out.line("u32 live_{} = 1;", buffer_name(scope.program(), id));
  }
}

void wait_for(Scope& scope, size_t ring) {
  const Ring& r = scope.context.rings[ring];
  scope.out.line("barrier_wait(shared + {} + slot{} * 8, parity{});", r.full, ring, ring);
}

/// Writes the zeros that products were spared.
void write_zeros(Scope& scope, BufferId buffer) {
  const auto at = scope.zeros.find(buffer);
  if (at == scope.zeros.end() || at->second == Zeros::None) return;
  const std::string name = buffer_name(scope.program(), buffer);
  const std::string when = at->second == Zeros::Maybe ? fmt::format("if (!live_{0}) ", name) : "";
  scope.out.line("{}{}.fill(0.0f);", when, name);
  scope.out.line("live_{} = 1;", name);
  at->second = Zeros::None;
}

bool is_mma(const Statement& statement) {
  return std::holds_alternative<Mma>(statement.op);
}

/// Buffers whose pending zeros the body reads with something else than a product.
void write_zeros_before(Scope& scope, const Phase& phase) {
  for (auto& [buffer, zeros] : scope.zeros) {
    for (const Statement& statement : phase.body) {
      if (statement.stage == scope.stage && !is_mma(statement) && touches(statement.op, buffer)) {
        write_zeros(scope, buffer);
      }
    }
  }
}

Result<void> lower_op(Scope& scope, const kernel::Op& op) {
  if (const auto* load = std::get_if<kernel::Load>(&op)) return lower_load(scope, *load);
  if (const auto* store = std::get_if<kernel::Store>(&op)) return lower_store(scope, *store);
  if (const auto* map = std::get_if<kernel::Map>(&op)) return lower_map(scope, *map);
  if (const auto* reduce = std::get_if<kernel::Reduce>(&op)) return lower_reduce(scope, *reduce);
  return lower_mma(scope, std::get<Mma>(op));
}

/// Registers of products under way may not be touched; those of operands must have arrived.
void settle_before(Scope& scope, const Statement& statement) {
  if (const auto* mma = std::get_if<Mma>(&statement.op)) {
    scope.out.line("keep({});", buffer_name(scope.program(), mma->acc));
    if (scope[mma->first].space == Space::Fragment) {
      scope.out.line("keep({});", buffer_name(scope.program(), mma->first));
    }
    return;
  }
  for (const InFlight& product : scope.in_flight) {
    if (touches(statement.op, product.acc) || touches(statement.op, product.first)) {
      finish_products(scope);
      break;
    }
  }
  std::vector<BufferId> spared;
  for (const auto& [buffer, zeros] : scope.zeros) {
    if (touches(statement.op, buffer)) spared.push_back(buffer);
  }
  for (const BufferId buffer : spared) write_zeros(scope, buffer);
}

class Phases {
 public:
  explicit Phases(Scope& scope) : scope_(scope), uses_(ring_uses(scope)) {}

  Result<void> check() const {
    for (const RingUse& use : uses_) {
      const Ring& ring = scope_.context.rings[use.ring];
      if (use.across && scope_.program().phases[ring.group.phase].loop) {
        return unsupported(scope_.context, "a ring filled in a loop and used after it");
      }
    }
    return {};
  }

  void declare_rings() const {
    for (const RingUse& use : uses_) {
      scope_.declare("u32", fmt::format("slot{}", use.ring), "0");
      scope_.declare("u32", fmt::format("parity{}", use.ring), "0");
    }
  }

  Result<void> lower(size_t p) {
    const Phase& phase = scope_.program().phases[p];
    const bool any = std::any_of(phase.body.begin(), phase.body.end(), [&](const Statement& s) {
      return s.stage == scope_.stage;
    });
    if (!any) return {};
    scope_.out.raw("");
    for (const RingUse& use : uses_) {
      if (use.across && use.first.phase == p) wait_for(scope_, use.ring);
    }
    if (!phase.loop) {
      ORR_TRY_VOID(statements(p));
    } else {
      ORR_TRY_VOID(loop(p));
    }
    for (const RingUse& use : uses_) {
      if (!use.across || use.last.phase != p) continue;
      finish_products(scope_);
      release_ring(scope_, use.ring);
    }
    return {};
  }

 private:
  Result<void> loop(size_t p) {
    const Phase& phase = scope_.program().phases[p];
    finish_products(scope_);
    write_zeros_before(scope_, phase);
    const std::map<BufferId, Zeros> before = scope_.zeros;
    const bool pipelined = can_pipeline(p);
    if (pipelined) open_pipeline(p);
    open_loop(scope_, *phase.loop);
    scope_.in_loop = true;
    ORR_TRY_VOID(pipelined ? pipelined_product(p) : statements(p));
    scope_.in_loop = false;
    scope_.out.close();
    if (pipelined) close_pipeline(p);
    if (scope_.program()[*phase.loop].parts) {
      for (const auto& [buffer, zeros] : before) {
        if (zeros == Zeros::Pending) scope_.zeros[buffer] = Zeros::Maybe;
      }
    }
    return {};
  }

  Result<void> statements(size_t p) {
    const Phase& phase = scope_.program().phases[p];
    for (size_t s = 0; s < phase.body.size(); ++s) {
      const Statement& statement = phase.body[s];
      if (statement.stage != scope_.stage) continue;
      for (const RingUse& use : uses_) {
        if (!use.across && use.first == Spot{p, s}) wait_for(scope_, use.ring);
      }
      settle_before(scope_, statement);
      if (waits_for_store(p, s)) {
        scope_.deferred = &std::get<kernel::Map>(statement.op);
      } else {
        ORR_TRY_VOID(lower_op(scope_, statement.op));
        scope_.deferred = nullptr;
      }
      give_back(Spot{p, s}, is_mma(statement));
    }
    finish_products(scope_);
    return {};
  }

  /// Is this an assignment that only the staged store right after it reads?
  bool waits_for_store(size_t p, size_t s) const {
    const auto& body = scope_.program().phases[p].body;
    const auto* map = std::get_if<kernel::Map>(&body[s].op);
    if (map == nullptr || s + 1 >= body.size() || body[s + 1].stage != scope_.stage) return false;
    const auto* store = std::get_if<kernel::Store>(&body[s + 1].op);
    if (store == nullptr || !store->via || store->from != map->to) return false;
    size_t uses = 0;
    for (const Phase& phase : scope_.program().phases) {
      for (const Statement& other : phase.body) uses += touches(other.op, map->to) ? 1 : 0;
    }
    return uses == 2;
  }

  void give_back(Spot spot, bool product) {
    for (const RingUse& use : uses_) {
      if (use.across || use.last != spot) continue;
      if (product) {
        scope_.in_flight.back().rings.push_back(use.ring);
      } else {
        finish_products(scope_);
        release_ring(scope_, use.ring);
      }
    }
  }

  /// A loop of one product keeps one batch of instructions in flight while it issues the next: an
  /// entry is given back one trip late. Rings of one entry cannot.
  bool can_pipeline(size_t p) const {
    size_t own = 0;
    for (const Statement& statement : scope_.program().phases[p].body) {
      if (statement.stage != scope_.stage) continue;
      ++own;
      if (!is_mma(statement)) return false;
    }
    for (const RingUse& use : uses_) {
      if (use.first.phase == p && !use.across && scope_.context.rings[use.ring].group.ring < 2) {
        return false;
      }
    }
    return own == 1;
  }

  std::vector<size_t> rings_in(size_t p) const {
    std::vector<size_t> rings;
    for (const RingUse& use : uses_) {
      if (use.first.phase == p && !use.across) rings.push_back(use.ring);
    }
    return rings;
  }

  void open_pipeline(size_t p) {
    for (const Statement& statement : scope_.program().phases[p].body) {
      if (statement.stage == scope_.stage) settle_before(scope_, statement);
    }
    for (const size_t ring : rings_in(p)) scope_.out.line("u32 before{} = 0;", ring);
  }

  Result<void> pipelined_product(size_t p) {
    for (const size_t ring : rings_in(p)) wait_for(scope_, ring);
    for (const Statement& statement : scope_.program().phases[p].body) {
      if (statement.stage == scope_.stage) ORR_TRY_VOID(lower_op(scope_, statement.op));
    }
    const std::string axis = axis_name(p);
    scope_.out.raw("mma_wait<1>();");
    for (const size_t ring : rings_in(p)) {
      scope_.out.line("if (tile_{0} > first_{0}) {{", axis);
      scope_.out.line("  {}", release_text(scope_.context, ring, fmt::format("before{}", ring)));
      scope_.out.raw("}");
      scope_.out.line("before{0} = slot{0};", ring);
      scope_.out.line("if (++slot{0} == {1}) slot{0} = 0, parity{0} ^= 1;",
                      ring,
                      scope_.context.rings[ring].group.ring);
    }
    return {};
  }

  void close_pipeline(size_t p) {
    const BufferId acc = scope_.in_flight.back().acc;
    scope_.in_flight.clear();
    scope_.out.raw("mma_wait<0>();");
    scope_.out.line("keep({});", buffer_name(scope_.program(), acc));
    for (const size_t ring : rings_in(p)) {
      const std::string axis = axis_name(p);
      scope_.out.line("if (last_{0} > first_{0}) {{", axis);
      scope_.out.line("  {}", release_text(scope_.context, ring, fmt::format("before{}", ring)));
      scope_.out.raw("}");
    }
  }

  std::string axis_name(size_t p) const {
    const AxisId axis = *scope_.program().phases[p].loop;
    return scope_.program()[axis].name;
  }

  Scope& scope_;
  std::vector<RingUse> uses_;
};

}  // namespace

Result<void> lower_consumer(Scope& scope) {
  Phases phases(scope);
  ORR_TRY_VOID(phases.check());
  phases.declare_rings();
  declare_registers(scope);
  for (size_t p = 0; p < scope.program().phases.size(); ++p) ORR_TRY_VOID(phases.lower(p));
  return {};
}

}  // namespace orrery::emit::cuda
