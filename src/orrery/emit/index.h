// Layout digits as C++ index arithmetic.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "orrery/kernel/layout.h"

namespace orrery::emit {

/// How far holder coordinate `value` of `place` alone moves along `axis`: layouts are sums over
/// places.
int64_t offset_of(const kernel::FragmentLayout& layout,
                  kernel::AxisId axis,
                  kernel::Place place,
                  int64_t value);

/// The same as an expression of `variable`; "0" if the place does not move along the axis.
std::string offset_text(const kernel::FragmentLayout& layout,
                        kernel::AxisId axis,
                        kernel::Place place,
                        std::string_view variable);

/// The register of layout `to` (axes `axes`) that holds the element of register `variable` of
/// layout `from`, as an expression; none if some element lies with another thread.
std::optional<std::string> register_text(const kernel::FragmentLayout& from,
                                         const kernel::FragmentLayout& to,
                                         const std::vector<kernel::AxisId>& axes,
                                         std::string_view variable);

/// How many neighbouring registers, from a multiple of that on, lie side by side along `axis`: a
/// power of two.
int64_t run_along(const kernel::FragmentLayout& layout, kernel::AxisId axis, int64_t limit);

/// "lane % 4 == 0"-like condition that singles out one holder among replicas of `place`; empty if
/// there are none.
std::string first_replica_text(const kernel::FragmentLayout& layout,
                               kernel::Place place,
                               std::string_view variable);

}  // namespace orrery::emit
