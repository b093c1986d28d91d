// Tests of the verifier: the samples are well formed, and each way of breaking them is refused with
// its reason.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "orrery/kernel/limits.h"
#include "orrery/kernel/parse.h"
#include "orrery/kernel/print.h"
#include "orrery/kernel/sample_texts_internal.h"

namespace orrery::kernel {
namespace {

// One way of breaking a sample: `from` becomes `to` everywhere, and the verifier says `reason`.
struct Breakage {
  std::string_view from;
  std::string_view to;
  std::string_view reason;
};

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  for (; at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

void expect_refused(const Program& program, std::string_view reason) {
  const Result<void> result = verify(program);
  ASSERT_FALSE(result.ok()) << "need: " << reason;
  EXPECT_EQ(result.error().code, ErrorCode::InvalidInput);
  EXPECT_NE(result.error().to_string().find(reason), std::string::npos)
      << "got:  " << result.error().to_string() << "\nneed: " << reason;
}

void expect_refused(std::string_view sample, const std::vector<Breakage>& breakages) {
  for (const auto& [from, to, reason] : breakages) {
    SCOPED_TRACE(testing::Message() << "'" << from << "' -> '" << to << "'");
    const Result<Program> program = parse(replace_all(std::string(sample), from, to));
    ASSERT_TRUE(program.ok()) << program.error().to_string();
    expect_refused(*program, reason);
  }
}

TEST(Verify, AcceptsTheSamples) {
  for (const auto& [name, text] : sample::kAll) {
    const Result<void> result = verify(parse(text).value());
    EXPECT_TRUE(result.ok()) << name << ": " << result.error().to_string();
  }
}

TEST(Verify, AcceptsWhatIsUnusualButHasAMeaning) {
  const std::vector<std::pair<std::string_view, Breakage>> changes = {
      {sample::kAttention, {"inside(s,", "inside(b,", "a mask along an axis of tile 1"}},
      {sample::kRowNorm, {"W bf16 [c]", "W bf16 [r]", "one factor a row instead of a column"}},
      {sample::kRowNorm, {"axis r extent rows tile 4", "axis r extent 2 tile 4", "half a tile"}},
      {sample::kCdnaGemm, {"acc = 0", "acc = 1 / 0", "infinity is a value"}},
      {sample::kGemm, {"persistent\n", "ctas_per_sm 1\n", "a launch of one CTA a unit"}},
      {sample::kGemm,
       {"out bf16 [m, n] shared ring 1", "out bf16 [m, n] shared ring 2", "two stagings"}},
  };
  for (const auto& [text, change] : changes) {
    const Result<void> result =
        verify(parse(replace_all(std::string(text), change.from, change.to)).value());
    EXPECT_TRUE(result.ok()) << change.reason << ": " << result.error().to_string();
  }
}

TEST(Verify, RefusesTheEmptyProgram) {
  expect_refused(Program{}, "[kernel.verify.size] kernel: got no phases, need at least one");
  expect_refused(Program{}, "[kernel.verify.name] kernel: got ''");
}

TEST(Verify, CollectsEveryOffender) {
  std::string text = replace_all(std::string(sample::kGemm), "raster m n", "raster n");
  text = replace_all(text, "cluster m 2", "cluster m 3");
  const Result<void> result = verify(parse(text).value());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().message, "[kernel.verify] kernel gemm_bias: got 3 offenders, need none");
  EXPECT_EQ(
      result.error().notes,
      (std::vector<std::string>{
          "[kernel.verify.raster] axis m: got it 0 times, need 1 (every grid axis once, no other)",
          "[kernel.verify.raster] group: got 8, need 1 or a second axis to sweep",
          "[kernel.verify.cluster] size: got 3, need a power of two of at most 8 on sm_90a"}));
}

TEST(Verify, RefusesBrokenGemms) {
  expect_refused(
      sample::kGemm,
      {
          {"tile 128 grid", "tile 0 grid", "[kernel.verify.size] axis m: tile: got 0"},
          {"warps 8", "warps 4", "[kernel.verify.layout] buffer acc: got 8 warps, need the 4"},
          {"4:m*16", "4:m*8", "[kernel.verify.layout] buffer acc: got {"},
          {"lane 4:n*2 8:m*1 warp", "lane 4:n*2 warp 8:m*1", "got 4 lanes, need the 32 of sm_90a"},
          {"2:n*1 2:m*8 32:n*8", "2:m*8 2:n*1 32:n*8", "[kernel.verify.mma] 'main: acc += mma"},
          {"m64n256k16", "m64n260k16", "got m64n260k16, need m64nNk16 with N a multiple of 8"},
          {"m64n256k16", "m64n96k16", "tile of the columns: got 256, need a multiple of 96"},
          {"mma m64n256k16 a b",
           "mma m64n256k16 b a",
           "warps: got 1 along the rows and 8 along the columns"},
          {"mma m64n256k16 a b", "mma m64n256k16 a a", "need [r, c] += [r, k] x [c, k]"},
          {"buffer acc f32", "buffer acc bf16", "got accumulator acc bf16 in registers, need f32"},
          {"ring 4", "ring 40", "[kernel.verify.memory] kernel: got"},
          {"panel 64 swizzle 128\nbuffer b",
           "panel 32 swizzle 128\nbuffer b",
           "[kernel.verify.shared] buffer a: got swizzle 128 over panel rows of 64 bytes"},
          {"panel 64 swizzle 128\nbuffer b",
           "panel 48\nbuffer b",
           "need a divisor of the inner tile 64"},
          {"swizzle 128", "swizzle 48", "got swizzle 48, need 0, 32, 64 or 128 bytes"},
          {"panel 64 swizzle 128\nbuffer b",
           "panel 64\nbuffer b",
           "first operand a: got rows of 128 bytes, swizzle 0"},
          {"resident 1", "resident 5", "[kernel.verify.shared] buffer out: got 5 resident panels"},
          {"swizzle 128\nbuffer b",
           "swizzle 128 resident 1\nbuffer b",
           "buffer a: got resident panels without staging"},
          {"buffer a bf16 [m, k]", "buffer a bf16 [k, m]", "[kernel.verify.load] 'load: a <- A'"},
          {"buffer b bf16", "buffer b f16", "got type f16, need bf16 as B has"},
          {"tensor A bf16 [m, k] read\n",
           "tensor A bf16 [m, k] write\n",
           "[kernel.verify.load] 'load: a <- A': got tensor A that is write only"},
          {"tensor C bf16 [m, n] write",
           "tensor C bf16 [m, n] read",
           "[kernel.verify.store] 'main: C <- c via out': got tensor C that is read only"},
          {"tensor C bf16 [m, n] write",
           "tensor C bf16 [m, n] readwrite",
           "[kernel.verify.unused] tensor C: got no reader"},
          {"tensor C bf16", "tensor C f32", "[kernel.verify.store] 'main: C <- c via out'"},
          {"  main: acc = 0\n",
           "  main: c = 0\n",
           "[kernel.verify.flow] 'main: acc += mma m64n256k16 "
           "a b': got acc before it is written, need a value from before the loop"},
          {"  load: b <- B\n", "", "[kernel.verify.flow]"},
          {"c = acc + bias", "c = acc", "[kernel.verify.unused] tensor bias: got no reader"},
          {"c = acc + bias", "c = 0", "[kernel.verify.unused] buffer acc"},
          {"c = acc + bias",
           "c = acc + a",
           "[kernel.verify.map] 'main: c = acc + a': operand a: got "
           "axis k, need axes of [m, n]"},
          {"c = acc + bias", "c = acc + A", "operand A: got loop axis k outside its loop"},
          {"c = acc + bias", "c = inside(k, acc, bias)", "operand inside: got axis k"},
          {"c = acc + bias", "c = acc + bias + C", "got tensor C that is write only"},
          {"load: a <- A", "main: a <- A", "[kernel.verify.ring] 'main: a <- A': got a ring of 4"},
          {"main: acc = 0",
           "load: acc = 0",
           "[kernel.verify.stage] 'load: acc = 0': got this of a "
           "producer, need loads into shared memory only"},
          {"registers 232", "registers 230", "got 230 registers, need a multiple of 8"},
          {"registers 232", "registers 240", "[kernel.verify.stage] kernel: got budgets of 66560"},
          {"registers 232",
           "registers 120",
           "[kernel.verify.registers] 'main: acc = 0': got 128 "
           "registers a thread for fragments alive here, need at most 120"},
          {"cluster m 2", "cluster k 2", "[kernel.verify.cluster] axis k: got no grid axis"},
          {"cluster m 2", "cluster m 16", "[kernel.verify.cluster] size: got 16"},
          {"raster m n", "raster m n m", "[kernel.verify.raster] axis m: got it 2 times"},
          {"raster m n", "raster m n k", "[kernel.verify.raster] axis k: got it 1 times, need 0"},
          {"loop k\n",
           "loop m\n",
           "[kernel.verify.axis] phase 1: got a loop over m, need a loop axis"},
          {"loop k\n",
           "once\n",
           "[kernel.verify.load] 'load: a <- A': got loop axis k of A outside"},
          {"tile 64 loop",
           "tile 64 loop parts m",
           "[kernel.verify.axis] axis k: got parts m of tile 128, need tile 1"},
          {"tile 64 loop",
           "tile 64 loop parts k",
           "[kernel.verify.axis] axis k: got parts k, need a grid axis"},
          {"axis k", "axis z extent z tile 1 grid\naxis k", "[kernel.verify.unused] axis z"},
          {"buffer a bf16",
           "stage idle consumer warps 1\nbuffer a bf16",
           "[kernel.verify.unused] stage idle"},
          {"buffer a bf16",
           "buffer z f32 [m] shared\nbuffer a bf16",
           "[kernel.verify.unused] buffer z"},
          {"extent n multiple 8",
           "extent 36 multiple 8",
           "[kernel.verify.axis] axis n: got extent 36"},
          {"target sm_90a", "target gfx942", "got 32 lanes, need the 64 of gfx942"},
      });
}

TEST(Verify, RefusesBrokenAttention) {
  expect_refused(
      sample::kAttention,
      {
          {"extent 128 tile 128 whole",
           "extent 256 tile 128 whole",
           "[kernel.verify.axis] axis d: got extent 256 of a whole axis, need at most its tile "
           "128"},
          {"lane 4:_ 8:q*1", "lane 32:_", "[kernel.verify.layout] buffer top"},
          {"buffer row f32 [q] fragment { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 2:q*64 }",
           "buffer row f32 [q] fragment { register 2:q*8 lane 8:q*1 4:_ warp 4:q*16 2:q*64 }",
           "[kernel.verify.reduce] 'main: row = max_over(x)': result row: got { register 2:q*8 "
           "lane "
           "8:q*1 4:_ warp 4:q*16 2:q*64 }, need { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 "
           "2:q*64 }"},
          {"buffer scale f32 [q] fragment { register 2:q*8 lane 4:_ 8:q*1 warp 4:q*16 2:q*64 }",
           "buffer scale f32 [q] fragment { register 2:q*8 lane 8:q*1 4:_ warp 4:q*16 2:q*64 }",
           "[kernel.verify.map] 'main: o = o * scale': operand scale: got { register 2:q*8 lane "
           "8:q*1"},
          {"p bf16 [q, s] fragment { register 2:s*1 2:q*8 16:s*8",
           "p bf16 [q, s] fragment { register 2:q*8 2:s*1 16:s*8",
           "[kernel.verify.mma] 'main: o += mma m64n128k16 p value': first operand p"},
          {"buffer p bf16", "buffer p f16", "got operands of types f16 and bf16, need one type"},
          {"max_over(x)",
           "max_over(top)",
           "got a result with every axis of [q], need one axis less"},
          {"max_over(x)", "max_over(Q)", "need"},
          {"max_over(x)", "max_over(key)", "[kernel.verify.reduce]"},
          {"row = sum(p)", "row = sum(p * o)", "got no fragment with all of [q, s, e]"},
          {"p = exp2(x - top)", "p = exp2(x - o)", "operand o: got axis e, need axes of [q, s]"},
          {"inside(s,", "inside(e,", "operand inside: got axis e, need axes of [q, s]"},
          {"  main: total = 0\n",
           "",
           "[kernel.verify.flow] 'main: total = total * scale + row': got "
           "total before it is written, need a value from before the loop"},
          {"main: c = o / total", "main: c = o / total + inside(s, 1, 0)", "inside: got axis s"},
          {"O <- c via out",
           "O <- c via query",
           "[kernel.verify.flow] buffer query: got other uses"},
          {"O <- c via out", "O <- c via c", "got c in registers, need staging in shared memory"},
          {"O <- c via out", "O <- query", "got query in shared memory, need a fragment"},
          {"tensor O bf16 [b, h, q, e]",
           "tensor O bf16 [h, q, e]",
           "[kernel.verify.store] 'main: O <- c "
           "via out': got O without grid axis b, need it: units would write the same elements"},
          {"tile 1 grid\naxis q",
           "tile 2 grid\naxis q",
           "buffer query: got axes [q, d], need those of Q"},
          {"raster q h b", "raster q b", "[kernel.verify.raster] axis h: got it 0 times"},
          {"value bf16 [s, e] shared ring 2", "value bf16 [e, s] shared ring 2", "in order"},
          {"registers 240", "registers 128", "[kernel.verify.registers]"},
          {"m64n128k16 query key", "m32n128k16 query key", "got m32n128k16"},
      });
}

TEST(Verify, RefusesBrokenRowNorms) {
  expect_refused(
      sample::kRowNorm,
      {
          {"warp 4:r*1", "warp 4:_", "[kernel.verify.layout] buffer x: got {"},
          {"tile 1024 whole", "tile 1000 whole", "[kernel.verify.layout] buffer x"},
          {"consumer", "producer", "[kernel.verify.stage] 'main: x <- X': got this of a producer"},
          {"warps 4", "warps 2", "got 4 warps, need the 2 of stage main"},
          {"lane 32:_ warp", "lane 32:_ register 2:_ warp", "result s: got"},
          {"x * s * W", "x * s * W * Y", "got tensor Y that is write only"},
          {"sum(x * x)", "sum(1)", "[kernel.verify.reduce]"},
          {"sum(x * x)", "sum(x * y)", "[kernel.verify.flow] 'main: s = sum(x * y)': got y before"},
          {"  main: x <- X\n",
           "",
           "[kernel.verify.flow] 'main: s = sum(x * x)': got x before it is"},
          {"  main: Y <- y\n", "", "[kernel.verify.unused] tensor Y: got no store"},
          {"Y <- y", "Y <- s", "buffer s: got axes [r], need those of Y [r, c]"},
          {"ctas_per_sm 4", "ctas_per_sm 64", "[kernel.verify.registers]"},
          {"ctas_per_sm 4", "cluster r 6", "[kernel.verify.cluster] size: got 6"},
          {"axis r extent rows tile 4 grid",
           "axis r extent rows tile 4 loop",
           "[kernel.verify.load] 'main: x <- X': got loop axis r of X outside its loop"},
          {"s f32 [r] fragment { lane 32:_ warp 4:r*1 }",
           "s f32 [r] shared",
           "[kernel.verify.reduce] 'main: s = sum(x * x)': got s in shared memory, need a "
           "fragment"},
      });
}

TEST(Verify, RefusesBrokenCdnaGemms) {
  expect_refused(
      sample::kCdnaGemm,
      {
          {"m32n32k8", "m64n64k16", "got m64n64k16, need m32n32k8 or m16n16k16"},
          {"m32n32k8", "m16n16k16", "accumulator acc: got"},
          {"tile 32 loop",
           "tile 20 loop",
           "got tile 20 of contracted axis k, need a multiple of 8"},
          {"ring 2", "ring 8", "[kernel.verify.memory] kernel: got"},
          {"tensor C f32 [part, m, n]", "tensor C f32 [m, n]", "got C without grid axis part"},
          {"raster m n part",
           "cluster m 2\nraster m n part",
           "need a power of two of at most 1 on gfx942"},
          {"pad 8", "swizzle 64 pad 8", "got swizzle 64 and pad 8, need one of them"},
          {"warp 2:m*64 2:n*64", "warp 2:n*64 2:m*64", "accumulator acc: got"},
          {"lane 32:n*1 2:m*4", "lane 2:m*4 32:n*1", "accumulator acc: got"},
          {"warps 4", "warps 17", "got 4 warps, need the 17 of stage main"},
          {"warps 4", "warps 17", "got 1088 threads, need at most 1024"},
          {"f16 [m, k] read", "f32 [m, k] read", "buffer a: got type f16, need f32"},
      });
}

// What only exists as a part of a divided walk may not exist at all.
TEST(Verify, AValueFromADividedLoopNeedsAStart) {
  std::string text =
      replace_all(std::string(sample::kCdnaGemm), "  main: acc = 0\n", "  main: x = 0\n");
  text = replace_all(
      text, "buffer acc", "buffer x f32 [] fragment { lane 64:_ warp 4:_ }\nbuffer acc");
  text = replace_all(text, "loop k\n", "loop k\n  main: acc = x\n");
  expect_refused(parse(text).value(), "[kernel.verify.flow] 'main: C <- acc': got acc before");
  EXPECT_TRUE(verify(parse(replace_all(text, " parts part", "")).value()).ok());
}

TEST(Verify, RegistersOfAnOperandThatDiesAreReused) {
  // c (64 registers) takes over registers of acc (128): 128 fit a budget that both together exceed.
  const std::string text =
      replace_all(std::string(sample::kGemm), "registers 232", "registers 128");
  EXPECT_TRUE(verify(parse(text).value()).ok());
  expect_refused(
      parse(replace_all(text,
                        "  main: C <- c via out\n",
                        "  main: C <- c via out\n  main: c = acc\n  main: C <- c via out\n"))
          .value(),
      "got 192 registers a thread for fragments alive here, need at most 128");
}

// Faults that no text can have.
TEST(Verify, RefusesIdsNodesAndSizesOutOfRange) {
  const Program good = parse(sample::kGemm).value();
  const auto refuse = [&](auto change, std::string_view reason) {
    Program p = good;
    change(p);
    expect_refused(p, reason);
  };
  refuse([](Program& p) { p.phases[0].body[0].stage = StageId{9}; },
         "[kernel.verify.id] '?: acc = 0'");
  refuse([](Program& p) { p.phases[0].body[0].stage = StageId{}; },
         "got id none, need one below 2");
  refuse([](Program& p) { p.tensors[0].axes[0] = AxisId{99}; }, "[kernel.verify.id] tensor A");
  refuse([](Program& p) { p.tensors[0].axes[0] = p.tensors[0].axes[1]; }, "got axis k twice");
  refuse([](Program& p) { p.buffers[2].fragment.digits[0].axis = AxisId{3}; }, "axis of a digit");
  refuse([](Program& p) { p.buffers[2].fragment.digits[0].axis.reset(); }, "stride of a digit");
  refuse([](Program& p) { p.buffers[2].fragment.digits[0].extent = -4; },
         "extent of a digit: got -4");
  refuse([](Program& p) { p.buffers[2].ring = 2; },
         "[kernel.verify.layout] buffer acc: got a ring");
  refuse([](Program& p) { p.buffers[0].fragment = p.buffers[2].fragment; }, "need none");
  refuse([](Program& p) { p.buffers[0].ring = 0; }, "[kernel.verify.size] buffer a: ring: got 0");
  refuse([](Program& p) { p.axes[0].tile = -128; }, "tile: got -128");
  refuse([](Program& p) { p.axes[0].extent = {"", 0}; }, "extent: got 0, need 1");
  refuse([](Program& p) { p.axes[0].extent.fixed = 5; }, "both m and 5");
  refuse([](Program& p) { p.axes[0].extent.symbol = "m-n"; }, "got extent 'm-n'");
  refuse([](Program& p) { p.axes[2].parts = AxisId{17}; }, "parts: got id 17");
  refuse([](Program& p) { p.stages[1].warps = 0; }, "warps: got 0");
  refuse([](Program& p) { p.phases[1].body.clear(); }, "phase 1: got no statements");
  refuse([](Program& p) { p.raster.order[0] = AxisId{}; }, "[kernel.verify.id] raster");
  refuse([](Program& p) { p.cluster->axis = AxisId{4}; }, "[kernel.verify.id] cluster");
  refuse([](Program& p) { p.ctas_per_sm = 0; }, "ctas_per_sm: got 0");
  refuse([](Program& p) { p.name = "two words"; }, "[kernel.verify.name] kernel: got 'two words'");
  refuse([](Program& p) { p.buffers[0].name = "A"; }, "got the name of a tensor");
  refuse([](Program& p) { p.axes[0].name = "n"; }, "[kernel.verify.name] axis n: got it twice");
  refuse([](Program& p) { p.stages[0].name = "once"; }, "[kernel.verify.name] stage 0: got 'once'");
  const auto value = [](Program& p) -> Expr& {
    return std::get<Map>(p.phases[2].body[0].op).value;
  };
  refuse([&](Program& p) { value(p).nodes.clear(); }, "[kernel.verify.expression]");
  refuse([&](Program& p) { value(p).nodes.back().second = 0; }, "[kernel.verify.expression]");
  refuse([&](Program& p) { value(p).nodes.back().first = 7; }, "[kernel.verify.expression]");
  refuse([&](Program& p) { value(p) = constant(std::stod("nan")); }, "[kernel.verify.expression]");
  refuse([&](Program& p) { value(p) = buffer(BufferId{88}); }, "buffer: got id 88");
  refuse([&](Program& p) { value(p) = extent(AxisId{}); }, "axis: got id none");
}

TEST(Verify, HugeTilesAreRefusedWithoutOverflow) {
  Program p = parse(sample::kGemm).value();
  for (Axis& axis : p.axes) axis.tile = kMaxTile;
  for (Buffer& each : p.buffers) each.ring = each.space == Space::Shared ? kMaxRing : 1;
  expect_refused(p, "[kernel.verify.buffer] buffer a: got more than 268435456 elements");
}

}  // namespace
}  // namespace orrery::kernel
