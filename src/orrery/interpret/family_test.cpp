// The families' programs compute what they say: each against a plain loop in binary64.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "orrery/interpret/interpret.h"
#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"

namespace orrery::interpret {
namespace {

using kernel::Extents;
using kernel::Target;

/// Random values, already rounded to bf16.
HostTensor random_tensor(const std::string& name, std::vector<int64_t> shape, uint32_t seed) {
  HostTensor t{name, std::move(shape), {}};
  int64_t count = 1;
  for (const int64_t extent : t.shape) {
    count *= extent;
  }
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (int64_t i = 0; i < count; ++i) {
    t.values.push_back(round_to(DType::BF16, uniform(random)));
  }
  return t;
}

HostTensor empty(const std::string& name, std::vector<int64_t> shape) {
  HostTensor t = random_tensor(name, std::move(shape), 1);
  std::fill(t.values.begin(), t.values.end(), std::nanf(""));
  return t;
}

/// Every value within `relative` of the largest wanted one.
void expect_near(const HostTensor& got, const std::vector<double>& want, double relative) {
  ASSERT_EQ(got.values.size(), want.size());
  double largest = 0;
  for (const double w : want) {
    largest = std::max(largest, std::abs(w));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(static_cast<double>(got.values[i]), want[i], relative * largest) << i;
  }
}

struct GemmCase {
  int64_t m, n, k;
};

/// gelu(A B^T + bias) + residual in binary64.
std::vector<double> gemm_reference(const GemmCase& c, const std::vector<HostTensor>& t) {
  std::vector<double> want;
  for (int64_t i = 0; i < c.m; ++i) {
    for (int64_t j = 0; j < c.n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < c.k; ++p) {
        sum += static_cast<double>(t[0].values[static_cast<size_t>(i * c.k + p)]) *
               static_cast<double>(t[1].values[static_cast<size_t>(j * c.k + p)]);
      }
      sum += static_cast<double>(t[2].values[static_cast<size_t>(j)]);
      const double gelu = 0.5 * sum * (1 + std::erf(sum / std::sqrt(2.0)));
      want.push_back(gelu + static_cast<double>(t[3].values[static_cast<size_t>(i * c.n + j)]));
    }
  }
  return want;
}

void check_gemm(kernel::GemmConfig config, const GemmCase& c) {
  config.epilogue = kernel::linear_epilogue(
      {.bias = true, .activation = kernel::Activation::Gelu, .residual = true});
  Extents e;
  e.set("m", c.m);
  e.set("n", c.n);
  e.set("k", c.k);
  std::vector<HostTensor> t = {random_tensor("A", {c.m, c.k}, 1),
                               random_tensor("B", {c.n, c.k}, 2),
                               random_tensor("bias", {c.n}, 3),
                               random_tensor("residual", {c.m, c.n}, 4),
                               empty("C", {c.m, c.n}),
                               empty("P", {config.parts, c.m, c.n})};
  const auto program = kernel::gemm_program(config);
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const auto ran = run(*program, e, t);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  if (config.parts > 1) {
    const auto combined = run(kernel::gemm_combine_program(config).value(), e, t);
    ASSERT_TRUE(combined.ok()) << combined.error().to_string();
  }
  expect_near(t[4], gemm_reference(c, t), 1.0 / 256);
}

TEST(GemmFamily, AgreesWithAPlainLoop) {
  const GemmCase c{70, 136, 104};  // partial tiles on every side
  check_gemm({.tile_m = 64, .tile_n = 64, .warps = 4}, c);
  check_gemm({.tile_m = 128, .tile_n = 128, .cluster_n = 2}, c);
  check_gemm({.tile_m = 16, .tile_n = 64, .swapped = true, .warps = 4}, c);
  check_gemm({.tile_m = 64, .tile_n = 64, .warps = 4, .persistent = false, .parts = 3}, c);
  check_gemm({.target = Target::Gfx942,
              .tile_m = 64,
              .tile_n = 64,
              .tile_k = 32,
              .ring = 2,
              .warps = 4,
              .column_warps = 2},
             c);
}

void check_norm(const kernel::AddRmsNormConfig& config, int64_t rows, int64_t cols) {
  Extents e;
  e.set("rows", rows);
  e.set("cols", cols);
  std::vector<HostTensor> t = {random_tensor("X", {rows, cols}, 1),
                               random_tensor("R", {rows, cols}, 2),
                               random_tensor("W", {cols}, 3),
                               empty("H", {rows, cols}),
                               empty("Y", {rows, cols})};
  const auto program = kernel::add_rms_norm_program(config);
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const auto ran = run(*program, e, t);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  std::vector<double> h(t[0].values.size());
  std::vector<double> y(t[0].values.size());
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      const auto at = static_cast<size_t>(i * cols + j);
      h[at] = static_cast<double>(round_to(config.dtype, t[0].values[at] + t[1].values[at]));
      sum += h[at] * h[at];
    }
    for (int64_t j = 0; j < cols; ++j) {
      const auto at = static_cast<size_t>(i * cols + j);
      y[at] = h[at] / std::sqrt(sum / static_cast<double>(cols) + config.eps) *
              static_cast<double>(t[2].values[static_cast<size_t>(j)]);
    }
  }
  expect_near(t[3], h, 0);
  expect_near(t[4], y, 1.0 / 256);
}

