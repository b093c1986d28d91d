// The state of lowering one stage: its text so far, what is known ahead of its loops, products
// under way.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "orrery/emit/cuda/context_internal.h"
#include "orrery/emit/writer.h"

namespace orrery::emit::cuda {

/// A matrix product that was issued and not yet waited for.
struct InFlight {
  BufferId acc;
  BufferId first;
  std::vector<size_t> rings;  // to give back once it is done
};

/// How the zeros of an accumulator stand: a product overwrites instead of adding while `live_acc`
/// is 0.
enum class Zeros {
  None,     // the registers hold the value
  Pending,  // the value is zero, the registers do not say so
  Maybe,    // pending only if a loop made no trip
};

struct Scope {
  Scope(Context& c, StageId s) : context(c), stage(s), out(2) {}

  Context& context;
  StageId stage;
  Writer out;
  /// Declarations ahead of the unit loop, in order; the name is the key.
  std::vector<std::pair<std::string, std::string>> ahead;
  std::vector<InFlight> in_flight;
  std::map<BufferId, Zeros> zeros;
  /// An assignment whose only reader is the staged store after it: evaluated there, panel by panel,
  /// so that only a panel's operands are in registers at a time.
  const kernel::Map* deferred = nullptr;
  bool in_loop = false;
  int reductions = 0;  // cross-warp reductions emitted so far
  int products = 0;

  const kernel::Program& program() const { return context.program; }

  const Buffer& operator[](BufferId buffer) const { return context.program[buffer]; }

  int64_t warps() const { return program()[stage].warps; }

  /// Declares `type name = value;` ahead of the unit loop (once) and returns the name.
  std::string declare(std::string_view type, const std::string& name, const std::string& value);

  /// The thread's own part (lane and warp) of the coordinate along `axis` of a tile laid out like
  /// `buffer`.
  std::string thread_part(BufferId buffer, AxisId axis);

  /// The coordinate along `axis` of register `variable` of `buffer`'s layout; the tile's corner if
  /// it lacks the axis.
  std::string coordinate(BufferId buffer, AxisId axis, std::string_view variable);
};

/// Waits for all products under way, gives their ring entries back and pins their accumulators.
void finish_products(Scope& scope);

/// Gives the current entry of a ring back and goes on to the next.
void release_ring(Scope& scope, size_t ring);
/// Text of one release of the entry in variable `slot`.
std::string release_text(const Context& context, size_t ring, std::string_view slot);

/// The address of `buffer`'s current entry: `shared + offset (+ slot * bytes)`.
std::string entry_address(const Context& context, BufferId buffer);

/// Barrier among the threads of the stage.
std::string stage_barrier(const Scope& scope);

// One lowering a statement kind.
Result<void> lower_map(Scope& scope, const kernel::Map& map);
/// The part of an assignment that registers first .. last hold.
Result<void> lower_map_part(Scope& scope, const kernel::Map& map, int64_t first, int64_t last);
Result<void> lower_reduce(Scope& scope, const kernel::Reduce& reduce);
Result<void> lower_load(Scope& scope, const kernel::Load& load);
Result<void> lower_store(Scope& scope, const kernel::Store& store);
Result<void> lower_staged_store(Scope& scope, const kernel::Store& store);
Result<void> lower_mma(Scope& scope, const kernel::Mma& mma);

/// The body of a consumer stage: what happens per unit. Declarations that it wants ahead are in
/// scope.ahead.
Result<void> lower_consumer(Scope& scope);
/// The same for a producer stage (one thread).
Result<void> lower_producer(Scope& scope);

/// Declarations of the axis corner and walk that both kinds of stages need.
void open_loop(Scope& scope, AxisId axis);

/// The unit loop and its tile corners, open; close with close_units.
void open_units(Writer& out, const Context& context);
/// Extents, tile counts and the number of units: constants of the kernel.
void declare_units(Writer& out, const Context& context);

}  // namespace orrery::emit::cuda
