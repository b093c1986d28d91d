// Counting instructions in a disassembly, and reading a code object's metadata.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/hip/counts.h"

#include <array>
#include <charconv>
#include <optional>

#include "orrery/base/text.h"

namespace orrery::emit::hip {
namespace {

// The end of an LDS instruction's name and what one access of it moves (MI300 ISA, "DS").
struct Width {
  std::string_view suffix;
  int64_t bytes;
};

constexpr std::array kWidths = {
    Width{"_b128", 16},
    Width{"_b96", 12},
    Width{"_b64", 8},
    Width{"_b32", 4},
    Width{"_b16", 2},
    Width{"_u16", 2},
    Width{"_i16", 2},
    Width{"_b8", 1},
    Width{"_u8", 1},
    Width{"_i8", 1},
    Width{"_b16_d16_hi", 2},
    Width{"_u16_d16", 2},
    Width{"_u16_d16_hi", 2},
};

std::optional<int64_t> width_of(std::string_view name) {
  for (const Width& width : kWidths) {
    if (name.ends_with(width.suffix)) return width.bytes;
  }
  return std::nullopt;
}

struct Access {
  double count = 0;
  double bytes = 0;
};

// An instruction called "ds_read..." or "ds_write...".
Result<Access> access_of(std::string_view name) {
  const auto width = width_of(name);
  if (!width) {
    return make_error(ErrorCode::ParseError, "[emit.hip] unknown LDS instruction: got '{}'", name);
  }
  const bool two =
      name.find("read2") != std::string_view::npos || name.find("write2") != std::string_view::npos;
  const double count = two ? 2 : 1;
  return Access{count, count * static_cast<double>(*width)};
}

Result<void> count_instruction(std::string_view name, kernel::CodeCounts& code) {
  if (name.starts_with("v_mfma_")) code.matrix_instructions += 1;
  if (!name.starts_with("ds_")) return {};
  if (name.find("permute") != std::string_view::npos ||
      name.find("swizzle") != std::string_view::npos) {
    code.lane_exchanges += 1;
    return {};
  }
  ORR_TRY(const Access access, access_of(name));
  if (name.starts_with("ds_read")) {
    code.shared_loads += access.count;
    code.shared_load_bytes += access.bytes;
  } else {
    code.shared_stores += access.count;
    code.shared_store_bytes += access.bytes;
  }
  return {};
}

// The first word of a line.
std::string_view first_word(std::string_view line) {
  const std::string_view text = trim(line);
  return text.substr(0, text.find_first_of(" \t"));
}

// The number after ".key:", which must stand exactly once.
Result<int64_t> metadata(std::string_view notes, std::string_view key) {
  std::optional<int64_t> found;
  for (const std::string_view line : split_lines(notes)) {
    std::string_view text = trim(line);
    if (text.starts_with("- ")) text = trim(text.substr(2));
    if (!text.starts_with(key)) continue;
    const std::string_view number = trim(text.substr(key.size()));
    int64_t value = 0;
    const auto end = std::from_chars(number.data(), number.data() + number.size(), value);
    if (found || end.ec != std::errc()) {
      return make_error(
          ErrorCode::ParseError, "[emit.hip] notes: got '{}', need one number", trim(line));
    }
    found = value;
  }
  if (found) return *found;
  return make_error(ErrorCode::ParseError, "[emit.hip] notes lack '{}': need one kernel", key);
}

}  // namespace

Result<ObjectCounts> count_object(std::string_view disassembly, std::string_view notes) {
  ObjectCounts counts;
  for (const std::string_view line : split_lines(disassembly)) {
    ORR_TRY_VOID(count_instruction(first_word(line), counts.code));
  }
  ORR_TRY(counts.code.shared_bytes, metadata(notes, ".group_segment_fixed_size:"));
  ORR_TRY(counts.scratch_bytes, metadata(notes, ".private_segment_fixed_size:"));
  ORR_TRY(counts.vector_registers, metadata(notes, ".vgpr_count:"));
  ORR_TRY(const int64_t vector_spills, metadata(notes, ".vgpr_spill_count:"));
  ORR_TRY(const int64_t scalar_spills, metadata(notes, ".sgpr_spill_count:"));
  counts.spilled_registers = vector_spills + scalar_spills;
  return counts;
}

}  // namespace orrery::emit::hip
