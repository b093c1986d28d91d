// Must not compile: an operator id where a tensor id is needed.
// SPDX-License-Identifier: Apache-2.0
// expect: could not convert|no viable conversion|no matching function
#include "orrery/base/id.h"

using namespace orrery;

using OpId = Id<struct OpTag>;
using TensorId = Id<struct TensorTag>;

void use(TensorId) {}

void fine() {
  use(TensorId(1));
}

#ifdef MUST_FAIL
void wrong() {
  use(OpId(1));
}
#endif
