// Stride rules of the eager framework.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/strides.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "orrery/base/check.h"

namespace orrery::passes {

int64_t Strided::elements() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

bool Strided::dense() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != expected) {
      return false;
    }
    expected *= sizes[i];
  }
  return true;
}

Strided dense(std::vector<int64_t> sizes) {
  Strided result;
  result.strides.assign(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) {
    result.strides[i - 1] = result.strides[i] * sizes[i];
  }
  result.sizes = std::move(sizes);
  return result;
}

Strided sliced(const Strided& from, size_t axis, int64_t size) {
  Strided result = from;
  result.sizes[axis] = size;
  return result;
}

Strided expanded(const Strided& from, const std::vector<int64_t>& sizes) {
  Strided result = from;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (from.sizes[i] == 1 && sizes[i] != 1) {
      result.sizes[i] = sizes[i];
      result.strides[i] = 0;
    }
  }
  return result;
}

Strided permuted(const Strided& from, std::span<const int64_t> order) {
  Strided result;
  for (const int64_t axis : order) {
    result.sizes.push_back(from.sizes[static_cast<size_t>(axis)]);
    result.strides.push_back(from.strides[static_cast<size_t>(axis)]);
  }
  return result;
}

std::optional<Strided> reshaped(const Strided& from, const std::vector<int64_t>& sizes) {
  Strided result;
  result.sizes = sizes;
  result.strides.assign(sizes.size(), 0);
  size_t to = sizes.size();  // axes of the result that are still open
  int64_t chunk_stride = from.strides.empty() ? 1 : from.strides.back();
  int64_t chunk = 1;
  int64_t filled = 1;
  for (size_t i = from.sizes.size(); i-- > 0;) {
    chunk *= from.sizes[i];
    const bool ends =
        i == 0 || (from.sizes[i - 1] != 1 && from.strides[i - 1] != chunk * chunk_stride);
    if (!ends) {
      continue;
    }
    while (to > 0 && (filled < chunk || sizes[to - 1] == 1)) {
      result.strides[to - 1] = filled * chunk_stride;
      filled *= sizes[--to];
    }
    if (filled != chunk) {
      return std::nullopt;
    }
    if (i > 0) {
      chunk_stride = from.strides[i - 1];
      chunk = 1;
      filled = 1;
    }
  }
  return to == 0 ? std::optional(result) : std::nullopt;
}

namespace {

/// Operands of one kernel over common sizes, axes in the iterator's order: fastest first.
struct Iteration {
  std::vector<int64_t> sizes;
  std::vector<std::vector<int64_t>> strides;  // by operand; 0 where it is broadcast
  std::vector<size_t> order;                  // position -> axis
};

/// Strides of `operand` over `sizes`, aligned from the right.
std::vector<int64_t> broadcast_strides(const Strided& operand, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 0);
  const size_t skip = sizes.size() - operand.sizes.size();
  for (size_t i = 0; i < operand.sizes.size(); ++i) {
    const bool broadcast = operand.sizes[i] == 1 && sizes[skip + i] != 1;
    strides[skip + i] = broadcast ? 0 : operand.strides[i];
  }
  return strides;
}

/// Does axis `a`, now faster, belong outside of axis `b`? > 0 yes, < 0 no, 0 undecided.
int compare(const Iteration& it, size_t a, size_t b) {
  for (const auto& strides : it.strides) {
    if (strides[a] == 0 || strides[b] == 0) {
      continue;  // the operand is broadcast along one: ask the next
    }
    if (strides[a] != strides[b]) {
      return strides[a] < strides[b] ? -1 : 1;
    }
    if (it.sizes[a] > it.sizes[b]) {
      return 1;
    }
  }
  return 0;
}

/// The framework's insertion sort, which lets undecided pairs stay.
void sort_axes(Iteration& it) {
  it.order.resize(it.sizes.size());
  for (size_t i = 0; i < it.order.size(); ++i) {
    it.order[i] = it.order.size() - 1 - i;
  }
  for (size_t i = 1; i < it.order.size(); ++i) {
    size_t at = i;
    for (size_t before = i; before-- > 0;) {
      const int comparison = compare(it, it.order[before], it.order[at]);
      if (comparison > 0) {
        std::swap(it.order[before], it.order[at]);
        at = before;
      } else if (comparison < 0) {
        break;
      }
    }
  }
}

/// Do all operands walk memory as one gapless run?
bool one_run(const Iteration& it) {
  if (std::all_of(it.sizes.begin(), it.sizes.end(), [](int64_t size) { return size == 1; })) {
    return true;
  }
  return std::all_of(it.strides.begin(), it.strides.end(), [&it](const auto& strides) {
    int64_t expected = 1;
    for (const size_t axis : it.order) {
      if (it.sizes[axis] == 1) {
        continue;
      }
      if (strides[axis] != expected) {
        return false;
      }
      expected *= it.sizes[axis];
    }
    return true;
  });
}

Strided gapless(const Iteration& it) {
  Strided result;
  result.sizes = it.sizes;
  result.strides.assign(it.sizes.size(), 1);
  int64_t stride = 1;
  for (const size_t axis : it.order) {
    result.strides[axis] = stride;
    stride *= it.sizes[axis];
  }
  return result;
}

}  // namespace

Pointwise pointwise_layout(std::span<const Strided> operands) {
  ORR_CHECK(!operands.empty()) << "a pointwise kernel reads something";
  Iteration it;
  for (const Strided& operand : operands) {
    const size_t rank = std::max(it.sizes.size(), operand.sizes.size());
    it.sizes.insert(it.sizes.begin(), rank - it.sizes.size(), 1);
    for (size_t i = 0; i < operand.sizes.size(); ++i) {
      int64_t& size = it.sizes[rank - operand.sizes.size() + i];
      size = std::max(size, operand.sizes[i]);
    }
  }
  for (const Strided& operand : operands) {
    it.strides.push_back(broadcast_strides(operand, it.sizes));
  }
  sort_axes(it);
  return {gapless(it), one_run(it)};
}

bool copies_vectorized(const Strided& from, const Strided& to) {
  ORR_CHECK(from.sizes == to.sizes) << "a copy keeps the sizes";
  Iteration it;
  it.sizes = to.sizes;
  it.strides = {to.strides, from.strides};
  sort_axes(it);
  return one_run(it);
}

Strided in_order_of(const Strided& like) {
  std::vector<size_t> order(like.sizes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&like](size_t a, size_t b) {
    return like.strides[a] > like.strides[b];
  });
  Strided result;
  result.sizes = like.sizes;
  result.strides.assign(like.sizes.size(), 1);
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    result.strides[order[i]] = stride;
    stride *= like.sizes[order[i]];
  }
  return result;
}

}  // namespace orrery::passes
