// The names of a layer of experts' types, as the command line and the measured tables take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "orrery/base/result.h"
#include "orrery/library/call.h"

namespace orrery::library {

// As for one product (gemm_types.h), and two more whose weights are e2m1 with a power of two per 32
// of k:
//
//     w4a16_mxfp4        the products multiply bf16
//     w4a8_mxfp4_mxfp8   they multiply e4m3, scaled alike

/// `call` with its types set. Error InvalidInput: no such name.
Result<MoeCall> with_types(MoeCall call, std::string_view name);

/// The name that with_types reads back.
std::string types_name(const MoeCall& call);

/// Bytes of one weight, scales included; of one activation as a product reads it.
double weight_bytes(const MoeCall& call);
double activation_bytes(const MoeCall& call);

}  // namespace orrery::library
