// Must not compile: a bare double where bytes are needed.
// SPDX-License-Identifier: Apache-2.0
// expect: could not convert|no viable conversion|no matching function
#include "orrery/base/quantity.h"

using namespace orrery;

void move(Bytes) {}

void fine() {
  move(Bytes(5.0));
}

#ifdef MUST_FAIL
void wrong() {
  move(5.0);
}
#endif
