// Libraries: reading a library file, and dispatch of a call to the family that serves it.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/library/framework_attention.h"
#include "orrery/library/gemm_types.h"
#include "orrery/library/moe.h"
#include "orrery/library/moe_types.h"

namespace orrery::library {
namespace {

using machine::NumberFile;

// Those of a call's sizes that are out of range, or empty.
std::string bad_sizes(const Call& call) {
  constexpr int64_t kMost =
      int64_t{1} << 40;  // any tensor of the world is smaller, and products stay exact enough
  std::string bad;
  for (const auto& [size, value] : positive_sizes(call)) {
    if (value <= 0 || value > kMost) {
      bad += fmt::format("{}{} = {}", bad.empty() ? "" : ", ", size, value);
    }
  }
  return bad;
}

std::string joined(const std::vector<FileInfo>& files,
                   std::string FileInfo::* part,
                   std::string_view between) {
  std::string all;
  for (const FileInfo& file : files) {
    all += (all.empty() ? "" : std::string(between)) + file.*part;
  }
  return all;
}

// Of a family that chooses for itself, a call that names its kernel asks in vain.
Result<void> check_named(const Call& call, const Family& family) {
  const auto* gemm = std::get_if<GemmCall>(&call);
  if (gemm == nullptr || gemm->kernel.empty() || gemm->quantise != QuantiseA::None ||
      family.takes_names()) {
    return {};
  }
  return make_error(ErrorCode::Unsupported,
                    "[library.gemm] kernel: got '{}' for {}{}, need none: its kernels have no rule "
                    "for names",
                    gemm->kernel,
                    types_name(*gemm),
                    gemm->backend.empty() ? "" : " of " + gemm->backend);
}

}  // namespace

Result<Library> Library::parse(std::string_view toml, std::string_view origin) {
  ORR_TRY(auto file, NumberFile::parse(toml, origin));
  Library library;
  FileInfo info{.id = file.text("id"), .version = file.text("version"), .numbers = {}};
  const auto kinds = family_kinds();
  for (size_t i = 0; i < kinds.size(); ++i) {
    if (file.has_under(kinds[i].section)) {
      library.families_.push_back({i, kinds[i].read(file)});
    }
  }
  ORR_TRY_VOID(file.finish("library.parse"));
  info.numbers = std::move(file).numbers();
  library.files_.push_back(std::move(info));
  return library;
}

Library Library::join(std::vector<Library> parts) {
  Library all;
  for (Library& part : parts) {
    std::move(part.files_.begin(), part.files_.end(), std::back_inserter(all.files_));
    std::move(part.families_.begin(), part.families_.end(), std::back_inserter(all.families_));
  }
  std::stable_sort(all.families_.begin(),
                   all.families_.end(),
                   [](const Member& a, const Member& b) { return a.kind < b.kind; });
  return all;
}

std::string Library::id() const {
  return joined(files_, &FileInfo::id, " + ");
}

std::string Library::version() const {
  return joined(files_, &FileInfo::version, ", ");
}

Result<Candidates> Library::sequence_of(std::span<const Call> calls,
                                        const machine::Chip& chip) const {
  std::vector<kernel::Profile> sequence;
  for (const Call& each : calls) {
    ORR_TRY(Candidates found, candidates(each, chip));
    for (auto& profile : found.front()) {
      sequence.push_back(std::move(profile));
    }
  }
  return Candidates{std::move(sequence)};
}

Result<Candidates> Library::before_product(const std::vector<kernel::Profile>& first,
                                           GemmCall call,
                                           const machine::Chip& chip) const {
  call.quantise = QuantiseA::None;
  ORR_TRY(Candidates all, candidates(call, chip));
  for (auto& sequence : all) {
    sequence.insert(sequence.begin(), first.begin(), first.end());
  }
  return all;
}

Result<Candidates> Library::candidates(const Call& call, const machine::Chip& chip) const {
  if (const std::string bad = bad_sizes(call); !bad.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[library.{}] sizes out of range: got {}, need 1 to 2^40",
                      name(call),
                      bad);
  }
  if (const auto* moe = std::get_if<MoeCall>(&call); moe != nullptr && moe->backend.empty()) {
    return sequence_of(moe_calls(*moe), chip);
  }
  for (const Member& member : families_) {
    if (member.family->serves(call)) {
      ORR_TRY_VOID(check_named(call, *member.family));
      ORR_TRY(Candidates all, member.family->candidates(call, chip));
      if (const auto* gemm = std::get_if<GemmCall>(&call);
          gemm != nullptr && gemm->quantise != QuantiseA::None) {
        return before_product(all.front(), *gemm, chip);
      }
      for (const Call& other : member.family->handed_on(call)) {
        ORR_TRY(Candidates more, candidates(other, chip));
        all.insert(
            all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
      }
      return all;
    }
  }
  if (const auto* attention = std::get_if<AttentionCall>(&call)) {
    return make_error(ErrorCode::Unsupported,
                      "[library.attention] backend: got '{}' with libraries {}, need one with a "
                      "rule for it; there are cudnn, efficient, flash and {}",
                      attention->backend,
                      files_.empty() ? "none" : id(),
                      orrery::join(framework_backends(), ", "));
  }
  if (const auto* gemm = std::get_if<GemmCall>(&call); gemm != nullptr && !gemm->backend.empty()) {
    return make_error(ErrorCode::Unsupported,
                      "[library.gemm] backend: got '{}' for {} with libraries {}, need one with a "
                      "rule for it",
                      gemm->backend,
                      types_name(*gemm),
                      files_.empty() ? "none" : id());
  }
  if (const auto* moe = std::get_if<MoeCall>(&call)) {
    return make_error(ErrorCode::Unsupported,
                      "[library.moe] backend: got '{}' for {} with libraries {}, need one with a "
                      "rule for it",
                      moe->backend,
                      types_name(*moe),
                      files_.empty() ? "none" : id());
  }
  return make_error(ErrorCode::Unsupported,
                    "[library.candidates] {}: got libraries {}, need one with a rule for it",
                    name(call),
                    files_.empty() ? "none" : id());
}

}  // namespace orrery::library
