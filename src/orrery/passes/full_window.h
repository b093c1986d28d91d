// full_window: a sliding window that covers every key is no window.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "orrery/base/result.h"
#include "orrery/graph/graph.h"
#include "orrery/passes/context.h"

namespace orrery::passes {

/// Removes the window of every attention whose keys all fit into it, under the sizes of `context`.
/// (What is left is a real window, which only kernels that know windows can run.)
Result<graph::Graph> full_window(const graph::Graph& graph, const Context& context);

/// Which windows full_window removes under `context`; nothing where it removes none.
std::optional<std::string> full_window_reads(const graph::Graph& graph, const Context& context);

}  // namespace orrery::passes
