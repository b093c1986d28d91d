// Compiled GPU code and what it needs of the machine, read from the file itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orrery/base/result.h"

namespace orrery::runtime::cuda {

/// What one kernel of a cubin uses, per thread.
struct Resources {
  int64_t registers = 0;
  int64_t stack_bytes =
      0;  // local memory: spilled registers and arrays that were not kept in registers

  bool operator==(const Resources&) const = default;
};

/// A cubin: an ELF file with machine code for one architecture.
struct Cubin {
  std::string bytes;
  std::string entry;
  Resources resources;
};

/// Reads the resources of kernel `entry`. A cubin is a 64-bit little-endian ELF file whose section
/// `.nv.info` lists attributes of its functions: 4-byte header (format, attribute, length), symbol
/// index, value; attribute 0x2f is the register count, 0x11 the frame size (as printed by
/// `cuobjdump -elf`). Errors: ParseError for anything else; never reads beyond `bytes`.
Result<Resources> read_resources(std::string_view bytes, std::string_view entry);

}  // namespace orrery::runtime::cuda
