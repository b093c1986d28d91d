// A value that its copies share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace orrery {

// For what is large, made once and then only read, in structs that are copied all the time: a copy
// costs a counter instead of the value. It behaves like a const T: nobody can see that it is
// shared.
//
//     Shared<std::vector<Profile>> kernels(std::move(profiles));
//     Shared<std::vector<Profile>> again = kernels;   // no profile is copied
//     again->front();
//
// docs/design/0014-shared-values.md says where it is used, and why there.
template <class T>
class Shared {
 public:
  Shared() = default;  // T()

  explicit Shared(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  const T& operator*() const {
    static const T kNone{};
    return value_ == nullptr ? kNone : *value_;
  }

  const T* operator->() const { return &**this; }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace orrery
