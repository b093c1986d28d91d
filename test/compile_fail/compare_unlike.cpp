// Must not compile: a comparison of bytes with cycles.
// SPDX-License-Identifier: Apache-2.0
// expect: no match for .operator<.|invalid operands to binary
#include "orrery/base/quantity.h"

using namespace orrery;

const bool kFine = Bytes(1.0) < Bytes(2.0);

#ifdef MUST_FAIL
const bool kWrong = Bytes(1.0) < Cycles(2.0);
#endif
