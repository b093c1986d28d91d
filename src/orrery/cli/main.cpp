// The command line: finds its files, runs a command, prints its answer.
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "orrery/base/text.h"
#include "orrery/cli/colour.h"
#include "orrery/cli/command.h"
#include "orrery/cli/parse_arguments.h"
#include "orrery/session/files.h"

namespace orrery::cli {

namespace {

constexpr int kBadInput = 2;
constexpr int kBug = 3;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// All that is printed. Names and contents of files may hold what a terminal would obey: it is
/// shown instead. Coloured on a terminal, unless NO_COLOR (no-color.org) is set or the terminal is
/// dumb.
void print(std::FILE* to, const std::string& answer) {
  const std::string text = printable(answer);
  const bool colours =
      isatty(fileno(to)) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  const std::string shown = colours ? coloured(text) : text;
  std::fwrite(shown.data(), 1, shown.size(), to);
}

/// Folders of a variable like PATH.
std::vector<std::string> folders_of(const char* name) {
  std::vector<std::string> folders;
  for (const std::string_view folder : split(variable(name), ':')) {
    if (!folder.empty()) {
      folders.emplace_back(folder);
    }
  }
  return folders;
}

bool holds_machines(const std::filesystem::path& folder) {
  return !session::files_in((folder / "machines").string(), ".toml").empty();
}

/// The folder that holds machines/: beside the executable (installed, or above a build folder in
/// the source tree).
std::string find_home() {
  namespace fs = std::filesystem;
  std::error_code none;
  fs::path at = fs::read_symlink("/proc/self/exe", none);
  while (at.has_relative_path()) {
    at = at.parent_path();
    for (const fs::path& place : {at, at / "share/orrery"}) {
      if (holds_machines(place)) {
        return place.string();
      }
    }
  }
  return "";
}

/// Folders that somebody names have to be there: a misspelt one would silently hide its files.
Result<void> check_folders(std::string_view option, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    std::error_code none;
    if (!std::filesystem::is_directory(folder, none)) {
      return make_error(ErrorCode::NotFound, "[cli] {}: got '{}', need a folder", option, folder);
    }
  }
  return {};
}

/// Those of an option, before those of a variable.
Result<std::vector<std::string>> folders(std::string_view option,
                                         std::vector<std::string> given,
                                         const char* name) {
  ORR_TRY_VOID(check_folders(option, given));
  const std::vector<std::string> others = folders_of(name);
  ORR_TRY_VOID(check_folders(name, others));
  given.insert(given.end(), others.begin(), others.end());
  return given;
}

/// That of the option, else of ORRERY_HOME, else the one that is found.
Result<std::string> home(const std::string& given) {
  const std::string set = given.empty() ? variable("ORRERY_HOME") : given;
  if (set.empty()) {
    return find_home();
  }
  const std::string_view option = given.empty() ? "ORRERY_HOME" : "--home";
  ORR_TRY_VOID(check_folders(option, {set}));
  if (!holds_machines(set)) {
    return make_error(ErrorCode::NotFound,
                      "[cli] {}: got '{}', need a folder with files in machines/",
                      option,
                      set);
  }
  return set;
}

Result<session::Places> places(const Everywhere& everywhere) {
  session::Places found{.home = {}};
  ORR_TRY(found.home, home(everywhere.home));
  ORR_TRY(found.machine_folders,
          folders("--machine-dir", everywhere.machine_folders, "ORRERY_MACHINE_DIR"));
  ORR_TRY(found.library_folders,
          folders("--library-dir", everywhere.library_folders, "ORRERY_LIBRARY_DIR"));
  ORR_TRY(found.model_folders,
          folders("--model-dir", everywhere.model_folders, "ORRERY_MODEL_DIR"));
  return found;
}

int fail(const Error& error) {
  print(stderr, "orrery: " + error.to_string() + '\n');
  return kBadInput;
}

int run(const std::vector<std::string>& words) {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(predict_command());
  commands.push_back(explain_command());
  commands.push_back(compare_command());
  commands.push_back(simulate_command());
  commands.push_back(tune_command());
  commands.push_back(validate_command());
  commands.push_back(calibrate_command());
  commands.push_back(machines_command());
  commands.push_back(models_command());
  commands.push_back(ops_command());
  const Result<Parsed> parsed = parse_arguments(words, commands);
  if (!parsed.ok()) {
    return fail(parsed.error());
  }
  if (parsed->command == nullptr) {
    print(stdout, parsed->text);
    return 0;
  }
  Result<session::Places> found = places(parsed->everywhere);
  if (!found.ok()) {
    return fail(found.error());
  }
  const Result<Answer> answer = parsed->command->run(session::Session(*std::move(found)));
  if (!answer.ok()) {
    return fail(answer.error());
  }
  print(stdout, answer->text);
  return answer->status;
}

}  // namespace

}  // namespace orrery::cli

int main(int argc, char** argv) {
  try {
    const int status = orrery::cli::run({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      std::fputs("orrery: standard output cannot be written\n", stderr);
      return orrery::cli::kBadInput;
    }
    return status;
  } catch (const std::exception& error) {
    orrery::cli::print(stderr, "orrery: bug in orrery: " + std::string(error.what()) + '\n');
    return orrery::cli::kBug;
  }
}
