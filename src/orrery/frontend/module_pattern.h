// Patterns of module names, as lists of unquantised modules hold them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace orrery::frontend {

/// Does `pattern` mean the module `name`? It does if it is the name itself, a module around it
/// (model.layers.0 of model.layers.0.mlp), the end of the name from a dot on, a glob with '*'
/// (either of the whole name or of a module around it), or, after "re:", a regular expression that
/// matches from the beginning: '.', '*', '+', '?', '|', groups, classes, escapes, '^' and '$'.
/// A pattern that takes too many steps matches nothing.
bool matches_module(std::string_view pattern, std::string_view name);

/// What all matches of one file may take together, at most about a second: letters of patterns, of
/// which a step of a regular expression counts as kStep.
struct PatternSteps {
  static constexpr int64_t kStep = 40;

  int64_t left = 400'000'000;
  bool gave_up = false;  // on a pattern, or for good
};

/// The same within what is left of `steps`.
bool matches_module(std::string_view pattern, std::string_view name, PatternSteps& steps);

/// Can `pattern` be matched: is it not too long, and are its groups closed?
bool is_module_pattern(std::string_view pattern);

}  // namespace orrery::frontend
