// Random residual RMS norms: held and looped rows, aligned or not.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cases_internal.h"
#include "orrery/kernel/family/add_rms_norm.h"

namespace orrery::agreement {
namespace {

using kernel::AddRmsNormConfig;

AddRmsNormConfig random_config(std::mt19937& random, int index) {
  AddRmsNormConfig c;
  c.target = index % 2 == 0 ? kernel::Target::Sm90a : kernel::Target::Gfx942;
  c.dtype = pick(random, {0, 1}) == 0 ? DType::BF16 : DType::F32;
  c.rows = pick(random, {1, 2, 4});
  c.row_warps = pick(random, {1, 2, 4});
  c.vectors = pick(random, {1, 2, 3});
  c.aligned = random() % 2 == 0;
  c.looped = random() % 2 == 0;
  return c;
}

// h is rounded once. y: the mean of squares of the rounded h has cols roundings, the root halves
// them; then three products and the rounding to the type.
void expect_norm(Case& c, const AddRmsNormConfig& config, size_t rows, size_t cols) {
  const std::vector<float>& x = find(c.tensors, "X").values;
  const std::vector<float>& r = find(c.tensors, "R").values;
  const std::vector<float>& w = find(c.tensors, "W").values;
  const double rounding = config.dtype == DType::F32 ? kF32 : kBf16;
  Case::Expected h{"H", {}, {}};
  Case::Expected y{"Y", {}, {}};
  for (size_t row = 0; row < rows; ++row) {
    double sum = 0;
    std::vector<double> kept;
    for (size_t col = 0; col < cols; ++col) {
      const float exact = x[row * cols + col] + r[row * cols + col];
      const double value = interpret::round_to(config.dtype, exact);
      h.values.push_back(value);
      h.tolerance.push_back(0);
      kept.push_back(value);
      sum += value * value;
    }
    const double scale = 1 / std::sqrt(sum / static_cast<double>(cols) + config.eps);
    for (size_t col = 0; col < cols; ++col) {
      const double value = kept[col] * scale * w[col];
      y.values.push_back(value);
      y.tolerance.push_back(std::abs(value) * (static_cast<double>(cols + 8) * kF32 + rounding));
    }
  }
  c.expected = {std::move(h), std::move(y)};
}

}  // namespace

Case add_rms_norm_case(std::mt19937& kernels, std::mt19937& random, int index) {
  const AddRmsNormConfig config = random_config(kernels, index);
  const int64_t rows = pick(random, {1, 2, 3, 7});
  const int64_t most = config.looped ? 2 * tile_cols(config) + 5 : tile_cols(config);
  const int64_t cols = between(random, 1, std::min<int64_t>(most, 3000));
  Case c;
  c.extents = extents_of({{"rows", rows}, {"cols", cols}});
  c.title = kernel_name(config) + " rows " + std::to_string(rows) + " cols " + std::to_string(cols);
  c.kernels.push_back(unaligned(kernel::add_rms_norm_program(config).value()));
  add_tensors(c, c.kernels[0], random, 3.0F);
  expect_norm(c, config, static_cast<size_t>(rows), static_cast<size_t>(cols));
  return c;
}

}  // namespace orrery::agreement
