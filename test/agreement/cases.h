// Random cases of the three kernel families: programs, sizes, inputs, references.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "orrery/interpret/interpret.h"
#include "orrery/kernel/program.h"

namespace orrery::agreement {

// A case is one or two kernels (a divided walk and its combination) over named tensors, with a
// reference computed in binary64 straight from the formula and, per element, how far rounding may
// take the kernels from it.
struct Case {
  std::string title;
  std::vector<kernel::Program> kernels;
  kernel::Extents extents;
  std::vector<interpret::HostTensor> tensors;  // inputs filled, outputs and partial results zero

  struct Expected {
    std::string tensor;
    std::vector<double> values;
    std::vector<double> tolerance;
  };

  std::vector<Expected> expected;
};

/// The kernel comes from `kernels`, sizes and values from `random`: ones, odd numbers, several
/// tiles. Even numbers of `index` are programs for sm_90a, odd ones for gfx942; the promise that
/// sizes are multiples is taken away, so that every size may occur.
Case gemm_case(std::mt19937& kernels, std::mt19937& random, int index);
Case add_rms_norm_case(std::mt19937& kernels, std::mt19937& random, int index);
Case decode_case(std::mt19937& kernels, std::mt19937& random, int index);

/// The tensor called `name`.
interpret::HostTensor& find(std::vector<interpret::HostTensor>& tensors, const std::string& name);

}  // namespace orrery::agreement
