// Tests of the text form: print and parse undo each other, errors say where and what.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/kernel/limits.h"
#include "orrery/kernel/parse.h"
#include "orrery/kernel/print.h"
#include "orrery/kernel/sample_texts_internal.h"

namespace orrery::kernel {
namespace {

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string copy(text);
  const size_t at = copy.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  if (at != std::string::npos) copy.replace(at, from.size(), to);
  return copy;
}

std::string error_of(std::string_view text) {
  const Result<Program> program = parse(text);
  if (program.ok()) return "parsed";
  EXPECT_EQ(program.error().code, ErrorCode::ParseError);
  return program.error().message;
}

// A program with operands x, y (buffers), T (a tensor) and one statement `x = <expression>`.
std::string with_expression(std::string_view expression) {
  return "kernel e\ntarget sm_90a\naxis s extent s tile 8 grid\ntensor T f32 [s] read\n"
         "stage main consumer warps 1\nbuffer x f32 [s] shared\nbuffer y f32 [s] shared\n"
         "once\n  main: x = " +
         std::string(expression) + "\n";
}

std::string expression_error(std::string_view expression) {
  return error_of(with_expression(expression));
}

// The expression, read and written again.
std::string again(std::string_view expression) {
  const Result<Program> program = parse(with_expression(expression));
  if (!program.ok()) return program.error().message;
  return print(*program, std::get<Map>(program->phases[0].body[0].op).value);
}

TEST(Text, SamplesAreWrittenAsTheyWereRead) {
  for (const auto& [name, text] : sample::kAll) {
    const Result<Program> program = parse(text);
    ASSERT_TRUE(program.ok()) << name << ": " << program.error().to_string();
    EXPECT_EQ(print(*program), text);
  }
}

TEST(Text, ReadsEveryFieldOfTheGemm) {
  const Program p = parse(sample::kGemm).value();
  EXPECT_EQ(p.name, "gemm_bias");
  EXPECT_EQ(p.target, Target::Sm90a);
  ASSERT_EQ(p.axes.size(), 3U);
  EXPECT_EQ(p.axes[1], (Axis{"n", {"n", 0}, 8, 256, AxisKind::Grid, std::nullopt}));
  EXPECT_EQ(p.tensors[3], (Tensor{"C", DType::BF16, {AxisId{0}, AxisId{1}}, Access::Write}));
  EXPECT_EQ(p.stages[0], (Stage{"load", StageKind::Producer, 1, 40}));
  EXPECT_EQ(p.buffers[0].ring, 4);
  EXPECT_EQ(p.buffers[4].shared, (SharedLayout{64, 128, 0, 1}));
  EXPECT_EQ(p.buffers[2].fragment.digits[5], (Digit{Place::Warp, 4, AxisId{0}, 16}));
  EXPECT_EQ(p.raster, (Raster{{AxisId{0}, AxisId{1}}, 8}));
  EXPECT_EQ(p.cluster, (Cluster{AxisId{0}, 2}));
  EXPECT_TRUE(p.persistent);
  ASSERT_EQ(p.phases.size(), 3U);
  EXPECT_EQ(p.phases[1].loop, AxisId{2});
  EXPECT_EQ(std::get<Mma>(p.phases[1].body[2].op),
            (Mma{BufferId{2}, BufferId{0}, BufferId{1}, {64, 256, 16}}));
  EXPECT_EQ(std::get<Store>(p.phases[2].body[1].op),
            (Store{TensorId{3}, BufferId{3}, BufferId{4}}));
}

TEST(Text, PartsMayNameALaterAxis) {
  const Program p = parse(
                        "kernel e target sm_90a\naxis k extent k tile 8 loop parts p\n"
                        "axis p extent 4 tile 1 grid\n")
                        .value();
  ASSERT_EQ(p.axes.size(), 2U);
  EXPECT_EQ(p.axes[0].parts, AxisId{1});
}

TEST(Text, CommentsBlankLinesAndIndentationAreFree) {
  std::string text = "// a comment\n\n";
  for (const char c : sample::kGemm) {
    text += c;
    if (c == '\n') text += "   // noise\n\r\n\t";
  }
  EXPECT_EQ(parse(text).value(), parse(sample::kGemm).value());
}

TEST(Text, ProgramsThatDifferHaveDifferentTextsAndHashes) {
  const Program p = parse(sample::kGemm).value();
  Program q = p;
  q.buffers[0].ring = 5;
  EXPECT_NE(print(p), print(q));
  EXPECT_NE(text_hash(p), text_hash(q));
  EXPECT_EQ(text_hash(p), text_hash(parse(sample::kGemm).value()));
}

TEST(Text, TheHashIsTheSameOnEveryHost) {
  // FNV-1a and a mixer over the bytes of the text (base/hash.h); a change makes old caches useless.
  EXPECT_EQ(text_hash(Program{}), 2725764762575709452U);
}

TEST(Text, AnIllFormedProgramStillPrints) {
  Program p = parse(sample::kGemm).value();
  p.phases[1].body[0].stage = StageId{77};
  p.tensors[0].axes.push_back(AxisId{});
  std::get<Map>(p.phases[0].body[0].op).value = Expr{};
  EXPECT_NE(print(p).find("  ?: a <- A\n"), std::string::npos);
  EXPECT_NE(print(p).find("[m, k, ?]"), std::string::npos);
  EXPECT_NE(print(p).find("acc = ?\n"), std::string::npos);
}

TEST(Text, ASharedNodeDoesNotMakeTheTextEndless) {
  Expr doubled = constant(1);
  for (uint32_t i = 0; i < 200; ++i) {
    doubled.nodes.push_back({.op = ExprOp::Add, .first = i, .second = i});
  }
  EXPECT_FALSE(is_tree(doubled));
  EXPECT_EQ(print(Program{}, doubled), "?");
}

TEST(TextExpression, HasAsFewParenthesesAsItsMeaningAllows) {
  for (const std::string_view text : {"x + y * T",
                                      "(x + y) * T",
                                      "x - y - T",
                                      "x - (y - T)",
                                      "x / y * T",
                                      "x / (y * T)",
                                      "-x * y",
                                      "-(x * y)",
                                      "x - -y",
                                      "--x",
                                      "max(x, min(y, 0))",
                                      "x * (y + -2)",
                                      "x * -2",
                                      "x - -2",
                                      "inside(s, x * 0.125, -inf)",
                                      "x / extent(s)",
                                      "gelu_tanh(x + T)",
                                      "silu(-(2)) + 1",
                                      "x + (y + T)",
                                      "exp2(x - y)",
                                      "reciprocal(1 + exp(-x))",
                                      "-(inf)"}) {
    EXPECT_EQ(again(text), text);
  }
  EXPECT_EQ(again("((x)) + (y * (T))"), "x + y * T");
  EXPECT_EQ(again("(x - y) - T"), "x - y - T");
  EXPECT_EQ(again("x - (2)"), "x - 2");
}

TEST(TextExpression, ConstantsReadBackAsTheSameDouble) {
  for (const double value : {0.1,
                             1.0 / 3.0,
                             1e22,
                             -1e-300,
                             5e-324,
                             -0.0,
                             123456789.0,
                             0.70710678118654757,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::max()}) {
    const std::string text = print(Program{}, constant(value));
    const Program p = parse(with_expression(text)).value();
    const double back = std::get<Map>(p.phases[0].body[0].op).value.root().constant;
    EXPECT_EQ(back, value);
    EXPECT_EQ(std::signbit(back), std::signbit(value)) << text;
  }
}

TEST(TextExpression, AMinusBeforeANumberIsTheNumbers) {
  const auto root = [](std::string_view text) {
    return std::get<Map>(parse(with_expression(text)).value().phases[0].body[0].op).value.root();
  };
  EXPECT_EQ(root("-2").op, ExprOp::Constant);
  EXPECT_EQ(root("-(2)").op, ExprOp::Neg);
  EXPECT_EQ(root("x - 2").op, ExprOp::Sub);
}

TEST(TextExpression, ReductionsAreTheWholeRightSide) {
  const auto op = [](std::string_view text) {
    return parse(with_expression(text)).value().phases[0].body[0].op;
  };
  EXPECT_EQ(std::get<Reduce>(op("max_over(x * y)")).kind, ReduceKind::Max);
  EXPECT_EQ(std::get<Reduce>(op("sum(x)")).kind, ReduceKind::Sum);
  EXPECT_EQ(std::get<Map>(op("max(x, y)")).value.root().op, ExprOp::Max);
  EXPECT_EQ(expression_error("1 + sum(x)"),
            "[kernel.parse] line 9, column 17: got 'sum', need a function");
}

TEST(TextExpression, ABufferMayBeCalledLikeAFunction) {
  std::string text = replaced(sample::kRowNorm, "s f32 [r]", "sum f32 [r]");
  text = replaced(text, "s = sum(x * x)", "sum = sum(x * x)");
  text = replaced(text, "s = rsqrt(s / extent(c) + 1e-06)", "sum = sum * 2 + rsqrt(sum)");
  text = replaced(text, "x * s * W", "x * sum * W");
  EXPECT_EQ(print(parse(text).value()), text);
}

struct Refusal {
  std::string_view from;
  std::string_view to;
  std::string_view message;
};

TEST(TextErrors, SayWhereAndWhat) {
  for (const Refusal& each : std::vector<Refusal>{
           {"kernel gemm_bias", "gemm_bias", "line 1, column 1: got 'gemm_bias', need 'kernel'"},
           {"sm_90a", "sm_90b", "line 2, column 8: got 'sm_90b', need a target"},
           {"axis m extent m tile",
            "axis m extent m tils",
            "line 3, column 17: got 'tils', need 'tile'"},
           {"axis n",
            "axis m",
            "line 4, column 6: got 'm', need a name for an axis that is not taken"},
           {"axis n", "axis once", "got 'once', need a name for an axis: letters"},
           {"loop\ntensor A", "loops\ntensor A", "need grid, loop or whole"},
           {"[m, k] read",
            "[m, kk] read",
            "line 6, column 19: got 'kk', need an axis; did you mean 'k'?"},
           {"bias bf16", "bias bf17", "line 8, column 13: got 'bf17', need an element type"},
           {"tensor bias", "tenser bias", "line 8, column 1: got 'tenser', need a declaration"},
           {"tensor bias", "tenser bias", "did you mean 'tensor'?"},
           {"tensor bias", "tensor A", "need a name for a tensor that is not taken"},
           {"buffer b ", "buffer B ", "need a name for a buffer that is not taken"},
           {"write", "writes", "need read, write or readwrite"},
           {"producer", "produce", "need producer or consumer"},
           {"warps 1 ", "warps 99 ", "got '99', need warps of at most 32"},
           {"tile 128", "tile 99999999999999999999", "need a tile of at most 1048576"},
           {"ring 4", "ring 65", "got '65', need ring of at most 64"},
           {"ring 4", "panel 64 ring 4", "got 'ring', need the end of the line"},
           {"shared ring 1", "smem ring 1", "need shared or fragment"},
           {"{ register", "{ 2:n*1 register", "need register, lane or warp"},
           {"2:n*1", "2:n", "need '*'"},
           {"2:n*1", "2:z*1", "got 'z', need an axis"},
           {"m n group 8", "m n groop 8", "line 17, column 12: got 'groop', need an axis"},
           {"persistent", "persistent\npersistent", "need one persistent line"},
           {"cluster m 2", "cluster m 2\ncluster m 2", "need one cluster line"},
           {"raster m n group 8", "raster m n group 8\nraster m n", "need one raster line"},
           {"loop k", "loop kk", "got 'kk', need an axis; did you mean 'k'?"},
           {"main: acc = 0",
            "mian: acc = 0",
            "got 'mian', need a stage, once or loop; did you mean 'main'?"},
           {"main: acc = 0",
            "main: ac = 0",
            "got 'ac', need a buffer or a tensor; did you mean 'a', 'acc' or 'c'?"},
           {"main: acc = 0", "main acc = 0", "need ':'"},
           {"acc = 0", "acc - 0", "need '<-', '=' or '+='"},
           {"acc = 0", "acc = 0 once", "need the end of the line"},
           {"a <- A", "a <- a", "got 'a', need a tensor"},
           {"C <- c via out", "C <- c via C", "got 'C', need a buffer"},
           {"+= mma m64n256k16", "+= mma m64n256", "got 'm64n256', need a shape like m64n256k16"},
           {"+= mma", "+= a * b", "need 'mma'"},
           {"acc + bias",
            "acc + biass",
            "got 'biass', need a buffer or a tensor; did you mean 'bias'?"},
           {"acc + bias",
            "gelo(acc)",
            "got 'gelo', need a function; did you mean 'gelu' or 'relu'?"},
           {"acc + bias",
            "acc +",
            "line 28, column 3: got 'main', need an operand on the same line"},
           {"acc + bias", "acc + )", "need a number, a buffer, a tensor, a function or '('"},
           {"acc + bias", "max(acc)", "need ','"},
           {"acc + bias", "exp(acc, acc)", "need ')'"},
           {"acc + bias", "extent(q)", "got 'q', need an axis"},
           {"acc + bias", "inside(acc, 0)", "got 'acc', need an axis"},
           {"acc + bias", "acc + nan", "got 'nan', need a buffer or a tensor"},
           {"acc + bias", "acc + 1e999", "need a number that a double can hold"},
       }) {
    const std::string message = error_of(replaced(sample::kGemm, each.from, each.to));
    EXPECT_TRUE(message.starts_with("[kernel.parse] line ")) << message;
    EXPECT_NE(message.find(each.message), std::string::npos)
        << "got:  " << message << "\nneed: " << each.message;
  }
}

TEST(TextErrors, SizesAreLimited) {
  const std::string head = "kernel e\ntarget sm_90a\n";
  std::string axes = head;
  for (size_t i = 0; i <= kMaxAxes; ++i) axes += fmt::format("axis a{} extent 1 tile 1 grid\n", i);
  EXPECT_NE(error_of(axes).find("at most 64 axes"), std::string::npos);

  EXPECT_NE(error_of(std::string(kMaxTextBytes + 1, ' ')).find("too long"), std::string::npos);
  EXPECT_NE(error_of("kernel " + std::string(65, 'k')).find("at most 64"), std::string::npos);
  EXPECT_NE(expression_error(std::string(100'000, '(')).find("at most 256"), std::string::npos);
  EXPECT_NE(expression_error(std::string(100'000, '-')).find("at most 256"), std::string::npos);
  std::string nested;
  for (int i = 0; i < 10'000; ++i) nested += "max(exp(";
  EXPECT_NE(expression_error(nested).find("at most 256"), std::string::npos);
  std::string chain = "x";
  for (int i = 0; i < 1'000; ++i) chain += " + x";
  EXPECT_NE(expression_error(chain).find("at most 256 operations"), std::string::npos);
  std::string digits;
  for (int i = 0; i < 1'000; ++i) digits += " 1:_";
  EXPECT_NE(error_of(replaced(sample::kGemm, "{ register", "{ lane" + digits + " register"))
                .find("at most 64 digits"),
            std::string::npos);
}

TEST(TextErrors, EveryPrefixOfAProgramIsReadOrRefused) {
  for (const auto& [name, text] : sample::kAll) {
    for (size_t length = 0; length < text.size(); length += 5) {
      const Result<Program> program = parse(text.substr(0, length));
      if (program.ok()) {
        EXPECT_EQ(parse(print(*program)).value(), *program);
      }
    }
  }
}

}  // namespace
}  // namespace orrery::kernel
