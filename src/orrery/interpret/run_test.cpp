// Programs small enough to check by hand, and what the interpreter refuses.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "orrery/interpret/interpret.h"

namespace orrery::interpret {
namespace {

using kernel::Access;
using kernel::Axis;
using kernel::AxisId;
using kernel::AxisKind;
using kernel::Buffer;
using kernel::BufferId;
using kernel::ExprOp;
using kernel::Extents;
using kernel::Program;
using kernel::Space;
using kernel::StageId;
using kernel::TensorId;

// Programs are put together in the order of their text form.
class Draft {
 public:
  AxisId axis(const std::string& name, int64_t tile, AxisKind kind) {
    Axis axis;
    axis.name = name;
    axis.extent.symbol = name;
    axis.tile = tile;
    axis.kind = kind;
    program_.axes.push_back(axis);
    const AxisId id = AxisId::from_index(program_.axes.size() - 1);
    if (kind == AxisKind::Grid) program_.raster.order.push_back(id);
    return id;
  }

  TensorId tensor(const std::string& name,
                  std::vector<AxisId> axes,
                  Access access = Access::Read,
                  DType dtype = DType::F32) {
    program_.tensors.push_back({name, dtype, std::move(axes), access});
    return TensorId::from_index(program_.tensors.size() - 1);
  }

  BufferId buffer(const std::string& name, std::vector<AxisId> axes, DType dtype = DType::F32) {
    Buffer buffer;
    buffer.name = name;
    buffer.dtype = dtype;
    buffer.axes = std::move(axes);
    program_.buffers.push_back(buffer);
    return BufferId::from_index(program_.buffers.size() - 1);
  }

  void phase(std::optional<AxisId> loop, std::vector<kernel::Op> body) {
    kernel::Phase phase{loop, {}};
    for (kernel::Op& op : body) phase.body.push_back({StageId(0), std::move(op)});
    program_.phases.push_back(std::move(phase));
  }

  Program& program() { return program_; }

  Program build() {
    program_.name = "test";
    program_.stages.push_back({"all", kernel::StageKind::Consumer, 4, 0});
    return program_;
  }

