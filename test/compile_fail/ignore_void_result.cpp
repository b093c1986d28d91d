// Must not compile: a Result<void> that nobody looks at.
// SPDX-License-Identifier: Apache-2.0
// expect: nodiscard
#include "orrery/base/result.h"

using namespace orrery;

Result<void> fallible() {
  return {};
}

bool fine() {
  return fallible().ok();
}

#ifdef MUST_FAIL
void wrong() {
  fallible();
}
#endif
