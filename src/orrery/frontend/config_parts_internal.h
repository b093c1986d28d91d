// Which object of a config.json describes the text, and of which family it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/json.h"

namespace orrery::frontend {

/// The object that describes the text, its family, and where both stand in the file.
struct Parts {
  Json file;
  Json config;
  Json family;
  std::string type;
  std::string architecture;
  bool inner = false;  // config is an object of the file
  std::string text_key = "text_config";
  std::vector<std::string> notes = {};

  std::string path() const { return inner ? text_key + "." : ""; }
};

/// Reads the file as far as that. Errors: no object, or a model_type of no known family.
Result<Parts> parts_of(std::string_view json, std::string_view name);

/// The text under `key`; empty if there is none.
std::string text_of(const Json& config, std::string_view key);

}  // namespace orrery::frontend
