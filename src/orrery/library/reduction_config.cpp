// The launch of PyTorch's reduce_kernel.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/reduction_config.h"

#include <algorithm>
#include <bit>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

// Constants of Reduce.cuh.
constexpr int64_t kMostThreads = 512;  // ReduceConfig::MAX_NUM_THREADS
constexpr int64_t kWarp = 32;          // at::cuda::warp_size
constexpr int64_t kVectorFrom = 128;   // values from which loads along the input are vectors
constexpr int64_t kOutputVector = 4;   // get_output_vec_size
constexpr int64_t kFewestValues = 16;  // min_values_per_thread
constexpr int64_t kMostValues = 256;   // max_values_per_thread

int64_t power_below(int64_t value) {
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, value))));
}

// set_block_dimension: x up to a warp first, then y, then x takes what is left.
void set_block(ReductionConfig& config, int64_t along_x, int64_t along_y) {
  const int64_t most = kMostThreads / config.output_vector;
  const int64_t x = along_x < most ? power_below(along_x) : most;
  const int64_t y = along_y < most ? power_below(along_y) : most;
  config.block_y = std::min(y, most / std::min(x, kWarp));
  config.block_x = std::min(x, most / config.block_y);
}

}  // namespace

ReductionConfig reduction_config(const ReductionShape& shape, int64_t sms, int64_t threads_per_sm) {
  ReductionConfig config;
  int64_t x = shape.contiguous ? shape.inputs : shape.outputs;
  if (shape.contiguous) {
    config.input_vector = shape.inputs >= kVectorFrom;
    x = config.input_vector ? x / shape.vector : x;
  } else {
    config.output_vector = kOutputVector;
    while (shape.outputs % config.output_vector != 0) {
      config.output_vector /= 2;
    }
    x /= config.output_vector;
  }
  set_block(config, x, shape.contiguous ? shape.outputs : shape.inputs);

  config.across_x = shape.contiguous;
  const int64_t along_x = config.across_x ? config.block_x : 1;
  int64_t outputs = config.across_x ? 1 : config.block_x;  // of a block
  config.values = ceil_div(shape.inputs, along_x);
  if (config.values >= std::min(config.block_y * kFewestValues, kMostValues)) {
    config.across_y = true;
    config.values = ceil_div(shape.inputs, along_x * config.block_y);
  } else {
    outputs *= config.block_y;
  }
  config.blocks = ceil_div(ceil_div(shape.outputs, config.output_vector), outputs);

  const int64_t wanted = sms * (threads_per_sm / config.threads());
  if (config.across_y && config.values >= kMostValues && config.blocks <= wanted) {
    const int64_t to_fill = ceil_div(wanted, config.blocks);
    config.blocks_per_output = std::max(std::min(to_fill, ceil_div(config.values, kFewestValues)),
                                        ceil_div(config.values, kMostValues));
    config.values = ceil_div(shape.inputs, along_x * config.block_y * config.blocks_per_output);
  }
  return config;
}

}  // namespace orrery::library
