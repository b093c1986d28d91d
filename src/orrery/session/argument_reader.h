// Reads key=value arguments of an operator and collects everything that is wrong with them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/result.h"
#include "orrery/session/operators.h"

namespace orrery::session {

/// Values are read one by one; wrong ones read as something harmless, and finish() reports them
/// all.
class ArgumentReader {
 public:
  ArgumentReader(const Operator& op, std::span<const std::string> arguments);

  std::string_view op() const { return op_.name; }

  /// The text of a key: as given, or its preset, which may name another key.
  std::string text(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t least, int64_t most);

  /// Whole numbers separated by commas.
  std::vector<int64_t> integers(std::string_view name, int64_t least, int64_t most);

  double number(std::string_view name, double least, double most);

  int64_t size(std::string_view name) { return integer(name, 1, int64_t{1} << 32); }

  bool flag(std::string_view name) { return integer(name, 0, 1) == 1; }

  DType dtype();

  /// A tensor has to stay below 2^48 elements, a thousand times what memories hold.
  void elements(std::string_view what, std::initializer_list<int64_t> extents);
  void require(bool holds, std::string message);
  /// Beside the key `with` the other names say nothing, or something else: those that were given
  /// are wrong.
  void excludes(std::string_view with, std::initializer_list<std::string_view> names);

  Result<void> finish() const;

 private:
  int64_t whole(std::string_view name, std::string_view written, int64_t least, int64_t most);
  void take(const std::string& argument);
  /// Remembers what is wrong, once, however often it is read.
  void complain(std::string message);

  const Operator& op_;
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> wrong_;
};

}  // namespace orrery::session
