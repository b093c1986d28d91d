// Files: the place of the core that opens them, to read and to write.
// SPDX-License-Identifier: Apache-2.0
//
// What is read is a regular file of bounded size, whatever its name leads to: a link is followed if
// it ends in one (downloaded models are folders of links), while a pipe, a socket or a device is
// refused before it is opened, since it may never end or never begin. What is written is written
// whole or not at all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "orrery/base/result.h"

namespace orrery {

// Most bytes of a model's file: the largest published one has 40 KB, lists of quantised experts a
// few MB.
constexpr std::size_t kMostText = std::size_t{4} << 20;

// The whole file. Errors: NotFound, or IoError for what is no regular file, has more than `most`
// bytes, or what the system refuses.
Result<std::string> read_file(const std::string& path, std::size_t most = kMostText);

// Writes a file by way of a new one in its folder, which no link can stand for, so that a failure
// leaves the old file whole. A replaced file keeps its mode, one that is read only stays. A link is
// followed, and what is no file (a device, a pipe) is written to and stays what it is.
Result<void> write_file(const std::string& path, std::string_view text);

}  // namespace orrery
