// Must not compile: a time computed by a product instead of a quotient.
// SPDX-License-Identifier: Apache-2.0
// expect: conversion from|no viable conversion
#include "orrery/base/quantity.h"

using namespace orrery;

const Seconds kFine = Bytes(1.0) / BytesPerSecond(2.0);

#ifdef MUST_FAIL
const Seconds kWrong = Bytes(1.0) * BytesPerSecond(2.0);
#endif
