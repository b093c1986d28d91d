// Random decode attentions: groups of 1 to 8 query heads, caches of odd length, divided or not.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "cases_internal.h"
#include "orrery/kernel/family/decode_attention.h"

namespace orrery::agreement {
namespace {

using kernel::DecodeConfig;

DecodeConfig random_config(std::mt19937& random, int index) {
  DecodeConfig c;
  const bool hopper = index % 2 == 0;
  c.target = hopper ? kernel::Target::Sm90a : kernel::Target::Gfx942;
  c.group = hopper ? 64 : 16;
  c.head_dim = pick(random, {64, 128});
  c.tile_s = hopper ? 64 : pick(random, {16, 32});
  c.ring = 2;
  c.parts = pick(random, {1, 2, 3, 4});
  return c;
}

// A query head: its vector, the keys and values of its cache, s positions of `depth` elements.
struct Head {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  size_t s = 0;
  size_t depth = 0;
};

// o[d] and, for the tolerance, the same with magnitudes of v.
void expect_head(const Head& head, Case::Expected& out) {
  const auto& [q, k, v, s, depth] = head;
  std::vector<double> weights;
  double top = -INFINITY;
  for (size_t i = 0; i < s; ++i) {
    double score = 0;
    for (size_t d = 0; d < depth; ++d) score += static_cast<double>(q[d]) * k[i * depth + d];
    weights.push_back(score / std::sqrt(static_cast<double>(depth)));
    top = std::max(top, weights.back());
  }
  double sum = 0;
  for (double& weight : weights) sum += weight = std::exp(weight - top);
  for (size_t d = 0; d < depth; ++d) {
    double value = 0;
    double magnitude = 0;
    for (size_t i = 0; i < s; ++i) {
      value += weights[i] * v[i * depth + d];
      magnitude += weights[i] * std::abs(v[i * depth + d]);
    }
    out.values.push_back(value / sum);
    // Weights and output are rounded to bf16; scores of magnitude 16 at most err by 2^-19 in the
    // exponent; the sums of s terms and their rescaling by s roundings.
    const double sums = static_cast<double>(4 * s + 64) * kF32 + 0x1p-15;
    out.tolerance.push_back((kBf16 + sums) * magnitude / sum + kBf16 * std::abs(value / sum));
  }
}

}  // namespace

Case decode_case(std::mt19937& kernels, std::mt19937& random, int index) {
  const DecodeConfig config = random_config(kernels, index);
  const int64_t b = between(random, 1, 2);
  const int64_t h = between(random, 1, 2);
  const int64_t g = between(random, 1, 8);
  const int64_t s = pick(random, {1, 5, 31, 64, 65, 127, 200});
  Case c;
  c.extents = extents_of({{"b", b}, {"h", h}, {"g", g}, {"s", s}});
  c.title = kernel_name(config) + " b " + std::to_string(b) + " h " + std::to_string(h) + " g " +
            std::to_string(g) + " s " + std::to_string(s);
  c.kernels.push_back(unaligned(kernel::decode_attention_program(config).value()));
  if (config.parts > 1) {
    c.kernels.push_back(unaligned(kernel::decode_combine_program(config).value()));
  }
  for (const kernel::Program& program : c.kernels) add_tensors(c, program, random, 2.0F);
  Case::Expected expected{"O", {}, {}};
  const auto depth = static_cast<size_t>(config.head_dim);
  const auto cache = static_cast<size_t>(s) * depth;
  for (size_t head = 0; head < static_cast<size_t>(b * h); ++head) {
    for (size_t query = 0; query < static_cast<size_t>(g); ++query) {
      const size_t at = (head * static_cast<size_t>(g) + query) * depth;
      expect_head({.q = find(c.tensors, "Q").values.data() + at,
                   .k = find(c.tensors, "K").values.data() + head * cache,
                   .v = find(c.tensors, "V").values.data() + head * cache,
                   .s = static_cast<size_t>(s),
                   .depth = depth},
                  expected);
    }
  }
  c.expected.push_back(std::move(expected));
  return c;
}

}  // namespace orrery::agreement
