// The arithmetic of a call, whatever kernels run it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "orrery/base/quantity.h"
#include "orrery/library/call.h"

namespace orrery::library {

// Matrix FLOP that the operator needs, two a multiply-add; no padding of tiles, no softmax:
//
//     gemm           2 m n k a batch
//     grouped_gemm   2 rows n k, of all groups
//     moe            2 rows hidden inter, twice or, if gated, three times
//     attention      2 (head_dim + head_dim_v) a head and pair of a query and a key that it sees;
//                    backward 2 (3 head_dim + 2 head_dim_v)
//     conv           2 c / groups r s an element of the result
//
// Nothing for the other operators.
std::optional<Flops> call_flops(const Call& call);

}  // namespace orrery::library
