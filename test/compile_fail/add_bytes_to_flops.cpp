// Must not compile: a sum of bytes and flops.
// SPDX-License-Identifier: Apache-2.0
// expect: no match for .operator\+.|invalid operands to binary
#include "orrery/base/quantity.h"

using namespace orrery;

const auto kFine = Bytes(1.0) + Bytes(2.0);

#ifdef MUST_FAIL
const auto kWrong = Bytes(1.0) + Flops(2.0);
#endif
