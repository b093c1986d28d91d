// A matcher that gives up: patterns come from files of unknown origin.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/frontend/module_pattern.h"

#include <cstddef>
#include <functional>

namespace orrery::frontend {

namespace {

constexpr int kMostSteps = 20000;
constexpr size_t kLongestPattern = 16384;

/// Globs: '*' is any text. Linear in the product of both lengths.
bool glob(std::string_view pattern, std::string_view name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') {
    ++p;
  }
  return p == pattern.size();
}

/// Backtracking over the pattern's text with a budget of steps; `then` is what has to follow.
class Regex {
 public:
  using Then = std::function<bool(size_t)>;

  Regex(std::string_view pattern, std::string_view name) : pattern_(pattern), name_(name) {}

  bool matches() {
    return alternatives(0, pattern_.size(), 0, [](size_t) { return true; });
  }

  int steps() const { return steps_; }

  bool gave_up() const { return gave_up_; }

 private:
  /// The end of the item that begins at `at`: a character, an escape, a class or a group.
  size_t item_end(size_t at, size_t end) const {
    if (pattern_[at] == '\\') {
      return at + 2 < end ? at + 2 : end;
    }
    if (pattern_[at] != '[' && pattern_[at] != '(') {
      return at + 1;
    }
    int depth = 0;
    for (size_t i = at; i < end; ++i) {
      if (pattern_[i] == '\\') {
        ++i;
      } else if (pattern_[at] == '[' && pattern_[i] == ']' && i > at + 1) {
        return i + 1;
      } else if (pattern_[at] == '(' && (pattern_[i] == '(' || pattern_[i] == ')')) {
        depth += pattern_[i] == '(' ? 1 : -1;
        if (depth == 0) {
          return i + 1;
        }
      }
    }
    return end;
  }

  bool alternatives(size_t begin, size_t end, size_t n, const Then& then) {
    size_t start = begin;
    for (size_t i = begin; i < end; i = item_end(i, end)) {
      if (pattern_[i] == '|') {
        if (sequence(start, i, n, then)) {
          return true;
        }
        start = i + 1;
      }
    }
    return sequence(start, end, n, then);
  }

  bool in_class(size_t begin, size_t end, char c) const {
    bool negated = false;
    bool found = false;
    size_t i = begin + 1;
    if (i < end && pattern_[i] == '^') {
      negated = true;
      ++i;
    }
    for (; i + 1 < end; ++i) {
      if (i + 3 < end && pattern_[i + 1] == '-') {
        found = found || (pattern_[i] <= c && c <= pattern_[i + 2]);
        i += 2;
      } else {
        found = found || pattern_[i] == c;
      }
    }
    return found != negated;
  }

  bool escaped(char kind, char c) const {
    const bool digit = c >= '0' && c <= '9';
    const bool word = digit || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return kind == 'd' ? digit : kind == 'w' ? word : kind == c;
  }

  /// One item at name[n], then the rest.
  bool item(size_t at, size_t end, size_t n, const Then& then) {
    if (pattern_[at] == '(') {
      size_t begin = at + 1;
      if (end - begin > 2 && pattern_.substr(begin, 2) == "?:") {
        begin += 2;
      }
      return end > begin && alternatives(begin, end - 1, n, then);
    }
    if (n >= name_.size()) {
      return false;
    }
    const char c = name_[n];
    const bool fits = pattern_[at] == '[' ? in_class(at, end, c)
                      : pattern_[at] == '\\' && at + 1 < end
                          ? escaped(pattern_[at + 1], c)
                          : pattern_[at] == '.' || pattern_[at] == c;
    return fits && then(n + 1);
  }

  /// One step deeper, as long as the budget lasts.
  template <class F>
  bool deeper(F&& step) {
    gave_up_ = gave_up_ || ++steps_ > kMostSteps || depth_ >= kMostDepth;
    if (gave_up_) {
      return false;
    }
    ++depth_;
    const bool result = step();
    --depth_;
    return result;
  }

  bool repeated(size_t at, size_t stop, size_t n, const Then& then) {
    return deeper([&] {
      return item(at,
                  stop,
                  n,
                  [&](size_t next) { return next > n && repeated(at, stop, next, then); }) ||
             then(n);
    });
  }

  bool sequence(size_t at, size_t end, size_t n, const Then& then) {
    return deeper([&] { return next_item(at, end, n, then); });
  }

  bool next_item(size_t at, size_t end, size_t n, const Then& then) {
    if (at >= end) {
      return then(n);
    }
    if (pattern_[at] == '^') {
      return n == 0 && sequence(at + 1, end, n, then);
    }
    if (pattern_[at] == '$') {
      return n == name_.size() && sequence(at + 1, end, n, then);
    }
    const size_t stop = item_end(at, end);
    const char after = stop < end ? pattern_[stop] : '\0';
    const bool star = after == '*';
    const bool counted = star || after == '+' || after == '?';
    const Then rest = [&, next = stop + (counted ? 1 : 0)](size_t m) {
      return sequence(next, end, m, then);
    };
    if (star) {
      return repeated(at, stop, n, rest);
    }
    if (after == '+') {
      return item(at, stop, n, [&](size_t m) { return repeated(at, stop, m, rest); });
    }
    return item(at, stop, n, rest) || (after == '?' && rest(n));
  }

  static constexpr int kMostDepth = 600;

  std::string_view pattern_;
  std::string_view name_;
  int steps_ = 0;
  int depth_ = 0;
  bool gave_up_ = false;
};

/// Are all groups and classes closed?
bool is_closed(std::string_view pattern) {
  int depth = 0;
  bool in_class = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(' || c == ')') {
      depth += c == '(' ? 1 : -1;
    }
    if (depth < 0) {
      return false;
    }
  }
  return depth == 0 && !in_class;
}

}  // namespace

bool is_module_pattern(std::string_view pattern) {
  return pattern.size() <= kLongestPattern && (!pattern.starts_with("re:") || is_closed(pattern));
}

bool matches_module(std::string_view pattern, std::string_view name) {
  PatternSteps steps;
  return matches_module(pattern, name, steps);
}

bool matches_module(std::string_view pattern, std::string_view name, PatternSteps& steps) {
  if (pattern.empty() || pattern.size() > kLongestPattern || steps.gave_up) {
    return false;
  }
  steps.left -= static_cast<int64_t>(pattern.size());
  if (pattern.starts_with("re:")) {
    Regex regex(pattern.substr(3), name);
    const bool matches = regex.matches();
    steps.left -= PatternSteps::kStep * regex.steps();
    steps.gave_up = regex.gave_up() || steps.left < 0;
    return matches;
  }
  steps.gave_up = steps.left < 0;
  if (pattern.find('*') != std::string_view::npos) {
    for (size_t end = name.size(); end != std::string_view::npos && end > 0;
         end = name.rfind('.', end - 1)) {
      if (glob(pattern, name.substr(0, end))) {
        return true;
      }
    }
    return false;
  }
  const bool around =
      name.starts_with(pattern) && (name.size() == pattern.size() || name[pattern.size()] == '.');
  const bool end = name.ends_with(pattern) && name.size() > pattern.size() &&
                   name[name.size() - pattern.size() - 1] == '.';
  return around || end;
}

}  // namespace orrery::frontend
