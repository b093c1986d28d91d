// Statements of the HIP emitter, by kind.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "orrery/emit/hip/context_internal.h"

namespace orrery::emit::hip {

// A tile reaches LDS in two steps, so that computing can go on between them: fetch (global memory
// to registers) and put (registers to LDS, ring entry `slot`).
void declare_staging(const Context& context, const kernel::Load& load, Writer& out);
void write_fetch(const Context& context, const kernel::Load& load, Writer& out);
void write_put(const Context& context,
               const kernel::Load& load,
               std::string_view slot,
               Writer& out);

/// Global memory to fragment, and back.
void write_load(const Context& context, const kernel::Load& load, Writer& out);
Result<void> write_store(const Context& context, const kernel::Store& store, Writer& out);

Result<void> write_map(const Context& context, const kernel::Map& map, Writer& out);
Result<void> write_reduce(const Context& context, const kernel::Reduce& reduce, Writer& out);

/// `slots`: the ring entry to read of every buffer, as text (by buffer index).
Result<void> write_mma(const Context& context,
                       const kernel::Mma& mma,
                       const std::vector<std::string>& slots,
                       Writer& out);

/// The value of an expression for register `r` of `layout`: its operands' registers hold the same
/// elements, or this is an error. Definitions are written out first.
Result<std::string> evaluate(const Context& context,
                             const kernel::Expr& value,
                             const FragmentLayout& layout,
                             Writer& out);

/// Axes whose bases an expression needs: those of tensors read, and of masks.
std::vector<AxisId> placed_axes(const Context& context, const kernel::Expr& value);

}  // namespace orrery::emit::hip
