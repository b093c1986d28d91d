// The keys of a config.json: which are read, under which names, and which nobody has read.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/frontend/json.h"

namespace orrery::frontend {

/// Errors of one file: wrong values, and what is not understood.
struct Complaints {
  std::vector<std::string> wrong;
  std::vector<std::string> unsupported;

  /// The first kind that there is.
  Result<void> result(std::string_view name) const;
};

// A reader asks for keys by the names that most files use. A family (families.h) says which of them
// its files spell otherwise, what a key left out means, and what the class fixes without a key:
//
//     {"names": {"hidden_size": "n_embd"}, "defaults": {"n_inner": null}, "fixed": {"norm":
//     "layer"}}
//
// A key that is null in the file is absent, whatever the default. Every key asked for counts as
// read; what is left at the end and may change the arithmetic is an error that names it.
class Keys {
 public:
  /// `path` stands before keys in messages ("text_config."). All three outlive this.
  Keys(const Json& config, const Json& family, std::string path, Complaints& complaints)
      : config_(config), family_(family), path_(std::move(path)), complaints_(complaints) {}

  /// The value of `key`, of its other name, or its default; none if that is null or not given.
  const Json* take(std::string_view key);

  /// Is the key in the file itself, and not null?
  bool given(std::string_view key) const;

  /// A positive integer; `missing` where the key is absent, an error if that is none.
  int64_t size(std::string_view key, std::optional<int64_t> missing = std::nullopt);
  /// An integer of at least 0.
  int64_t count(std::string_view key, int64_t missing = 0);
  bool flag(std::string_view key, bool missing = false);
  double number(std::string_view key, double missing);
  std::string text(std::string_view key, std::string_view missing = "");
  /// A list with an entry for each of `layers` layers, and of the layers that predict further
  /// tokens; none if absent.
  const Json* list(std::string_view key, int64_t layers);
  /// The same of integers.
  const Json* integers(std::string_view key, int64_t layers);
  /// A list of integers of any length, such as those of layers; none if absent.
  const Json* indices(std::string_view key);

  /// What the class fixes.
  const Json* fact(std::string_view name) const;
  bool fact_flag(std::string_view name, bool missing = false) const;
  std::string fact_text(std::string_view name, std::string_view missing = "") const;
  /// A fact that is a flag, or the name of the key that says it.
  bool said(std::string_view fact, bool missing = false);

  void refuse(std::string_view key, std::string_view got, std::string_view need);
  void refuse(std::string_view key, const Json& value, std::string_view need);
  void wrong(std::string_view key, std::string_view got, std::string_view need);
  void wrong(std::string_view key, const Json& value, std::string_view need);

  /// Keys that nobody has read and that may change the arithmetic.
  void refuse_unread();

 private:
  const Json* find(std::string_view key) const;
  int64_t predictors() const;

  const Json& config_;
  const Json& family_;
  std::string path_;
  Complaints& complaints_;
  std::set<std::string, std::less<>> read_;
};

/// Does a key leave the arithmetic of a forward pass as it is, whatever its value?
bool is_harmless(std::string_view key);

}  // namespace orrery::frontend
