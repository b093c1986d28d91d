// Commands: what a subcommand is, apart from how arguments are parsed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/session/session.h"

namespace orrery::cli {

/// One option or positional argument. Exactly one target is set; it belongs to the command.
struct Argument {
  std::string name;   // "--batch", or "files" for a positional one
  std::string value;  // its name in the help: "B"
  std::string help;
  std::string* text = nullptr;
  std::vector<std::string>* list = nullptr;
  bool* flag = nullptr;
  bool required = false;
};

/// What a command prints, and its exit status: 0, or 1 if the answer is no.
struct Answer {
  std::string text;
  int status = 0;
};

/// A subcommand. Errors are bad input: status 2.
class Command {
 public:
  virtual ~Command() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  virtual std::string_view examples() const = 0;  // lines, indented by two
  virtual std::vector<Argument> arguments() = 0;
  virtual Result<Answer> run(const session::Session& session) = 0;
};

// One file each.
std::unique_ptr<Command> predict_command();
std::unique_ptr<Command> explain_command();
std::unique_ptr<Command> compare_command();
std::unique_ptr<Command> simulate_command();
std::unique_ptr<Command> tune_command();
std::unique_ptr<Command> validate_command();
std::unique_ptr<Command> calibrate_command();
std::unique_ptr<Command> machines_command();
std::unique_ptr<Command> models_command();
std::unique_ptr<Command> ops_command();

}  // namespace orrery::cli
