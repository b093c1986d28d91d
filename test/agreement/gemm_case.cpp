// Random GEMMs: plain, swapped, divided, with every linear epilogue.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cases_internal.h"
#include "orrery/kernel/family/gemm.h"

namespace orrery::agreement {
namespace {

using kernel::GemmConfig;

GemmConfig random_config(std::mt19937& random, int index) {
  GemmConfig c;
  if (index % 2 == 0) {
    c.target = kernel::Target::Sm90a;
    c.swapped = random() % 2 == 0;
    c.tile_m = c.swapped ? pick(random, {8, 16, 32}) : 64;
    c.tile_n = c.swapped ? 64 : pick(random, {32, 64, 96});
    c.warps = 4;
  } else {
    c.target = kernel::Target::Gfx942;
    c.instruction = random() % 2 == 0 ? kernel::MmaShape{32, 32, 8} : kernel::MmaShape{16, 16, 16};
    c.tile_m = 64;
    c.tile_n = 64;
    c.tile_k = 32;
    c.warps = 4;
    c.column_warps = 2;
    c.ring = 2;
  }
  c.group = pick(random, {1, 2, 3, 8});
  c.parts = pick(random, {1, 1, 2, 3, 4});
  c.dtype = random() % 4 == 0 ? DType::F16 : DType::BF16;
  c.epilogue = kernel::linear_epilogue(
      {.bias = random() % 2 == 0,
       .activation = static_cast<kernel::Activation>(pick(random, {0, 1, 2, 3, 4})),
       .residual = random() % 2 == 0,
       .dtype = c.dtype});
  return c;
}

double activate(const std::string& title, double x) {
  if (title.find("relu") != std::string::npos) return std::max(x, 0.0);
  if (title.find("gelu_tanh") != std::string::npos) {
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  if (title.find("gelu") != std::string::npos) return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  if (title.find("silu") != std::string::npos) return x / (1 + std::exp(-x));
  return x;
}

// The activation's name, found again in the epilogue's expression.
std::string activation_of(const GemmConfig& config) {
  for (const kernel::ExprNode& node : config.epilogue.value.nodes) {
    switch (node.op) {
      case kernel::ExprOp::Relu:
      case kernel::ExprOp::Gelu:
      case kernel::ExprOp::GeluTanh:
      case kernel::ExprOp::Silu:
        return std::string(kernel::name(node.op));
      default:
        break;
    }
  }
  return "none";
}

struct Sizes {
  size_t m = 0;
  size_t n = 0;
  size_t k = 0;
};

double operand(Case& c, const GemmConfig& config, const char* name, size_t at) {
  for (const kernel::EpilogueTensor& tensor : config.epilogue.tensors) {
    if (tensor.name == name) return find(c.tensors, name).values[at];
  }
  return 0;
}

// Sum of products: k roundings of at most the sum of magnitudes. Activations have a slope of at
// most 1.13. The output is rounded once more.
void expect_product(Case& c, const GemmConfig& config, const Sizes& size) {
  const std::vector<float>& a = find(c.tensors, "A").values;
  const std::vector<float>& b = find(c.tensors, "B").values;
  const std::string activation = activation_of(config);
  Case::Expected expected{"C", {}, {}};
  for (size_t m = 0; m < size.m; ++m) {
    for (size_t n = 0; n < size.n; ++n) {
      double sum = 0;
      double magnitude = 0;
      for (size_t k = 0; k < size.k; ++k) {
        const double product = static_cast<double>(a[m * size.k + k]) * b[n * size.k + k];
        sum += product;
        magnitude += std::abs(product);
      }
      const double bias = operand(c, config, "bias", n);
      const double residual = operand(c, config, "residual", m * size.n + n);
      const double value = activate(activation, sum + bias) + residual;
      magnitude += std::abs(bias) + std::abs(residual);
      expected.values.push_back(value);
      const double accumulated = static_cast<double>(2 * size.k + 16) * kF32 * magnitude;
      expected.tolerance.push_back(1.2 * accumulated + kBf16 * std::abs(value) + 1e-6);
    }
  }
  c.expected.push_back(std::move(expected));
}

}  // namespace

Case gemm_case(std::mt19937& kernels, std::mt19937& random, int index) {
  const GemmConfig config = random_config(kernels, index);
  const int64_t m = pick(random, {1, 2, 7, 33, 64, 65, 100});
  const int64_t n = pick(random, {1, 7, 8, 31, 64, 97, 130});
  const int64_t k = pick(random, {1, 9, 32, 63, 64, 65, 129, 200});
  Case c;
  c.extents = extents_of({{"m", m}, {"n", n}, {"k", k}});
  c.title = kernel_name(config) + "_" + activation_of(config) + " m " + std::to_string(m) + " n " +
            std::to_string(n) + " k " + std::to_string(k);
  c.kernels.push_back(unaligned(kernel::gemm_program(config).value()));
  if (config.parts > 1) {
    c.kernels.push_back(unaligned(kernel::gemm_combine_program(config).value()));
  }
  // The combination reads what the first kernel writes, so its inputs come second.
  for (const kernel::Program& program : c.kernels) add_tensors(c, program, random, 1.0F);
  expect_product(
      c, config, {static_cast<size_t>(m), static_cast<size_t>(n), static_cast<size_t>(k)});
  return c;
}

}  // namespace orrery::agreement
