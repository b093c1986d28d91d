// The interpreter of kernel programs: runs one on host arrays, tile by tile. The numeric oracle.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/program.h"

namespace orrery::interpret {

/// A host tensor: values as binary32 (already rounded to the tensor's type where it is narrower),
/// row-major.
struct HostTensor {
  std::string name;  // of the program's tensor
  std::vector<int64_t> shape;
  std::vector<float> values;
};

/// `x` rounded to `type` (round to nearest even) and back. Types wider than binary32 are unchanged.
float round_to(DType type, float x);

/// Runs `program` for `extents`; `tensors` are found by name, written ones are overwritten in
/// place. Semantics: program.h, "values are defined by order". Cost: about 1e8 element operations a
/// second. Errors: a tensor missing, of another shape, or an extent missing.
Result<void> run(const kernel::Program& program,
                 const kernel::Extents& extents,
                 std::span<HostTensor> tensors);

}  // namespace orrery::interpret
