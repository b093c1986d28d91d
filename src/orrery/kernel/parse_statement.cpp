// The text form of kernel programs, read: phases and statements.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "orrery/kernel/limits.h"
#include "orrery/kernel/parse_internal.h"

namespace orrery::kernel::detail {
namespace {

// Reads "m64" from the front of `text`: the letter, then digits.
bool take_extent(std::string_view& text, char letter, int64_t& extent) {
  if (text.empty() || text.front() != letter) return false;
  const char* const first = text.data() + 1;
  const char* const last = text.data() + text.size();
  if (first == last || *first < '0' || *first > '9') return false;
  const auto [end, status] = std::from_chars(first, last, extent);
  if (status != std::errc{} || extent > kMaxTile) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

}  // namespace

Result<void> Parser::phases() {
  while (!scan_.at_end()) {
    ORR_TRY_VOID(room(program_.phases.size(), kMaxPhases, "phases"));
    ORR_TRY(Phase next, phase());
    program_.phases.push_back(std::move(next));
  }
  return {};
}

Result<Phase> Parser::phase() {
  Phase phase;
  line_ = scan_.position().line;
  if (scan_.accept("loop")) {
    ORR_TRY(phase.loop, axis_name());
  } else {
    ORR_TRY_VOID(scan_.expect("once"));
  }
  if (on_line()) return scan_.error("the end of the line");
  while (!scan_.at_end() && !scan_.peek().is("once") && !scan_.peek().is("loop")) {
    ORR_TRY_VOID(room(statements_++, kMaxStatements, "statements"));
    ORR_TRY(Statement next, statement());
    phase.body.push_back(std::move(next));
  }
  return phase;
}

Result<Statement> Parser::statement() {
  const Token token = scan_.peek();
  line_ = token.position.line;
  const std::optional<StageId> stage = find_stage(token.text);
  if (!stage) return unknown(token, "a stage, once or loop", names_of(program_.stages));
  scan_.next();
  ORR_TRY_VOID(scan_.expect(":"));
  ORR_TRY(Op op, operation());
  if (on_line()) return scan_.error("the end of the line");
  return Statement{*stage, std::move(op)};
}

Result<Op> Parser::operation() {
  const Token token = scan_.peek();
  if (const std::optional<TensorId> tensor = find_tensor(token.text)) {
    scan_.next();
    return store(*tensor);
  }
  const std::optional<BufferId> buffer = find_buffer(token.text);
  if (!buffer) {
    std::vector<std::string> names = names_of(program_.buffers);
    for (const Tensor& each : program_.tensors) names.push_back(each.name);
    return unknown(token, "a buffer or a tensor", names);
  }
  scan_.next();
  if (scan_.accept("<-")) return load(*buffer);
  if (scan_.accept("+=")) return mma(*buffer);
  if (scan_.accept("=")) return assignment(*buffer);
  return scan_.error("'<-', '=' or '+='");
}

Result<Op> Parser::load(BufferId to) {
  const Token token = scan_.peek();
  const std::optional<TensorId> from = find_tensor(token.text);
  if (!from) return unknown(token, "a tensor", names_of(program_.tensors));
  scan_.next();
  return Op(Load{to, *from});
}

Result<Op> Parser::store(TensorId to) {
  ORR_TRY_VOID(scan_.expect("<-"));
  Store store{.to = to, .from = {}, .via = {}};
  ORR_TRY(store.from, buffer_name());
  if (accept_here("via")) {
    ORR_TRY(store.via, buffer_name());
  }
  return Op(store);
}

// sum(...) and max_over(...) are reductions only as the whole right side, and only with the
// bracket: a buffer may be called sum, too.
Result<Op> Parser::assignment(BufferId to) {
  const Scanner before = scan_;
  const Token word = scan_.peek();
  if (word.is("sum") || word.is("max_over")) {
    scan_.next();
    if (scan_.accept("(")) return reduction(to, word.is("sum") ? ReduceKind::Sum : ReduceKind::Max);
    scan_ = before;
  }
  ORR_TRY(Expr value, expression());
  return Op(Map{to, std::move(value)});
}

Result<Op> Parser::reduction(BufferId to, ReduceKind kind) {
  ORR_TRY(Expr value, expression());
  ORR_TRY_VOID(scan_.expect(")"));
  return Op(Reduce{to, kind, std::move(value)});
}

Result<Op> Parser::mma(BufferId acc) {
  ORR_TRY_VOID(scan_.expect("mma"));
  Mma mma{.acc = acc, .first = {}, .second = {}, .shape = {}};
  ORR_TRY(mma.shape, mma_shape());
  ORR_TRY(mma.first, buffer_name());
  ORR_TRY(mma.second, buffer_name());
  return Op(mma);
}

Result<MmaShape> Parser::mma_shape() {
  std::string_view text = scan_.peek().text;
  MmaShape shape;
  const bool read = take_extent(text, 'm', shape.m) && take_extent(text, 'n', shape.n) &&
                    take_extent(text, 'k', shape.k) && text.empty();
  if (!read) return scan_.error("a shape like m64n256k16");
  scan_.next();
  return shape;
}

}  // namespace orrery::kernel::detail
