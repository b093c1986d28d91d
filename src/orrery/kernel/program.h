// Kernel programs: what one GPU kernel does, at tile level, as plain data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/kernel/expression.h"
#include "orrery/kernel/layout.h"

namespace orrery::kernel {

// One kernel, written down once and read three ways: its time (profile.h, cost/), its values
// (interpret/), its code (emit/). Here is a GEMM with bias, whole, in the text form that print.h
// writes and parse.h reads:
//
//     kernel gemm_bias
//     target sm_90a
//     axis m extent m tile 128 grid
//     axis n extent n tile 256 grid
//     axis k extent k tile 64 loop
//     tensor A bf16 [m, k] read
//     tensor B bf16 [n, k] read
//     tensor bias bf16 [n] read
//     tensor C bf16 [m, n] write
//     stage load producer warps 1 registers 40
//     stage main consumer warps 8 registers 232
//     buffer a bf16 [m, k] shared ring 4 panel 64 swizzle 128
//     buffer b bf16 [n, k] shared ring 4 panel 64 swizzle 128
//     buffer acc f32 [m, n] fragment { register 2:n*1 2:m*8 32:n*8 lane 4:n*2 8:m*1 warp 4:m*16
//     2:m*64 } buffer c bf16 [m, n] fragment { ... the same ... } buffer out bf16 [m, n] shared
//     ring 1 panel 64 swizzle 128 resident 1 raster m n group 8 persistent once
//       main: acc = 0
//     loop k
//       load: a <- A
//       load: b <- B
//       main: acc += mma m64n256k16 a b
//     once
//       main: c = acc + bias
//       main: C <- c via out
//
// **Axes name everything.** A tile has named axes, so a matrix product needs no transpose flags: it
// contracts the axis that both operands have and the result lacks; rows come from the first
// operand, columns from the second. A broadcast is a missing axis, a reduction drops one. An axis
// has a run-time extent (a symbol or a number), a compile-time tile, and a kind:
//     grid   one tile per program instance ("unit" below); the units of all grid axes are spread
//     over the GPU loop   a loop phase walks its tiles in order; `parts p` divides the walk among
//     the tiles of grid axis p
//            (split-K, split-KV): part i of P walks tiles [i*c, (i+1)*c) with c = ceil(tiles / P)
//     whole  one tile covers the whole extent (extent <= tile)
// `axis n extent n multiple 8 tile 256 grid` promises that n is a multiple of 8, so that rows of
// 2-byte elements start at 16-byte boundaries; without it (multiple 1) accesses fall back to
// narrower ones. A tensor is row-major and dense over its axes. A copy moves the tile at the
// current position of every axis; elements outside the tensor are read as 0 and not written. Axes
// of the tensor which the buffer lacks must be grid axes of tile 1.
//
// **Stages are logical.** A statement belongs to a stage; the stage says which workers run it on
// this target. A producer stage has workers of its own and runs ahead of its consumers, through
// *rings*: a shared buffer of depth r filled by the producer holds up to r tiles of the loop.
// Filling, waiting and releasing follow from the data flow, so a program names no barrier. A target
// whose waves are better not specialised (CDNA) has a single stage, which then also loads: its ring
// is filled r - 1 tiles ahead by the same workers. Statements of one stage run in order.
//
// **Values are defined by order.** Expressions are evaluated in binary32; an assignment rounds to
// the buffer's type; mma accumulates in binary32, k ascending; sums of a reduction ascend along the
// axis. The interpreter does exactly this, the emitted CPU code too (same bits); GPUs reorder sums,
// within a stated tolerance.
//
// What is not here: addresses, barriers, threads. Those are the emitter's. Numbers of them that
// matter for time are derived (profile.h, geometry.h).

struct StageTag;
using StageId = Id<StageTag>;

/// The instruction set that layouts, mma shapes and stages are chosen for.
enum class Target { Sm90a, Gfx942 };
std::string_view name(Target target);

/// A run-time size: a symbol bound at launch, or a number known now.
struct Extent {
  std::string symbol;  // empty: fixed
  int64_t fixed = 0;

  bool operator==(const Extent&) const = default;
};

enum class AxisKind { Grid, Loop, Whole };

struct Axis {
  std::string name;
  Extent extent;
  int64_t multiple =
      1;  // the extent is promised to be a multiple (checked at launch): vectors may rely on it
  int64_t tile = 1;
  AxisKind kind = AxisKind::Grid;
  std::optional<AxisId> parts;  // Loop only: the grid axis among whose tiles the walk is divided

  bool operator==(const Axis&) const = default;
};

enum class Access { Read, Write, ReadWrite };

/// An argument in global memory, row-major and dense over `axes`.
struct Tensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<AxisId> axes;
  Access access = Access::Read;

