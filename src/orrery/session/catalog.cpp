// Finds machines, libraries and models.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/catalog.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/frontend/huggingface.h"
#include "orrery/session/files.h"

namespace orrery::session {

namespace {

/// A query that means a file rather than a name.
bool looks_like_path(std::string_view query, std::string_view suffix) {
  return query.find('/') != std::string_view::npos || query.ends_with(suffix);
}

std::string without_marks(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_') {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

/// Where older exports keep what a config.json does not say of its quantisation: in its folder, or,
/// among files named after models, in a folder hf_quant.
std::string quantisation_beside(const std::string& path, const std::string& stem) {
  return stem == "config" ? folder_of(path) + "/hf_quant_config.json"
                          : folder_of(path) + "/hf_quant/" + stem + ".json";
}

}  // namespace

/// The machine of one file. One that is like another finds it beside itself or by its id among the
/// catalog's.
Result<machine::Machine> Catalog::machine_in(const std::string& path) const {
  ORR_TRY(const std::string text, read_file(path, machine::kMostNumberFile));
  return machine_of(text, path);
}

Result<machine::Machine> Catalog::machine_of(const std::string& text,
                                             const std::string& path) const {
  return machine::parse_machine(
      text, path, [&](std::string_view id) -> Result<machine::MachineText> {
        std::vector<std::string> places = files_in(folder_of(path), ".toml");
        const std::vector<std::string> known = paths(places_.machine_folders, "machines", ".toml");
        places.insert(places.end(), known.begin(), known.end());
        for (const std::string& place : places) {
          if (without_marks(stem_of(place)) == without_marks(id)) {
            ORR_TRY(std::string toml, read_file(place, machine::kMostNumberFile));
            return machine::MachineText{place, std::move(toml)};
          }
        }
        std::vector<std::string> ids;
        for (const std::string& place : known) {
          ids.push_back(stem_of(place));
        }
        return make_error(ErrorCode::NotFound,
                          "[session.machine] like: got '{}' in {}, need one of {}{}",
                          id,
                          path,
                          join(ids, ", "),
                          did_you_mean(id, ids));
      });
}

std::vector<std::string> Catalog::paths(const std::vector<std::string>& folders,
                                        std::string_view inner,
                                        std::string_view suffix) const {
  std::vector<std::string> all = folders;
  if (!places_.home.empty()) {
    all.push_back(places_.home + "/" + std::string(inner));
  }
  std::vector<std::string> found;
  for (const std::string& folder : all) {
    for (std::string& path : files_in(folder, suffix)) {
      if (std::isupper(static_cast<unsigned char>(stem_of(path)[0])) == 0) {
        found.push_back(std::move(path));
      }
    }
  }
  return found;
}

/// Where nothing is in doubt: one file of the first folder in which any is called so, by what
/// stands in its head. Nothing where a file may be meant that cannot be read, or two are.
std::optional<machine::Machine> Catalog::plain_machine(std::string_view query) const {
  std::optional<std::string> text;
  std::string found_at;
  for (const std::string& path : paths(places_.machine_folders, "machines", ".toml")) {
    if (text && folder_of(path) != folder_of(found_at)) {
      break;
    }
    Result<std::string> read = read_file(path, machine::kMostNumberFile);
    const bool named = read.ok() && machine::names_of(*read).answer_to(query);
    if (!named && without_marks(stem_of(path)) != without_marks(query)) {
      continue;
    }
    if (!named || text) {
      return std::nullopt;
    }
    text = *std::move(read);
    found_at = path;
  }
  if (!text) {
    return std::nullopt;
  }
  Result<machine::Machine> machine = machine_of(*text, found_at);
  return machine.ok() ? std::optional(*std::move(machine)) : std::nullopt;
}

Result<machine::Machine> Catalog::machine(std::string_view query) const {
  if (looks_like_path(query, ".toml")) {
    return machine_in(std::string(query));
  }
  if (std::optional<machine::Machine> plain = plain_machine(query)) {
    return *std::move(plain);
  }
  std::vector<std::string> names;
  std::vector<std::string> broken;  // files that may be the one, but cannot be read
  std::optional<machine::Machine> found;
  std::string found_at;
  for (const std::string& path : paths(places_.machine_folders, "machines", ".toml")) {
    if (found && folder_of(path) != folder_of(found_at)) {
      break;  // a folder of one's own comes before the others
    }
    Result<machine::Machine> machine = machine_in(path);
    if (!machine.ok()) {
      if (!found && without_marks(stem_of(path)) == without_marks(query)) {
        return machine;
      }
      broken.push_back(machine.error().to_string());
      continue;
    }
    if (machine::answers_to(*machine, query)) {
      if (found) {
        return make_error(ErrorCode::InvalidInput,
                          "[session.machine] machine: got {} and {} for '{}', need one",
                          found_at,
                          path,
                          query);
      }
      found = *std::move(machine);
      found_at = path;
      continue;
    }
    names.push_back(machine->id);
    names.insert(names.end(), machine->aliases.begin(), machine->aliases.end());
  }
  if (found) {
    return *std::move(found);
  }
  Error error =
      make_error(ErrorCode::NotFound,
                 "[session.machine] machine: got '{}', need one of {} or a path to a .toml{}",
                 query,
                 names.empty() ? "none (no machines/ was found)" : join(names, ", "),
                 did_you_mean(query, names));
  error.notes = std::move(broken);
  return error;
}

Result<std::vector<machine::Machine>> Catalog::machines() const {
  std::vector<machine::Machine> all;
  for (const std::string& path : paths(places_.machine_folders, "machines", ".toml")) {
    ORR_TRY(machine::Machine machine, machine_in(path));
    all.push_back(std::move(machine));
  }
  std::stable_sort(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return all;
}

Result<library::Library> Catalog::library(const machine::Machine& machine) const {
  std::vector<std::string> names;
  std::vector<std::string> files;
  for (std::string& path : paths(places_.library_folders, "libraries", ".toml")) {
    names.push_back(stem_of(path));
    files.push_back(std::move(path));
  }
  std::vector<library::Library> parts;
  for (const std::string& id : machine.libraries) {
    const auto at = std::find(names.begin(), names.end(), id);
    if (at == names.end()) {
      break;
    }
    const std::string& path = files[static_cast<size_t>(at - names.begin())];
    ORR_TRY(const std::string text, read_file(path, machine::kMostNumberFile));
    ORR_TRY(library::Library part, library::Library::parse(text, path));
    parts.push_back(std::move(part));
  }
  if (parts.empty() || parts.size() < machine.libraries.size()) {
    return make_error(
        ErrorCode::NotFound,
        "[session.library] libraries of machine '{}': got '{}', need {}some of {}",
        machine.id,
        join(machine.libraries, ", "),
        machine.libraries.empty() && machine.like.empty()
            ? "like = \"h200-sxm\" (or another machine), whose libraries then serve, or "
            : "",
        names.empty() ? "none (no libraries/ was found)" : join(names, ", "));
  }
  return library::Library::join(std::move(parts));
}

namespace {

/// The model of one file.
Result<frontend::Model> model_in(const std::string& path) {
  ORR_TRY(const std::string text, read_file(path));
  // A published model's file is called config.json in a folder of the model's name.
  const std::string stem = stem_of(path);
  const std::string name = stem == "config" ? name_of_folder(folder_of(path)) : stem;
  frontend::ReadOptions options;
  if (const std::string beside = quantisation_beside(path, stem); is_file(beside)) {
    ORR_TRY(options.quantisation, read_file(beside));
  }
  auto model = frontend::read_huggingface(text, name, options);
  if (!model.ok()) {
    return model.error().with_note("in " + path);
  }
  return model;
}

/// The file of a published model's folder.
std::string config_in(std::string_view folder) {
  return std::string(folder) + "/config.json";
}

}  // namespace

Result<frontend::Model> Catalog::model(std::string_view query) const {
  if (looks_like_path(query, ".json")) {
    const std::string path(query);
    return model_in(is_folder(path) ? config_in(path) : path);
  }
  std::vector<std::string> names;
  for (const std::string& path : paths(places_.model_folders, "models", ".json")) {
    const std::string name = path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 6);
    if (without_marks(name) == without_marks(query)) {
      ORR_TRY(const std::string text, read_file(path));
      return frontend::read_huggingface(text, name);
    }
    names.push_back(name);
  }
  if (is_file(config_in(query))) {
    return model_in(config_in(query));
  }
  return make_error(ErrorCode::NotFound,
                    "[session.model] model: got '{}', need one of {} or a path to a config.json or "
                    "its folder{}",
                    query,
                    names.empty() ? "none (no models/ was found)" : join(names, ", "),
                    did_you_mean(query, names));
}

std::vector<std::string> Catalog::models() const {
  std::vector<std::string> names;
  for (const std::string& path : paths(places_.model_folders, "models", ".json")) {
    names.push_back(path.substr(path.rfind('/') + 1, path.size() - path.rfind('/') - 6));
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace orrery::session
