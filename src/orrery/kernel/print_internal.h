// The printer of kernel programs: one member function per line or part of a line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/kernel/program.h"

namespace orrery::kernel::detail {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  void program();
  void statement(const Statement& statement);
  void expression(const Expr& expression);
  void layout(const FragmentLayout& layout);

  std::string take() { return std::move(out_); }

 private:
  template <class... Args>
  void write(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  template <class T, class Tag>
  void name(const std::vector<T>& named, Id<Tag> id) {
    if (id.valid() && id.index() < named.size()) {
      out_ += named[id.index()].name;
    } else {
      out_ += '?';
    }
  }

  void axes(const std::vector<AxisId>& axes);
  void option(std::string_view word, int64_t value, int64_t unless);
  void axis(const Axis& axis);
  void tensor(const Tensor& tensor);
  void stage(const Stage& stage);
  void buffer(const Buffer& buffer);
  void launch();
  void phase(const Phase& phase);
  void operation(const Load& load);
  void operation(const Store& store);
  void operation(const Map& map);
  void operation(const Reduce& reduce);
  void operation(const Mma& mma);
  void node(const Expr& expression, uint32_t index, int binding);
  void call(const Expr& expression, const ExprNode& node);
  void infix(const Expr& expression, const ExprNode& node, int binding);
  void negation(const Expr& expression, const ExprNode& node);

  const Program& program_;
  std::string out_;
};

}  // namespace orrery::kernel::detail