 private:
  Program program_;
};

Extents bind(std::vector<std::pair<std::string, int64_t>> values) {
  Extents extents;
  for (const auto& [symbol, value] : values) extents.set(symbol, value);
  return extents;
}

std::vector<float> count_up(size_t size) {
  std::vector<float> values(size);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

// y = 2 * x + b over [m, n] in tiles of 2 x 4, b along n.
Program scale_and_shift() {
  Draft draft;
  const AxisId m = draft.axis("m", 2, AxisKind::Grid);
  const AxisId n = draft.axis("n", 4, AxisKind::Grid);
  const TensorId x = draft.tensor("x", {m, n});
  const TensorId b = draft.tensor("b", {n});
  const TensorId y = draft.tensor("y", {m, n}, Access::Write);
  const BufferId tile = draft.buffer("tile", {m, n});
  draft.phase({},
              {kernel::Load{tile, x},
               kernel::Map{tile,
                           binary(ExprOp::Add,
                                  binary(ExprOp::Mul, kernel::buffer(tile), kernel::constant(2.0)),
                                  kernel::tensor(b))},
               kernel::Store{y, tile, {}}});
  return draft.build();
}

TEST(Run, MapsEveryElementAndNothingOutside) {
  // 3 x 5 is two tiles by two; both last tiles are partial.
  std::vector<HostTensor> tensors = {{"x", {3, 5}, count_up(15)},
                                     {"b", {5}, {10, 20, 30, 40, 50}},
                                     {"y", {3, 5}, std::vector<float>(15, -1.0F)}};
  ASSERT_TRUE(run(scale_and_shift(), bind({{"m", 3}, {"n", 5}}), tensors).ok());
  for (size_t i = 0; i < 15; ++i) {
    const float want = 2.0F * static_cast<float>(i + 1) + 10.0F * static_cast<float>(i % 5 + 1);
    EXPECT_EQ(tensors[2].values[i], want) << i;
  }
}

TEST(Run, NamesEveryTensorThatDoesNotFit) {
  std::vector<HostTensor> tensors = {{"x", {5, 3}, count_up(15)}, {"b", {5}, count_up(4)}};
  const auto result = run(scale_and_shift(), bind({{"m", 3}, {"n", 5}}), tensors);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "[interpret.run] tensors do not fit kernel 'test': 'x' has another shape: got [5, 3], "
            "need [3, 5]; 'b' has another number of values: got 4, need 5; 'y' is missing, need "
            "[3, 5]");
}

TEST(Run, RefusesAMissingExtent) {
  std::vector<HostTensor> tensors;
  const auto result = run(scale_and_shift(), bind({{"m", 3}}), tensors);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
  EXPECT_NE(result.error().message.find("'n'"), std::string::npos) << result.error().message;
}

// C[m, n] = A[m, k] B[n, k]^T, the walk over k divided among `parts` units.
Program partial_products(bool with_parts) {
  Draft draft;
  const AxisId m = draft.axis("m", 2, AxisKind::Grid);
  const AxisId n = draft.axis("n", 2, AxisKind::Grid);
  const AxisId k = draft.axis("k", 2, AxisKind::Loop);
  std::vector<AxisId> result = {m, n};
  if (with_parts) {
    const AxisId part = draft.axis("part", 1, AxisKind::Grid);
    draft.program().axes[k.index()].parts = part;
    result.insert(result.begin(), part);
  }
  const TensorId a = draft.tensor("A", {m, k});
  const TensorId b = draft.tensor("B", {n, k});
  const TensorId c = draft.tensor("C", result, Access::Write);
  const BufferId ta = draft.buffer("a", {m, k});
  const BufferId tb = draft.buffer("b", {n, k});
  const BufferId acc = draft.buffer("acc", {m, n});
  draft.phase({}, {kernel::Map{acc, kernel::constant(0.0)}});
  draft.phase(k, {kernel::Load{ta, a}, kernel::Load{tb, b}, kernel::Mma{acc, ta, tb, {}}});
  draft.phase({}, {kernel::Store{c, acc, {}}});
  return draft.build();
}

TEST(Run, ContractsTheAxisThatTheResultLacks) {
  // Rows of A: (1 2 3), (4 5 6), (7 8 9); rows of B: (1 0 1), (0 1 0).
  std::vector<HostTensor> tensors = {{"A", {3, 3}, count_up(9)},
                                     {"B", {2, 3}, {1, 0, 1, 0, 1, 0}},
                                     {"C", {3, 2}, std::vector<float>(6)}};
  ASSERT_TRUE(run(partial_products(false), bind({{"m", 3}, {"n", 2}, {"k", 3}}), tensors).ok());
  EXPECT_EQ(tensors[2].values, (std::vector<float>{4, 2, 10, 5, 16, 8}));
}

TEST(Run, DividesAWalkAmongParts) {
  // k = 5 is three tiles of 2; two parts walk tiles {0, 1} and {2}; a fourth part would walk none.
  const std::vector<float> ones(5, 1.0F);
  std::vector<HostTensor> tensors = {
      {"A", {1, 5}, {1, 10, 100, 1000, 10000}}, {"B", {1, 5}, ones}, {"C", {2, 1, 1}, {0, 0}}};
  const auto extents = bind({{"m", 1}, {"n", 1}, {"k", 5}, {"part", 2}});
  ASSERT_TRUE(run(partial_products(true), extents, tensors).ok());
  EXPECT_EQ(tensors[2].values, (std::vector<float>{1111, 10000}));
}

TEST(Run, GivesAPartWithoutTilesItsStartValue) {
  std::vector<HostTensor> tensors = {
      {"A", {1, 1}, {3}}, {"B", {1, 1}, {5}}, {"C", {4, 1, 1}, {9, 9, 9, 9}}};
  const auto extents = bind({{"m", 1}, {"n", 1}, {"k", 1}, {"part", 4}});
  ASSERT_TRUE(run(partial_products(true), extents, tensors).ok());
  EXPECT_EQ(tensors[2].values, (std::vector<float>{15, 0, 0, 0}));
}

TEST(Run, AccumulatesProductsInAscendingOrderWithoutContraction) {
  // 1e8 + 4 rounds to 1e8 in binary32 (spacing 8), so the fours vanish one by one; any other order,
  // or a wider accumulator, would keep some of them.
  std::vector<HostTensor> tensors = {
      {"A", {1, 4}, {1e8F, 4, 4, -1e8F}}, {"B", {1, 4}, {1, 1, 1, 1}}, {"C", {1, 1}, {9}}};
  ASSERT_TRUE(run(partial_products(false), bind({{"m", 1}, {"n", 1}, {"k", 4}}), tensors).ok());
  EXPECT_EQ(tensors[2].values[0], 0.0F);
  // A fused multiply-add would keep the tail of (1 + 2^-12)^2 that the separate product rounds
  // away.
  const float x = 1.0F + 0x1p-12F;
  tensors = {{"A", {1, 2}, {1, x}}, {"B", {1, 2}, {-x * x, x}}, {"C", {1, 1}, {9}}};
  ASSERT_TRUE(run(partial_products(false), bind({{"m", 1}, {"n", 1}, {"k", 2}}), tensors).ok());
  EXPECT_EQ(tensors[2].values[0], 0.0F);
}

// s[m] and t[m]: sum and maximum over n, masked with -inf where n ends.
Program row_statistics(DType sum_type) {
  Draft draft;
  const AxisId m = draft.axis("m", 2, AxisKind::Grid);
  const AxisId n = draft.axis("n", 4, AxisKind::Whole);
  const TensorId x = draft.tensor("x", {m, n});
  const TensorId s = draft.tensor("s", {m}, Access::Write);
  const TensorId t = draft.tensor("t", {m}, Access::Write);
  const BufferId tile = draft.buffer("tile", {m, n});
  const BufferId sum = draft.buffer("sum", {m}, sum_type);
  const BufferId top = draft.buffer("top", {m});
  const auto masked = kernel::inside(
      n, kernel::buffer(tile), kernel::constant(-std::numeric_limits<double>::infinity()));
  draft.phase({},
              {kernel::Load{tile, x},
               kernel::Reduce{sum, kernel::ReduceKind::Sum, kernel::buffer(tile)},
               kernel::Reduce{top, kernel::ReduceKind::Max, masked},
               kernel::Map{sum, binary(ExprOp::Div, kernel::buffer(sum), kernel::extent(n))},
               kernel::Store{s, sum, {}},
               kernel::Store{t, top, {}}});
  return draft.build();
}

TEST(Run, ReducesAlongTheAxisThatTheResultLacks) {
  std::vector<HostTensor> tensors = {{"x", {3, 3}, {-1, -2, -6, 4, 5, 6, -7, -8, -9}},
                                     {"s", {3}, std::vector<float>(3)},
                                     {"t", {3}, std::vector<float>(3)}};
  ASSERT_TRUE(run(row_statistics(DType::F32), bind({{"m", 3}, {"n", 3}}), tensors).ok());
  EXPECT_EQ(tensors[1].values, (std::vector<float>{-3, 5, -8}));
  EXPECT_EQ(tensors[2].values, (std::vector<float>{-1, 6, -7}));  // not the 0 of the filling
}

TEST(Run, RoundsAtEveryAssignment) {
  // 257 needs nine mantissa bits, bf16 has eight: the sum rounds to 256 before it is halved.
  std::vector<HostTensor> tensors = {{"x", {1, 2}, {256, 1}}, {"s", {1}, {0}}, {"t", {1}, {0}}};
  ASSERT_TRUE(run(row_statistics(DType::BF16), bind({{"m", 1}, {"n", 2}}), tensors).ok());
  EXPECT_EQ(tensors[1].values[0], 128.0F);
  ASSERT_TRUE(run(row_statistics(DType::F32), bind({{"m", 1}, {"n", 2}}), tensors).ok());
  EXPECT_EQ(tensors[1].values[0], 128.5F);
}

TEST(Run, RefusesAWholeAxisThatOneTileDoesNotCover) {
  std::vector<HostTensor> tensors = {{"x", {1, 5}, count_up(5)}, {"s", {1}, {0}}, {"t", {1}, {0}}};
  EXPECT_FALSE(run(row_statistics(DType::F32), bind({{"m", 1}, {"n", 5}}), tensors).ok());
}

TEST(Run, RefusesAnOperandThatVariesAlongAnAxisTheResultLacks) {
  Draft draft;
  const AxisId m = draft.axis("m", 2, AxisKind::Grid);
  const AxisId n = draft.axis("n", 4, AxisKind::Whole);
  const TensorId x = draft.tensor("x", {m, n});
  const BufferId tile = draft.buffer("tile", {m, n});
  const BufferId row = draft.buffer("row", {m});
  draft.phase({}, {kernel::Load{tile, x}, kernel::Map{row, kernel::buffer(tile)}});
  std::vector<HostTensor> tensors = {{"x", {2, 4}, count_up(8)}};
  const auto result = run(draft.build(), bind({{"m", 2}, {"n", 4}}), tensors);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message,
            "[interpret.tile] operand 'tile' varies along an axis that the result lacks: got axis "
            "'n' of tile 4, need tile 1");
}

}  // namespace
}  // namespace orrery::interpret
