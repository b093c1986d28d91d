// Kernels that TorchInductor generates in Triton: pointwise chains and reductions along rows.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "orrery/library/family.h"

namespace orrery::library {

/// Section "triton": fused calls (fused_call.h).
std::unique_ptr<Family> read_triton_rows(machine::NumberFile& file);

}  // namespace orrery::library
