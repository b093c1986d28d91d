// The command line by way of CLI11, whose header is slow to compile and so stays in this file.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/parse_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "orrery/base/text.h"

namespace orrery::cli {

namespace {

constexpr std::string_view kIsRequired = " is required";  // what CLI11 says
constexpr const char* kNotEmpty = "not empty";
constexpr std::string_view kVersion = "orrery 0.1.0\n";

/// Positional arguments by what they are ("MODEL|OP [key=value ...]"), not by their names here.
class Help final : public CLI::Formatter {
 public:
  Help() { column_width(30); }

  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    return is_positional ? option->get_type_name()
                         : CLI::Formatter::make_option_name(option, is_positional);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_positional() || option->get_type_size() == 0) {
      return "";
    }
    return ' ' + option->get_type_name() + (option->get_required() ? " (required)" : "");
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    return option->get_type_name();
  }
};

/// An empty word is a slip (an unset variable of a shell), not an option left out.
void refuse_empty(CLI::Option& option) {
  option.check([](const std::string& word) { return std::string(word.empty() ? "empty" : ""); },
               "",
               kNotEmpty);
}

void add(CLI::App& app, const Argument& argument) {
  CLI::Option* option = nullptr;
  if (argument.flag != nullptr) {
    option = app.add_flag(argument.name, *argument.flag, argument.help);
  } else if (argument.list != nullptr) {
    option = app.add_option(argument.name, *argument.list, argument.help);
    if (argument.name.starts_with("--")) {
      option->allow_extra_args(false);  // may be repeated; takes one word each time
    }
  } else {
    option = app.add_option(argument.name, *argument.text, argument.help);
  }
  if (argument.flag == nullptr) {
    option->type_name(argument.value);
    refuse_empty(*option);
  }
  option->required(argument.required);
}

void add_everywhere(CLI::App& app, Everywhere& everywhere) {
  CLI::Option* home =
      app.add_option("--home", everywhere.home, "folder of machines/, libraries/ and models/");
  home->type_name("DIR");
  refuse_empty(*home);
  const auto add_folders = [&app](const char* name, auto& folders, const char* help) {
    CLI::Option* option = app.add_option(name, folders, help);
    option->type_name("DIR")->allow_extra_args(false);
    refuse_empty(*option);
  };
  add_folders("--machine-dir", everywhere.machine_folders, "another folder of machine files");
  add_folders("--library-dir", everywhere.library_folders, "another folder of library files");
  add_folders("--model-dir", everywhere.model_folders, "another folder of model files");
}

/// All long options that an app knows, for "did you mean".
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

/// A first word that is neither a command nor an option.
Result<void> check_command(const std::vector<std::string>& words,
                           const std::vector<std::unique_ptr<Command>>& commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) {
    names.emplace_back(command->name());
  }
  const bool known = words.empty() || words[0].starts_with("-") ||
                     std::find(names.begin(), names.end(), words[0]) != names.end();
  if (known) {
    return {};
  }
  return make_error(ErrorCode::InvalidInput,
                    "[cli] command: got '{}', need one of {}{}",
                    words[0],
                    join(names, ", "),
                    did_you_mean(words[0], names));
}

/// CLI11's message, with near names where an option is unknown.
Error describe(const CLI::ParseError& error,
               const CLI::App& app,
               const std::vector<std::string>& words) {
  std::string hint;
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (is_extra) {
    const std::vector<std::string> names = option_names(app);
    for (const std::string& word : words) {
      const std::string name = word.substr(0, word.find('='));
      if (name.starts_with("--") && std::find(names.begin(), names.end(), name) == names.end()) {
        hint += did_you_mean(name, names);
      }
    }
  }
  const std::string what = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && what.ends_with(kIsRequired)) {
    const std::string name = what.substr(0, what.size() - kIsRequired.size());
    return make_error(ErrorCode::InvalidInput, "[cli] {}: got none, need it; see --help", name);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool twice = what.find("received") != std::string::npos;
    return make_error(ErrorCode::InvalidInput,
                      "[cli] {}: got {}, need one",
                      what.substr(0, what.find(':')),
                      twice ? "several values" : "no value");
  }
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    return make_error(ErrorCode::InvalidInput,
                      "[cli] {}: got an empty word, need a value",
                      what.substr(0, what.find(':')));
  }
  // "The following argument was not expected: --batc"
  if (const size_t colon = what.rfind(": "); is_extra && colon != std::string::npos) {
    return make_error(ErrorCode::InvalidInput,
                      "[cli] arguments: got '{}', need what --help lists{}",
                      what.substr(colon + 2),
                      hint);
  }
  return make_error(ErrorCode::InvalidInput, "[cli] {}", what);
}

}  // namespace

Result<Parsed> parse_arguments(const std::vector<std::string>& words,
                               const std::vector<std::unique_ptr<Command>>& commands) {
  ORR_TRY_VOID(check_command(words, commands));
  Parsed parsed;
  CLI::App app("How fast a deep-learning program will run on a GPU, and why.", "orrery");
  app.formatter(std::make_shared<Help>());
  app.require_subcommand(0, 1);
  app.set_version_flag("--version", std::string(kVersion.substr(0, kVersion.size() - 1)));
  app.footer(
      "`orrery COMMAND --help` shows a command's options and examples.\n"
      "Exit status: 0 yes, 1 the answer is no, 2 bad input, 3 a bug in orrery.");
  add_everywhere(app, parsed.everywhere);  // before the command or after it
  for (const auto& command : commands) {
    CLI::App* sub =
        app.add_subcommand(std::string(command->name()), std::string(command->summary()));
    for (const Argument& argument : command->arguments()) {
      add(*sub, argument);
    }
    add_everywhere(*sub, parsed.everywhere);
    sub->footer("Examples:\n" + std::string(command->examples()));
    sub->callback([&parsed, &command] { parsed.command = command.get(); });
  }
  std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 takes them
  const CLI::App* used = &app;
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* sub : app.get_subcommands()) {
      used = sub;
    }
    parsed.text = used->help(used == &app ? "" : app.get_name());
  } catch (const CLI::CallForVersion&) {
    parsed.text = kVersion;
  } catch (const CLI::ParseError& error) {
    for (const CLI::App* sub : app.get_subcommands()) {
      used = sub;
    }
    return describe(error, *used, words);
  }
  if (parsed.command == nullptr && parsed.text.empty()) {
    parsed.text = app.help();
  }
  return parsed;
}

}  // namespace orrery::cli
