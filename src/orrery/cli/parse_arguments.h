// Parses the command line against the commands.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/cli/command.h"

namespace orrery::cli {

/// Options of every command.
struct Everywhere {
  std::string home;                          // --home: where machines/, libraries/ and models/ are
  std::vector<std::string> machine_folders;  // --machine-dir
  std::vector<std::string> library_folders;  // --library-dir
  std::vector<std::string> model_folders;    // --model-dir
};

struct Parsed {
  Command* command = nullptr;  // none: `text` is all there is to do
  std::string text;            // help or version
  Everywhere everywhere;
};

/// Fills the targets of the chosen command. Errors (InvalidInput) read like the parser's, with "did
/// you mean".
Result<Parsed> parse_arguments(const std::vector<std::string>& words,
                               const std::vector<std::unique_ptr<Command>>& commands);

}  // namespace orrery::cli
