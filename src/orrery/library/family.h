// Families: one kind of kernels of a library; what a library file says of it, and the rule that
// chooses among them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"
#include "orrery/library/call.h"
#include "orrery/machine/machine.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

/// Each candidate is the sequence of kernels that one choice launches (a split-K GEMM and its
/// reduction are two).
using Candidates = std::vector<std::vector<kernel::Profile>>;

/// A section of a library file, read, and its rule. Immutable; used from several threads.
class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  /// Whether `call` is this family's to answer: then it answers, or says why it cannot. Families
  /// are asked in the order of family_kinds().
  virtual bool serves(const Call& call) const = 0;

  /// Profiles with their relative error and reasons. The sizes of `call` lie in 1 to 2^40. Errors:
  /// Unsupported, naming what has no rule and what has.
  virtual Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const = 0;

  /// Whether candidates() heeds GemmCall::kernel.
  virtual bool takes_names() const { return false; }

  /// Calls that the library may turn `call` into, served by other families, whose candidates join
  /// this one's: a 1 x 1 convolution is a product.
  virtual std::vector<Call> handed_on(const Call& /*call*/) const { return {}; }
};

struct FamilyKind {
  std::string_view
      section;  // of a library file, e.g. "nvjet"; the family exists where the file has it
  std::unique_ptr<Family> (*read)(machine::NumberFile& file);
};

/// Every family there is, in the order in which they are asked.
std::span<const FamilyKind> family_kinds();

}  // namespace orrery::library
