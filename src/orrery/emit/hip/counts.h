// What a compiled object contains, read from the text that LLVM's tools print of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"

namespace orrery::emit::hip {

/// Counts of one kernel's object: what a profile states in advance, and what only the compiler
/// decides.
struct ObjectCounts {
  kernel::CodeCounts code;
  int64_t vector_registers = 0;  // accumulation registers included
  int64_t spilled_registers = 0;
  int64_t scratch_bytes = 0;  // private memory of a thread
};

/// `disassembly`: llvm-objdump -d; `notes`: llvm-readelf --notes. An instruction that makes two
/// accesses (ds_read2_*) counts as two: pairing neighbours is the compiler's choice. Error
/// ParseError: no kernel in the notes, several, or an LDS instruction that is not known here.
Result<ObjectCounts> count_object(std::string_view disassembly, std::string_view notes);

}  // namespace orrery::emit::hip
