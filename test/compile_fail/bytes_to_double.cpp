// Must not compile: bytes where a bare double is needed.
// SPDX-License-Identifier: Apache-2.0
// expect: cannot convert|no viable conversion
#include "orrery/base/quantity.h"

using namespace orrery;

const double kFine = Bytes(1.0).value();

#ifdef MUST_FAIL
const double kWrong = Bytes(1.0);
#endif
