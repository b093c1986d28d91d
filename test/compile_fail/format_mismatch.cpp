// Must not compile: an error message whose format names more than it is given.
// SPDX-License-Identifier: Apache-2.0
// expect: consteval|constant expression
#include "orrery/base/result.h"

using namespace orrery;

const Error kFine = make_error(ErrorCode::NotFound, "{}", 1);

#ifdef MUST_FAIL
const Error kWrong = make_error(ErrorCode::NotFound, "{} {}", 1);
#endif
