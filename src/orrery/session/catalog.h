// The catalog: machines, libraries and models by name or path.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/model.h"
#include "orrery/library/library.h"
#include "orrery/machine/machine.h"

namespace orrery::session {

/// Where to look. `home` holds machines/, libraries/ and models/; the other folders are searched
/// before it, in order, so that a machine, a library or a model of one's own needs no change of the
/// tree.
struct Places {
  std::string home;
  std::vector<std::string> machine_folders = {};
  std::vector<std::string> library_folders = {};
  std::vector<std::string> model_folders = {};
};

/// Files whose name begins with a capital letter (TEMPLATE.toml) are no entries.
class Catalog {
 public:
  explicit Catalog(Places places) : places_(std::move(places)) {}

  /// By id, alias (h200, H200_SXM: case, '-' and '_' do not matter) or the path of a file. Errors:
  /// NotFound with near names; what is wrong in the file.
  Result<machine::Machine> machine(std::string_view query) const;
  /// All, sorted by id.
  Result<std::vector<machine::Machine>> machines() const;

  /// The library file that the machine names.
  Result<library::Library> library(const machine::Machine& machine) const;

  /// By name (models/NAME.json) or the path of a config.json.
  Result<frontend::Model> model(std::string_view query) const;
  /// Names of all models, sorted.
  std::vector<std::string> models() const;

 private:
  Result<machine::Machine> machine_in(const std::string& path) const;
  Result<machine::Machine> machine_of(const std::string& text, const std::string& path) const;
  std::optional<machine::Machine> plain_machine(std::string_view query) const;
  std::vector<std::string> paths(const std::vector<std::string>& folders,
                                 std::string_view inner,
                                 std::string_view suffix) const;

  Places places_;
};

}  // namespace orrery::session
