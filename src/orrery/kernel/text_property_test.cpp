// Property tests of the text form: random programs round-trip, random texts are read or refused.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <string_view>

#include "orrery/kernel/parse.h"
#include "orrery/kernel/print.h"
#include "orrery/kernel/sample_texts_internal.h"
#include "orrery/kernel/verify.h"

namespace orrery::kernel {
namespace {

// Makes any expression the text can hold, with leaves from the program's own names.
Expr random_expression(std::mt19937& random, const Program& p, int depth) {
  const auto upto = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  static constexpr double kConstants[] = {0, -0.0, 1, -2, 0.1, 1e-30, -1e30, HUGE_VAL, -HUGE_VAL};
  if (depth == 0 || random() % 4 == 0) {
    switch (random() % 4) {
      case 0:
        return constant(kConstants[upto(std::size(kConstants))]);
      case 1:
        return tensor(TensorId(upto(p.tensors.size())));
      case 2:
        return extent(AxisId(upto(p.axes.size())));
      default:
        return buffer(BufferId(upto(p.buffers.size())));
    }
  }
  const auto first = static_cast<uint32_t>(ExprOp::Inside);
  const auto op = static_cast<ExprOp>(first + upto(static_cast<uint32_t>(ExprOp::Min) - first + 1));
  const Expr x = random_expression(random, p, depth - 1);
  if (arity(op) == 1) return unary(op, x);
  const Expr y = random_expression(random, p, depth - 1);
  return op == ExprOp::Inside ? inside(AxisId(upto(p.axes.size())), x, y) : binary(op, x, y);
}

// One random change of any field; the program stays representable, rarely well formed.
void mutate(std::mt19937& random, Program& p) {
  const auto upto = [&](size_t n) { return static_cast<uint32_t>(random() % n); };
  Axis& axis = p.axes[upto(p.axes.size())];
  Buffer& b = p.buffers[upto(p.buffers.size())];
  Statement& statement = [&]() -> Statement& {
    Phase& phase = p.phases[upto(p.phases.size())];
    return phase.body[upto(phase.body.size())];
  }();
  switch (random() % 14) {
    case 0:
      axis.extent = random() % 2 == 0 ? Extent{"sym", 0} : Extent{"", int64_t{upto(1000)}};
      return;
    case 1:
      axis.tile = upto(300);
      axis.multiple = upto(20);
      return;
    case 2:
      axis.kind = static_cast<AxisKind>(upto(3));
      axis.parts = random() % 2 == 0 ? std::optional(AxisId(upto(p.axes.size()))) : std::nullopt;
      return;
    case 3:
      p.tensors[upto(p.tensors.size())].access = static_cast<Access>(upto(3));
      return;
    case 4:
      p.tensors[upto(p.tensors.size())].dtype = static_cast<DType>(upto(11));
      return;
    case 5:
      p.stages[upto(p.stages.size())] = {
          fmt::format("st{}", random()), static_cast<StageKind>(upto(2)), upto(33), upto(256)};
      return;
    case 6:
      b.axes.assign(upto(3), AxisId(upto(p.axes.size())));
      return;
    case 7:
      b.space = Space::Shared;
      b.fragment = {};
      b.ring = upto(65);
      b.shared = {upto(128), upto(129), upto(9), upto(3)};
      return;
    case 8:
      b.space = Space::Fragment;
      b.ring = 1;
      b.shared = {};
      b.fragment.digits.push_back(
          {static_cast<Place>(upto(3)), upto(9), AxisId(upto(p.axes.size())), upto(65)});
      b.fragment.digits.push_back({static_cast<Place>(upto(3)), upto(9), std::nullopt, 0});
      return;
    case 9:
      p.raster.group = upto(9);
      p.ctas_per_sm = upto(4);
      p.persistent = !p.persistent;
      p.cluster = Cluster{AxisId(upto(p.axes.size())), upto(9)};
      return;
    case 10:
      statement.op = Map{BufferId(upto(p.buffers.size())), random_expression(random, p, 5)};
      return;
    case 11:
      statement.op = Reduce{BufferId(upto(p.buffers.size())),
                            static_cast<ReduceKind>(upto(2)),
                            random_expression(random, p, 3)};
      return;
    case 12:
      statement.op = Mma{BufferId(upto(p.buffers.size())),
                         BufferId(upto(p.buffers.size())),
                         BufferId(upto(p.buffers.size())),
                         {upto(65), upto(257), upto(17)}};
      return;
    default:
      statement.stage = StageId(upto(p.stages.size()));
      p.phases.push_back(p.phases[upto(p.phases.size())]);
  }
}

TEST(TextProperty, MutatedProgramsRoundTrip) {
  const unsigned seed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 250; ++round) {
    Program p = parse(sample::kAll[random() % sample::kAll.size()].text).value();
    for (size_t changes = 1 + random() % 6; changes > 0; --changes) mutate(random, p);
    const std::string text = print(p);
    const Result<Program> back = parse(text);
    ASSERT_TRUE(back.ok()) << back.error().to_string() << "\n" << text;
    ASSERT_EQ(print(*back), text);
    ASSERT_TRUE(*back == p) << text;
    const Result<void> verified = verify(p);  // either answer is right; a failed check is not
    if (!verified.ok()) {
      ASSERT_FALSE(verified.error().notes.empty());
    }
  }
}

TEST(TextProperty, MutatedTextsAreReadOrRefused) {
  const unsigned seed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  static constexpr std::string_view kPieces[] = {
      "(",   ")", "-",         "[",  "]", "{",    "}",    ":",    "*",  "_",
      "0",   "9", "999999999", "m",  "k", "once", "loop", "\n",   " ",  "inf",
      "1e9", "=", "<-",        "+=", ",", "\xff", "via",  "max(", "//", "\""};
  int read = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string text(sample::kAll[random() % sample::kAll.size()].text);
    for (size_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = random() % text.size();
      if (text[at] >= '0' && text[at] <= '9') {
        text[at] = static_cast<char>('0' + random() % 10);
        continue;
      }
      if (random() % 2 == 0) text.erase(at, 1 + random() % 4);
      text.insert(std::min(at, text.size()), kPieces[random() % std::size(kPieces)]);
    }
    const Result<Program> program = parse(text);
    if (!program.ok()) continue;
    ++read;
    const std::string once = print(*program);
    const Result<Program> back = parse(once);
    ASSERT_TRUE(back.ok()) << back.error().to_string() << "\n" << once;
    ASSERT_TRUE(*back == *program) << once;
    ASSERT_EQ(print(*back), once);
    ASSERT_EQ(verify(*back), verify(*program));
  }
  EXPECT_GT(read, 30);
}

}  // namespace
}  // namespace orrery::kernel
