// Libraries: profiles of kernels we do not own, and each library's rules for choosing among them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/library/call.h"
#include "orrery/library/family.h"
#include "orrery/machine/machine.h"

namespace orrery::library {

/// A library file as a report names it.
struct FileInfo {
  std::string id;       // "cublas-13"
  std::string version;  // "cuBLAS 13.0"
  std::vector<machine::Number> numbers;
  bool operator==(const FileInfo&) const = default;
};

/// Library files, read (libraries/*.toml): tile sets, rules, instruction counts, fixed costs. A
/// machine's software is several of them, joined.
class Library {
 public:
  /// One file. Errors carry the key and position of every offending number.
  static Result<Library> parse(std::string_view toml, std::string_view origin);

  /// Several files as one; their families are asked in the order of family_kinds(), those of one
  /// kind in the order given here.
  static Library join(std::vector<Library> parts);

  std::string id() const;       // "cublas-13 + cudnn-9"
  std::string version() const;  // "cuBLAS 13.0, cuDNN 9.19"

  /// The kernels that may serve `call`. Error Unsupported if no family has a rule for it, saying
  /// what is missing; InvalidInput for sizes outside 1 to 2^40.
  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const;

  /// The files, with every number in them.
  const std::vector<FileInfo>& files() const { return files_; }

 private:
  struct Member {
    size_t kind;  // in family_kinds()
    std::shared_ptr<const Family> family;
  };

  /// The kernels of several calls, one after the other: the first candidate of each.
  Result<Candidates> sequence_of(std::span<const Call> calls, const machine::Chip& chip) const;

  /// The candidates of `call` behind the kernels that quantise its A.
  Result<Candidates> before_product(const std::vector<kernel::Profile>& first,
                                    GemmCall call,
                                    const machine::Chip& chip) const;

  std::vector<FileInfo> files_;
  std::vector<Member> families_;  // immutable, shared by copies (docs/design)
};

}  // namespace orrery::library
