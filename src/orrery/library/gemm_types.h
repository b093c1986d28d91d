// The names of a product's operand types, as the command line and the measured tables take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/library/call.h"

namespace orrery::library {

// A name says more than an element type: what A and B are made of, and what C is written as.
//
//     bf16 fp16 fp32 tf32   A, B and C of one type (tf32 is stored as fp32)
//     fp8                   e4m3 with one scale a tensor, C bf16
//     fp8_block             e4m3 with an fp32 scale per 1 x 128 of A and per 128 x 128 of B, C bf16
//     int8                  C int32
//     w4a16                 A and C bf16; B 4-bit integers with a scale and a zero per 128 of k
//     w8a16                 the same with 8-bit integers and a scale per column of C
//     int8_sq               int8 with a scale per row and per column of C, which is fp16
//     mxfp4, nvfp4          e2m1 with a power of two per 32 of k, an e4m3 scale per 16; C bf16
//
// Every other spelling of an element type (base/dtype.h) is taken as well.

/// `call` with its types set. Error InvalidInput: no such name.
Result<GemmCall> with_types(GemmCall call, std::string_view name);

/// The name that with_types reads back.
std::string types_name(const GemmCall& call);

/// Bytes of B, scales and zeros included; of A, scales included; of C.
Bytes weight_bytes(const GemmCall& call);
Bytes activation_bytes(const GemmCall& call);
Bytes result_bytes(const GemmCall& call);

}  // namespace orrery::library
