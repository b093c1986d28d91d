// Libraries of a prediction as text.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/report/setting_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "orrery/base/text.h"

namespace orrery::report {

std::string libraries_text(const Setting& setting) {
  constexpr size_t kShown = 6;
  std::vector<std::string> versions;
  for (const std::string_view part : split(setting.library_version, ',')) {
    std::string version(trim(part));
    if (std::find(versions.begin(), versions.end(), version) == versions.end()) {
      versions.push_back(std::move(version));
    }
  }
  const size_t more = versions.size() - std::min(kShown, versions.size());
  versions.resize(versions.size() - more);
  return join(versions, ", ") + (more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace orrery::report
