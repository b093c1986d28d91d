// Fields of CSV.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace orrery::report {

/// A field of RFC 4180: quoted where it has to be.
std::string csv_field(const std::string& text);

}  // namespace orrery::report
