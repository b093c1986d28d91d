// Reading of a framework's section in a library file.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/framework_tables.h"

#include <fmt/format.h>

#include "orrery/library/framework_attention.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Range;
using machine::Unit;

// A number of `section`, or of `otherwise` where the section leaves it out: fp8 caches differ from
// 16-bit ones in a few numbers only.
class Section {
 public:
  Section(NumberFile& file, std::string section, std::string otherwise)
      : file_(file), section_(std::move(section)), otherwise_(std::move(otherwise)) {}

  double number(std::string_view key, Unit unit, Range range = Range::NotNegative) {
    const std::string own = section_ + "." + std::string(key);
    const std::string other = otherwise_ + "." + std::string(key);
    return file_.number(file_.has(own) || otherwise_.empty() ? own : other, unit, range);
  }

  double count(std::string_view key) { return number(key, Unit::One, Range::Count); }

  double one(std::string_view key) { return number(key, Unit::One); }

  double cycles(std::string_view key) { return number(key, Unit::Cycles); }

  double seconds(std::string_view key) { return number(key, Unit::Seconds); }

  std::string text(std::string_view key) {
    const std::string own = section_ + "." + std::string(key);
    const std::string other = otherwise_ + "." + std::string(key);
    return file_.text(file_.has(own) || otherwise_.empty() ? own : other);
  }

 private:
  NumberFile& file_;
  std::string section_;
  std::string otherwise_;
};

DecodeTable read_decode(Section section) {
  return {.rule = section.text("rule"),
          .rows = section.count("rows"),
          .keys = section.count("keys"),
          .slots = section.one("slots"),
          .least_keys = section.one("least_keys"),
          .most_splits = section.one("most_splits"),
          .unit = section.cycles("unit"),
          .unit_dim = section.cycles("unit_dim"),
          .unit_row = section.cycles("unit_row"),
          .block = section.cycles("block"),
          .port = section.number("port", Unit::BytesPerCycle),
          .busy = section.one("busy"),
          .overlap = section.one("overlap"),
          .combine = section.seconds("combine"),
          .combine_split = section.seconds("combine_split"),
          .copy = section.seconds("copy"),
          .fixed = section.seconds("fixed"),
          .error = section.one("error")};
}

PrefillTable read_prefill(Section section) {
  return {.rule = section.text("rule"),
          .rows = section.count("rows"),
          .keys = section.count("keys"),
          .packed = section.one("packed") > 0,
          .absorbed = section.one("absorbed") > 0,
          .window = section.one("window") > 0,
          .fp8_math = section.one("fp8_math") > 0,
          .unit = section.cycles("unit"),
          .unit_dim = section.cycles("unit_dim"),
          .block = section.cycles("block"),
          .tensor_share = section.one("tensor_share"),
          .score = section.cycles("score"),
          .odd = section.one("odd"),
          .overlap = section.one("overlap"),
          .fixed = section.seconds("fixed"),
          .error = section.one("error")};
}

KernelTables read_kernel(NumberFile& file, const std::string& section) {
  KernelTables tables;
  const std::string decode = section + ".decode";
  const std::string prefill = section + ".prefill";
  if (file.has_under(decode)) {
    tables.decode = read_decode(Section(file, decode, ""));
    if (file.has_under(decode + "_fp8")) {
      tables.decode_fp8 = read_decode(Section(file, decode + "_fp8", decode));
    }
  }
  if (file.has_under(prefill)) {
    tables.prefill = read_prefill(Section(file, prefill, ""));
    if (file.has_under(prefill + "_fp8")) {
      tables.prefill_fp8 = read_prefill(Section(file, prefill + "_fp8", prefill));
    }
  }
  return tables;
}

}  // namespace

FrameworkTables read_framework(NumberFile& file, const std::string& framework) {
  FrameworkTables tables{.framework = framework, .prologue = {}, .kernels = {}};
  const std::string section = framework + "_attention";
  const std::string prologue = section + ".prologue";
  tables.prologue = {
      .share = file.number(prologue + ".share", Unit::One),
      .rotary = file.number(prologue + ".rotary", Unit::One, Range::NotNegative) > 0,
      .element = file.number(prologue + ".element", Unit::Cycles, Range::NotNegative),
      .element_fp8 = file.number(prologue + ".element_fp8", Unit::Cycles, Range::NotNegative),
      .unlike = file.number(prologue + ".unlike", Unit::Seconds, Range::NotNegative)};
  for (const std::string& kernel : framework_kernels()) {
    KernelTables each = read_kernel(file, fmt::format("{}.{}", section, kernel));
    if (each.decode || each.prefill) {
      tables.kernels.emplace(kernel, std::move(each));
    }
  }
  return tables;
}

}  // namespace orrery::library
