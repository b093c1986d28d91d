// The tree's own machines and libraries, read for tests and benchmarks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/library/library.h"
#include "orrery/machine/machine.h"

namespace orrery::test {

/// A file by its path from the root of the tree, where tests and benchmarks run.
inline std::string read(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw std::runtime_error("no file " + path);
  }
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline machine::Machine machine(const std::string& id) {
  const std::string path = "machines/" + id + ".toml";
  auto machine = machine::parse_machine(
      read(path), path, [](std::string_view other) -> Result<machine::MachineText> {
        const std::string at = "machines/" + std::string(other) + ".toml";
        return machine::MachineText{at, read(at)};
      });
  if (!machine.ok()) {
    throw std::runtime_error(machine.error().to_string());
  }
  return *std::move(machine);
}

/// The library files that a machine names, joined.
inline library::Library libraries(const machine::Machine& machine) {
  std::vector<library::Library> parts;
  for (const std::string& id : machine.libraries) {
    const std::string path = "libraries/" + id + ".toml";
    auto library = library::Library::parse(read(path), path);
    if (!library.ok()) {
      throw std::runtime_error(library.error().to_string());
    }
    parts.push_back(*std::move(library));
  }
  return library::Library::join(std::move(parts));
}

}  // namespace orrery::test
