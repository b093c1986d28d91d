// Options of a model's prediction, by name, as the command line takes them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/session/session.h"

namespace orrery::session {

/// One option: "batch" is --batch on the command line and the name of an axis of a sweep.
struct ModelOption {
  std::string_view name;
  std::string_view value;    // its value's name in the help: "B"
  std::string_view meaning;  // with what it is when left out
  Result<void> (*set)(ModelRequest& request, std::string_view text);
  bool takes_values = true;  // of a sweep: lists and ranges (range.h); a path is no list
};

/// In the order in which they are listed. A new option of ModelRequest is a row here.
std::span<const ModelOption> model_options();

/// An option that was given, and its text.
using Given = std::pair<std::string, std::string>;

/// The request of `model` on `machine` with the options given. Errors (InvalidInput): an unknown
/// name, with near ones; a value that the option cannot have.
Result<ModelRequest> model_request(std::string_view model,
                                   std::string_view machine,
                                   std::span<const Given> given);

}  // namespace orrery::session
