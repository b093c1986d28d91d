// fp8_products.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/fp8_products.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace orrery::passes {

void use_fp8_products(plan::Plan& plan) {
  const auto is_product = [](const plan::Step& step) {
    const auto* gemm = std::get_if<library::GemmCall>(&step.call);
    return gemm != nullptr && gemm->batch == 1 &&
           (gemm->input == DType::BF16 || gemm->input == DType::F16);
  };
  const auto last = std::find_if(plan.steps.rbegin(), plan.steps.rend(), is_product);
  const auto head = static_cast<size_t>(plan.steps.rend() - last);  // its index, plus one
  std::vector<plan::Step> steps;
  double saved = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    plan::Step step = std::move(plan.steps[i]);
    const auto* gemm = std::get_if<library::GemmCall>(&step.call);
    if (gemm == nullptr || !is_product(step) || i + 1 == head) {
      steps.push_back(std::move(step));
      continue;
    }
    library::GemmCall product = *gemm;
    saved += static_cast<double>(product.n) * static_cast<double>(product.k) *
             static_cast<double>(step.times);
    plan::Step quantise = step;
    quantise.name += ".quantize";
    quantise.call = library::RowsCall{
        .op = "quantize_fp8", .rows = product.m, .cols = product.k, .dtype = product.input};
    product.input = DType::F8E4M3;
    step.call = std::move(product);
    steps.push_back(std::move(quantise));
    steps.push_back(std::move(step));
  }
  plan.steps = std::move(steps);
  plan.memory.weights = std::max(Bytes(0.0), plan.memory.weights - Bytes(saved));
}

}  // namespace orrery::passes