TEST(AddRmsNormFamily, AgreesWithAPlainLoop) {
  check_norm({.row_warps = 2, .vectors = 2}, 5, 1000);
  check_norm({.rows = 4, .row_warps = 1, .vectors = 4}, 5, 1000);
  check_norm({.row_warps = 4, .vectors = 8, .aligned = false}, 3, 999);
  check_norm({.row_warps = 1, .vectors = 1, .looped = true}, 3, 1000);
  check_norm({.target = Target::Gfx942, .row_warps = 2, .vectors = 1}, 3, 1000);
}

std::vector<double> attention_reference(const kernel::DecodeExtents& x,
                                        int64_t d,
                                        const std::vector<HostTensor>& t) {
  const auto at =
      [&](const HostTensor& tensor, int64_t head, int64_t row, int64_t rows, int64_t i) {
        return static_cast<double>(tensor.values[static_cast<size_t>((head * rows + row) * d + i)]);
      };
  std::vector<double> want;
  for (int64_t head = 0; head < x.b * x.h; ++head) {
    for (int64_t g = 0; g < x.g; ++g) {
      std::vector<double> weight;
      double total = 0;
      for (int64_t s = 0; s < x.s; ++s) {
        double dot = 0;
        for (int64_t i = 0; i < d; ++i) {
          dot += at(t[0], head, g, x.g, i) * at(t[1], head, s, x.s, i);
        }
        weight.push_back(std::exp(dot / std::sqrt(static_cast<double>(d))));
        total += weight.back();
      }
      for (int64_t i = 0; i < d; ++i) {
        double sum = 0;
        for (int64_t s = 0; s < x.s; ++s) {
          sum += weight[static_cast<size_t>(s)] * at(t[2], head, s, x.s, i);
        }
        want.push_back(sum / total);
      }
    }
  }
  return want;
}

void check_decode(const kernel::DecodeConfig& config, const kernel::DecodeExtents& x) {
  const int64_t d = config.head_dim;
  Extents e;
  e.set("b", x.b);
  e.set("h", x.h);
  e.set("g", x.g);
  e.set("s", x.s);
  std::vector<HostTensor> t = {random_tensor("Q", {x.b, x.h, x.g, d}, 1),
                               random_tensor("K", {x.b, x.h, x.s, d}, 2),
                               random_tensor("V", {x.b, x.h, x.s, d}, 3),
                               empty("O", {x.b, x.h, x.g, d}),
                               empty("PO", {config.parts, x.b, x.h, x.g, d}),
                               empty("PT", {config.parts, x.b, x.h, x.g}),
                               empty("PS", {config.parts, x.b, x.h, x.g})};
  const auto program = kernel::decode_attention_program(config);
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const auto ran = run(*program, e, t);
  ASSERT_TRUE(ran.ok()) << ran.error().to_string();
  if (config.parts > 1) {
    const auto combined = run(kernel::decode_combine_program(config).value(), e, t);
    ASSERT_TRUE(combined.ok()) << combined.error().to_string();
  }
  expect_near(t[3], attention_reference(x, d, t), 1.0 / 100);
}

TEST(DecodeFamily, AgreesWithAPlainLoop) {
  check_decode({.head_dim = 64, .tile_s = 32}, {2, 2, 4, 100});
  check_decode({.head_dim = 128, .tile_s = 64}, {1, 1, 8, 65});
  // 7 parts of 4 tiles: some have none at all.
  check_decode({.head_dim = 64, .tile_s = 32, .parts = 7}, {1, 2, 4, 100});
  check_decode({.target = Target::Gfx942, .head_dim = 64, .group = 16, .tile_s = 32},
               {1, 2, 4, 100});
  check_decode({.target = Target::Gfx942, .head_dim = 128, .group = 16, .tile_s = 16, .parts = 3},
               {1, 1, 8, 100});
}

}  // namespace
}  // namespace orrery::interpret
