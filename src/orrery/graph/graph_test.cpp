// Graphs: text form, verifier, builder, sizes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/graph/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "orrery/graph/builder.h"
#include "orrery/graph/parse.h"
#include "orrery/graph/print.h"

namespace orrery::graph {
namespace {

constexpr std::string_view kTiny = R"(graph "tiny"
dim batch
input x: bf16 [batch, 64]
repeat 12 layer
  carry h: bf16 [batch, 64] = x
  weight w: bf16 [64, 64]
  y: bf16 [batch, 64] = linear h w
  next h = y
end
z: bf16 [batch, 16] = slice y axis=1 begin=-16 size=16
output z
)";

Graph tiny() {
  Result<Graph> graph = parse(kTiny);
  EXPECT_TRUE(graph.ok()) << (graph.ok() ? "" : graph.error().to_string());
  return *std::move(graph);
}

/// The message that replacing `from` by `to` in the tiny graph leads to.
std::string complaint(std::string_view from, std::string_view to) {
  std::string text(kTiny);
  text.replace(text.find(from), from.size(), to);
  const Result<Graph> graph = parse(text);
  return graph.ok() ? "" : graph.error().message;
}

TEST(Graph, PrintsWhatItParsed) {
  EXPECT_EQ(print(tiny()), kTiny);
}

TEST(Graph, BuilderAndTextAgreeWhateverTheOrderOfDeclarations) {
  Builder b("tiny");
  const Dim batch = b.dim("batch");
  const ValueId x = b.input("x", {DType::BF16, {batch, Dim(64)}});
  const auto carried = b.begin_repeat("layer", 12, {{"h", x}});
  const ValueId w = b.weight("w", {DType::BF16, {Dim(64), Dim(64)}});
  const ValueId y = b.op("y", OpKind::Linear, {carried[0], w});
  b.end_repeat({y});
  b.output(b.op("z", OpKind::Slice, {y}, {.axis = 1, .begin = -16, .size = 16}));
  const Result<Graph> built = std::move(b).build();
  ASSERT_TRUE(built.ok()) << built.error().to_string();
  EXPECT_EQ(*built, tiny());
  EXPECT_EQ(built->hash(), tiny().hash());
}

TEST(Graph, BuilderReportsTheFirstErrorAtBuild) {
  Builder b("bad");
  const ValueId x = b.input("x", {DType::BF16, {Dim(2), Dim(3)}});
  const ValueId w = b.weight("w", {DType::BF16, {Dim(4), Dim(5)}});
  const ValueId y = b.op("y", OpKind::Linear, {x, w});
  b.output(b.op("z", OpKind::Silu, {y}));
  const Result<Graph> built = std::move(b).build();
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().message,
            "[graph.infer] linear: got bf16 [2, 3] and bf16 [4, 5], need x [.., k], w [n, k] and "
            "perhaps a bias [n], of one type");
}

TEST(Graph, TimesCountsPassesOfTheRepeat) {
  const Graph graph = tiny();
  for (const Value& value : graph.values()) {
    EXPECT_EQ(graph.times(value), value.repeat.valid() ? 12 : 1) << value.name;
  }
}

TEST(GraphVerify, RefusesWhatIsNotWellFormed) {
  const auto expect = [](std::string_view from, std::string_view to, std::string_view message) {
    EXPECT_THAT(complaint(from, to), ::testing::HasSubstr(std::string(message))) << to;
  };
  expect("linear h w", "embedding h w", "embedding: got");
  expect("linear h w", "linear h x", "got type bf16 [batch, 64], need bf16 [batch, batch]");
  expect("repeat 12", "repeat 0", "got a count of 0, need at least 1");
  expect("output z", "output h", "not assigned at the end");
  expect("slice y", "slice h", "reads 'h', which is not assigned there");
  expect("dim batch", "dim batch dim batch", "extent 'batch' is declared twice");
  expect("weight w: bf16", "weight x: bf16 [1] weight w: bf16", "value 'x' is declared twice");
  expect("weight w: bf16", "weight end: bf16 [1] weight w: bf16", "no word of the text form");
  expect("= x", "= y", "need the name of a value");
  expect("begin=-16 size=16", "begin=60 size=16", "need extents that hold");
  expect("output z\n", "", "got no output");
  expect("w: bf16 [64, 64]", "w: bf16 [64, 0]", "extents of at least 1");
}

TEST(GraphParse, SaysWhere) {
  EXPECT_EQ(complaint("linear", "lineal"),
            "[graph.parse] line 7, column 25: got 'lineal', need an operator");
  EXPECT_EQ(complaint("end\n", ""),
            "[graph.parse] line 11, column 1: got the end of the text, "
            "need 'end' of the repeat");
}

TEST(Sizes, BindEveryNameOnce) {
  const Graph graph = tiny();
  const std::vector<std::pair<std::string, int64_t>> good = {{"batch", 8}};
  const Result<Sizes> sizes = Sizes::bind(graph, good);
  ASSERT_TRUE(sizes.ok());
  // 8 rows of 64 elements of 2 bytes
  EXPECT_EQ(sizes->bytes(graph.values()[0].type), Bytes(1024));
  const std::vector<std::pair<std::string, int64_t>> bad = {{"batch", 0}, {"bach", 1}};
  EXPECT_EQ(Sizes::bind(graph, bad).error().message,
            "[graph.sizes] batch: got 0, need at least 1; 'bach' is no extent of graph 'tiny'");
  EXPECT_EQ(Sizes::bind(graph, {}).error().message, "[graph.sizes] batch: got no value, need one");
}

TEST(Op, NamesAreUniqueAndFound) {
  for (const OpInfo& op : all_ops()) {
    EXPECT_EQ(find_op(op.name), op.kind);
    EXPECT_LE(op.fewest_inputs, op.most_inputs);
  }
  EXPECT_EQ(find_op("no_such_operator"), std::nullopt);
}

}  // namespace
}  // namespace orrery::graph
