// The parser of kernel programs: a scanner, the program so far, and one member function per
// construct.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/base/scanner.h"
#include "orrery/kernel/program.h"

namespace orrery::kernel::detail {

class Parser {
 public:
  explicit Parser(std::string_view text) : scan_(text, "kernel.parse") {}

  Result<Program> program();

 private:
  // parse.cpp
  Result<void> head();
  Result<void> declaration();
  Result<void> launch(std::string_view word);
  Result<void> axis();
  Result<Extent> extent();
  Result<AxisKind> axis_kind();
  Result<void> resolve_parts();
  Result<void> tensor();
  Result<void> stage();
  Result<void> raster();
  Result<void> cluster();

  // parse_buffer.cpp
  Result<void> buffer();
  Result<void> shared(Buffer& buffer);
  Result<FragmentLayout> fragment();
  Result<void> digit(Place place, FragmentLayout& layout);

  // parse_statement.cpp
  Result<void> phases();
  Result<Phase> phase();
  Result<Statement> statement();
  Result<Op> operation();
  Result<Op> load(BufferId to);
  Result<Op> store(TensorId to);
  Result<Op> assignment(BufferId to);
  Result<Op> reduction(BufferId to, ReduceKind kind);
  Result<Op> mma(BufferId acc);
  Result<MmaShape> mma_shape();

  // parse_expression.cpp; `depth` counts nested operands
  Result<Expr> expression();
  Result<Expr> sum(size_t depth);
  Result<Expr> product(size_t depth);
  Result<Expr> sign(size_t depth);
  Result<Expr> closed(size_t depth);
  Result<Expr> call(const Token& function, size_t depth);
  Result<Expr> call_extent();
  Result<Expr> call_inside(size_t depth);
  Result<Expr> call_operation(ExprOp op, size_t depth);
  Result<Expr> operand(const Token& name);
  Result<Expr> limited(Expr expression) const;

  // Pieces of several constructs, parse.cpp.
  using IsTaken = bool (Parser::*)(std::string_view) const;
  Result<std::string> new_name(std::string_view what, IsTaken is_taken = nullptr);
  Result<int64_t> integer(std::string_view what, int64_t largest);
  Result<int64_t> option(std::string_view word, int64_t otherwise, int64_t largest);
  Result<DType> dtype();
  Result<AxisId> axis_name();
  Result<BufferId> buffer_name();
  Result<std::vector<AxisId>> axis_list();
  Result<void> room(size_t count, size_t largest, std::string_view what) const;

  /// Takes `word` if it is next and stands on the line that is being read.
  bool accept_here(std::string_view word);

  bool on_line() const { return !scan_.at_end() && scan_.peek().position.line == line_; }

  Error unknown(const Token& got,
                std::string_view what,
                const std::vector<std::string>& names) const;

  bool is_axis(std::string_view name) const { return find_axis(name).has_value(); }

  bool is_stage(std::string_view name) const { return find_stage(name).has_value(); }

  bool is_tile(std::string_view name) const { return find_tensor(name) || find_buffer(name); }

  std::optional<AxisId> find_axis(std::string_view name) const;
  std::optional<TensorId> find_tensor(std::string_view name) const;
  std::optional<BufferId> find_buffer(std::string_view name) const;
  std::optional<StageId> find_stage(std::string_view name) const;

  Scanner scan_;
  int line_ = 0;  // of the declaration or statement that is being read
  Program program_;
  bool has_raster_ = false;
  bool has_ctas_ = false;
  size_t statements_ = 0;
  std::vector<std::pair<size_t, Token>> parts_;  // axes whose `parts` is still a name
};

/// The names of a list of declarations, for messages and for uniqueness.
template <class T>
std::vector<std::string> names_of(const std::vector<T>& named) {
  std::vector<std::string> names;
  for (const T& each : named) names.push_back(each.name);
  return names;
}

}  // namespace orrery::kernel::detail
