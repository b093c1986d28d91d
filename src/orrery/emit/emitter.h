// Emitters: the source text of a kernel program for one target, and how to launch it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/geometry.h"
#include "orrery/kernel/program.h"

namespace orrery::emit {

/// A tensor copy descriptor (CUtensorMap) that the launcher encodes from the tensor's pointer and
/// extents: the box is the tile of the tensor's axes (innermost first `panel` elements wide), with
/// the shared layout's swizzle.
struct TensorMap {
  kernel::TensorId tensor;
  std::vector<int64_t> box;  // elements, outermost axis first; one entry per tensor axis
  int64_t swizzle = 0;       // bytes
};

enum class ArgumentKind { TensorMap, Pointer, Extent };

/// One argument of the kernel function, in order. Pointers are passed for every tensor not only
/// reached by maps, extents as int32 for every symbol of the program.
struct Argument {
  ArgumentKind kind = ArgumentKind::Pointer;
  kernel::TensorId tensor;  // Pointer
  size_t map = 0;           // TensorMap: index into Source::maps
  std::string symbol;       // Extent
};

/// Source text of one kernel and everything needed to launch it.
struct Source {
  std::string code;
  std::string entry;  // the function's name
  std::vector<TensorMap> maps;
  std::vector<Argument> arguments;
  std::vector<std::string> options;  // compiler options that the code needs
};

}  // namespace orrery::emit
