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

namespace orrery::cli {

namespace {

constexpr int kBadInput = 2;
constexpr int kBug = 3;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Coloured on a terminal, unless NO_COLOR (no-color.org) is set or the terminal is dumb.
void print(std::FILE* to, const std::string& text) {
  const bool colours =
      isatty(fileno(to)) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  const std::string shown = colours ? coloured(text) : text;
  std::fwrite(shown.data(), 1, shown.size(), to);
}

/// Folders of a variable like PATH, after those of the options.
void append_folders(std::vector<std::string>& folders, const char* name) {
  for (const std::string_view folder : split(variable(name), ':')) {
    if (!folder.empty()) {
      folders.emplace_back(folder);
    }
  }
}

/// The folder that holds machines/: ORRERY_HOME, else beside the executable (installed, or above a
/// build folder in the source tree).
std::string find_home() {
  if (std::string home = variable("ORRERY_HOME"); !home.empty()) {
    return home;
  }
  namespace fs = std::filesystem;
  std::error_code none;  // a place that does not exist is no machines/
  fs::path at = fs::read_symlink("/proc/self/exe", none);
  while (at.has_relative_path()) {
    at = at.parent_path();
    for (const fs::path& place : {at, at / "share/orrery"}) {
      if (fs::is_directory(place / "machines", none)) {
        return place.string();
      }
    }
  }
  return "";
}

/// Folders that an option names have to be there: a misspelt one would silently hide its files.
Result<void> check_folders(const Everywhere& everywhere) {
  const std::vector<std::string> home = {everywhere.home};
  const std::pair<std::string_view, const std::vector<std::string>*> options[] = {
      {"--home", &home},
      {"--machine-dir", &everywhere.machine_folders},
      {"--library-dir", &everywhere.library_folders},
      {"--model-dir", &everywhere.model_folders},
  };
  for (const auto& [option, folders] : options) {
    for (const std::string& folder : *folders) {
      const bool left_out = folder.empty() && option == "--home";
      std::error_code none;
      if (!left_out && !std::filesystem::is_directory(folder, none)) {
        return make_error(ErrorCode::NotFound, "[cli] {}: got '{}', need a folder", option, folder);
      }
    }
  }
  return {};
}

session::Places places(const Everywhere& everywhere) {
  session::Places found{.home = everywhere.home.empty() ? find_home() : everywhere.home,
                        .machine_folders = everywhere.machine_folders,
                        .library_folders = everywhere.library_folders,
                        .model_folders = everywhere.model_folders};
  append_folders(found.machine_folders, "ORRERY_MACHINE_DIR");
  append_folders(found.library_folders, "ORRERY_LIBRARY_DIR");
  append_folders(found.model_folders, "ORRERY_MODEL_DIR");
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
  if (const Result<void> checked = check_folders(parsed->everywhere); !checked.ok()) {
    return fail(checked.error());
  }
  const Result<Answer> answer = parsed->command->run(session::Session(places(parsed->everywhere)));
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
    std::fprintf(stderr, "orrery: bug in orrery: %s\n", error.what());
    return orrery::cli::kBug;
  }
}
