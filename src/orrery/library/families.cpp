// The list of families: one line each, in the order in which they are asked.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "orrery/library/attention.h"
#include "orrery/library/family.h"
#include "orrery/library/nvjet.h"
#include "orrery/library/rows.h"

namespace orrery::library {

std::span<const FamilyKind> family_kinds() {
  static constexpr std::array kKinds = {
      FamilyKind{"nvjet", read_nvjet},
      FamilyKind{"flash", read_flash},
      FamilyKind{"attention", read_cudnn_attention},
      FamilyKind{"pointwise", read_pointwise},
      FamilyKind{"norm", read_norm},
      FamilyKind{"softmax", read_softmax},
      FamilyKind{"gather", read_gather},
  };
  return kKinds;
}

}  // namespace orrery::library
