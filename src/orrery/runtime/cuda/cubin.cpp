// Reading a cubin: see cubin.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/cubin.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <vector>

namespace orrery::runtime::cuda {
namespace {

constexpr uint8_t kFormatSized = 0x04;    // the value follows, `length` bytes
constexpr uint8_t kRegisterCount = 0x2f;  // EIATTR_REGCOUNT
constexpr uint8_t kFrameSize = 0x11;      // EIATTR_FRAME_SIZE
constexpr size_t kAttributeHeader = 4;

Error bad(std::string_view what) {
  return make_error(ErrorCode::ParseError,
                    "[runtime.cubin] not a cubin: got {}, need an ELF file with .nv.info",
                    what);
}

/// A T at `offset`, if the bytes reach that far.
template <class T>
std::optional<T> at(std::string_view bytes, size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view slice(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

std::string_view word(std::string_view names, size_t offset) {
  if (offset >= names.size()) return {};
  names.remove_prefix(offset);
  return names.substr(0, names.find('\0'));
}

struct Sections {
  std::vector<Elf64_Shdr> headers;
  std::string_view names;

  const Elf64_Shdr* find(std::string_view name) const {
    for (const Elf64_Shdr& header : headers) {
      if (word(names, header.sh_name) == name) return &header;
    }
    return nullptr;
  }
};

Result<Sections> read_sections(std::string_view bytes) {
  const auto file = at<Elf64_Ehdr>(bytes, 0);
  if (!file || std::memcmp(file->e_ident, ELFMAG, SELFMAG) != 0) return bad("no ELF header");
  if (file->e_ident[EI_CLASS] != ELFCLASS64) return bad("an ELF file that is not 64-bit");
  Sections sections;
  for (size_t i = 0; i < file->e_shnum; ++i) {
    const auto header = at<Elf64_Shdr>(bytes, file->e_shoff + i * sizeof(Elf64_Shdr));
    if (!header) return bad("a section table that ends early");
    sections.headers.push_back(*header);
  }
  if (file->e_shstrndx >= sections.headers.size()) return bad("no section names");
  const Elf64_Shdr& names = sections.headers[file->e_shstrndx];
  sections.names = slice(bytes, names.sh_offset, names.sh_size);
  return sections;
}

/// The index of symbol `entry`.
std::optional<uint32_t> symbol_index(std::string_view bytes,
                                     const Sections& sections,
                                     std::string_view entry) {
  const Elf64_Shdr* table = sections.find(".symtab");
  const Elf64_Shdr* strings = sections.find(".strtab");
  if (table == nullptr || strings == nullptr) return std::nullopt;
  const std::string_view symbols = slice(bytes, table->sh_offset, table->sh_size);
  const std::string_view names = slice(bytes, strings->sh_offset, strings->sh_size);
  for (uint32_t i = 0; (i + 1) * sizeof(Elf64_Sym) <= symbols.size(); ++i) {
    const auto symbol = at<Elf64_Sym>(symbols, i * sizeof(Elf64_Sym));
    if (symbol && word(names, symbol->st_name) == entry) return i;
  }
  return std::nullopt;
}

}  // namespace

Result<Resources> read_resources(std::string_view bytes, std::string_view entry) {
  ORR_TRY(const Sections sections, read_sections(bytes));
  const auto symbol = symbol_index(bytes, sections, entry);
  if (!symbol) return bad(fmt::format("no function '{}'", entry));
  const Elf64_Shdr* info = sections.find(".nv.info");
  if (info == nullptr) return bad("no section .nv.info");
  const std::string_view attributes = slice(bytes, info->sh_offset, info->sh_size);
  Resources resources;
  bool found = false;
  for (size_t offset = 0; offset + kAttributeHeader <= attributes.size();) {
    const auto format = *at<uint8_t>(attributes, offset);
    const auto kind = *at<uint8_t>(attributes, offset + 1);
    const auto length = *at<uint16_t>(attributes, offset + 2);
    const size_t value = offset + kAttributeHeader;
    offset = value + (format == kFormatSized ? length : 0);
    if (format != kFormatSized || at<uint32_t>(attributes, value) != symbol) continue;
    const auto number = at<uint32_t>(attributes, value + 4);
    if (!number) return bad("an attribute that ends early");
    if (kind == kRegisterCount) {
      resources.registers = *number;
      found = true;
    } else if (kind == kFrameSize) {
      resources.stack_bytes = *number;
    }
  }
  if (!found) return bad(fmt::format("no register count of '{}'", entry));
  return resources;
}

}  // namespace orrery::runtime::cuda