  bool operator==(const Tensor&) const = default;
};

enum class StageKind { Producer, Consumer };

/// Who runs a stage's statements: `warps` warps (waves) with at most `registers` registers a thread
/// (0: the compiler's choice). The first stages get the lowest warp numbers; warp digits of layouts
/// count from the first warp of the stage. A producer uses one elected thread of its warps.
struct Stage {
  std::string name;
  StageKind kind = StageKind::Consumer;
  int64_t warps = 4;
  int64_t registers = 0;

  bool operator==(const Stage&) const = default;
};

enum class Space { Shared, Fragment };

/// A tile on the chip. Its extents are the tiles of its axes (no axes: one number). Shared buffers
/// have a ring depth and a shared layout, fragments a fragment layout.
struct Buffer {
  std::string name;
  DType dtype = DType::F32;
  std::vector<AxisId> axes;
  Space space = Space::Fragment;
  int64_t ring = 1;
  SharedLayout shared;
  FragmentLayout fragment;

  bool operator==(const Buffer&) const = default;
};

/// buffer <- tensor. Into shared memory (asynchronous where the target can) or straight into
/// registers.
struct Load {
  BufferId to;
  TensorId from;
  bool operator==(const Load&) const = default;
};

/// tensor <- buffer, from registers; `via` a shared staging buffer, or directly.
struct Store {
  TensorId to;
  BufferId from;
  std::optional<BufferId> via;
  bool operator==(const Store&) const = default;
};

/// buffer = expression, element by element. Reading the buffer itself is allowed.
struct Map {
  BufferId to;
  Expr value;
  bool operator==(const Map&) const = default;
};

enum class ReduceKind { Sum, Max };

/// buffer = sum or max of an expression over every axis that the expression's operands have and the
/// buffer lacks.
struct Reduce {
  BufferId to;
  ReduceKind kind = ReduceKind::Sum;
  Expr value;
  bool operator==(const Reduce&) const = default;
};

/// The shape of one matrix instruction: wgmma m64nNk16, mfma m32n32k8 / m16n16k16, in elements.
struct MmaShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool operator==(const MmaShape&) const = default;
};

/// acc += first x second: acc [r, c], first has r and the contracted axis, second has c and the
/// contracted axis.
struct Mma {
  BufferId acc;
  BufferId first;
  BufferId second;
  MmaShape shape;
  bool operator==(const Mma&) const = default;
};

using Op = std::variant<Load, Store, Map, Reduce, Mma>;

struct Statement {
  StageId stage;
  Op op;
  bool operator==(const Statement&) const = default;
};

/// A stretch of the program: run once, or once per tile of a loop axis.
struct Phase {
  std::optional<AxisId> loop;
  std::vector<Statement> body;
  bool operator==(const Phase&) const = default;
};

/// In which order units are taken: `order` lists every grid axis, fastest first. With group g > 1
/// the first axis is swept in bands of g tiles, each band over all tiles of the second axis (so
/// neighbours share both operands in L2).
struct Raster {
  std::vector<AxisId> order;
  int64_t group = 1;
  bool operator==(const Raster&) const = default;
};

/// `size` units that are neighbours along `axis` run as one cluster; tiles without that axis are
/// loaded once for all of them (multicast).
struct Cluster {
  AxisId axis;
  int64_t size = 1;
  bool operator==(const Cluster&) const = default;
};

/// A kernel. Plain data; verify.h says when it is well formed.
struct Program {
  std::string name;
  Target target = Target::Sm90a;
  std::vector<Axis> axes;
  std::vector<Tensor> tensors;
  std::vector<Stage> stages;
  std::vector<Buffer> buffers;
  Raster raster;
  std::optional<Cluster> cluster;
  bool persistent = false;  // as many CTAs as fit, each taking units in raster order
  int64_t ctas_per_sm = 1;  // how many the registers are budgeted for
  std::vector<Phase> phases;

  bool operator==(const Program&) const = default;

  const Axis& operator[](AxisId id) const { return axes[id.index()]; }

  const Tensor& operator[](TensorId id) const { return tensors[id.index()]; }

  const Stage& operator[](StageId id) const { return stages[id.index()]; }

  const Buffer& operator[](BufferId id) const { return buffers[id.index()]; }
};

/// Values for the extents' symbols, e.g. {m: 4096, n: 4096, k: 4096}; sorted by name.
struct Extents {
  std::vector<std::pair<std::string, int64_t>> values;
  std::optional<int64_t> find(std::string_view symbol) const;
  void set(std::string_view symbol, int64_t value);
  bool operator==(const Extents&) const = default;
};

}  // namespace orrery::kernel
