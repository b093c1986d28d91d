// The text form of kernel programs, written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "orrery/kernel/program.h"

namespace orrery::kernel {

// The text form is the one of the example in program.h: a line per declaration, then the phases
// with a line per statement. Everything that has its default is left out, so equal programs have
// equal texts. Spellings worth knowing:
//
//     axis s extent s multiple 8 tile 64 loop parts p      a fixed extent is a number: `extent 128`
//     raster m n group 8        cluster m 2        persistent        ctas_per_sm 2
//     buffer l f32 [m] fragment { register 2:m*8 lane 4:_ 8:m*1 warp 4:m*16 }      `4:_` replicates
//     main: acc += mma m64n256k16 a b
//     main: c = acc * -2 + max(x, y)          usual precedence; max and min are binary
//     main: m = max_over(s)                   a reduction is the whole right side: max_over(...),
//     sum(...) main: s = inside(kv, s * 0.125, -inf) main: y = x / extent(col) main: C <- c via out
//
// A minus before a number belongs to the number: `-2` is a constant, `-(2)` negates one.

/// The text of `program`, ended by a newline. For a program that verify accepts, parse gives the
/// same program back; for any other it is still text for people (an id that names nothing prints as
/// `?`).
std::string print(const Program& program);

/// One statement on one line, without newline: "main: C <- c via out".
std::string print(const Program& program, const Statement& statement);

/// One expression: "max(acc, 0) + bias".
std::string print(const Program& program, const Expr& expression);

/// A layout without braces: "register 2:n*1 2:m*8 lane 4:n*2 8:m*1".
std::string print(const Program& program, const FragmentLayout& layout);

/// A hash of the text that is the same in every run and on every host: the key of caches.
uint64_t text_hash(const Program& program);

}  // namespace orrery::kernel
