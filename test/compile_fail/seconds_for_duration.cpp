// Must not compile: wall seconds where simulated time is needed.
// SPDX-License-Identifier: Apache-2.0
// expect: conversion from|no viable conversion
#include "orrery/base/quantity.h"

using namespace orrery;

const Duration kFine = Duration::from(Seconds(1.0));

#ifdef MUST_FAIL
const Duration kWrong = Seconds(1.0);
#endif
