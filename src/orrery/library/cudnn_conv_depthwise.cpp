// Depthwise convolutions: PyTorch's kernels for channels first, cuDNN's for channels last.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/library/cudnn_conv_internal.h"

namespace orrery::library::conv {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

double outputs_of(const Problem& problem) {
  return product(problem.pixels(), problem.call.k);
}

void set_traffic(Profile& profile, const Problem& problem) {
  profile.traffic = streamed(problem.image() + problem.filters(), problem.result());
  profile.traffic.recent_read = Bytes(problem.image());
}

// conv_depthwise2d_forward_kernel (aten/src/ATen/native/cuda/DepthwiseConv2d.cu): a thread an
// output, blocks of 1024 threads, 32 registers; r * s taps of the channels of a group, each a load,
// a conversion, a multiply-add and the tests of its place.
Profile an_output_a_thread(const Problem& problem, std::string name) {
  const DepthwiseTable& table = problem.table.depthwise;
  constexpr double kThreads = 1024;
  const double taps = product(problem.taps(), problem.c);
  Profile profile = named(std::move(name), table.native_error);
  profile.threads = 1024;
  profile.ctas_per_sm = 2;
  ProfilePhase block;
  block.name = "taps";
  block.work.issue = Instructions(kThreads / static_cast<double>(problem.chip.core.warp_size) *
                                  (table.native_output + table.native_tap * taps));
  block.chain.memory = 1;
  block.chain.fixed = Cycles(table.native_chain);
  set_units(profile, {{std::ceil(outputs_of(problem) / kThreads), {block}}});
  set_traffic(profile, problem);
  return profile;
}

Profile native(const Problem& problem) {
  const bool unrolled = problem.call.r == problem.call.s &&
                        (problem.call.r == 1 || problem.call.r == 3 || problem.call.r == 5);
  Profile profile = an_output_a_thread(
      problem,
      unrolled ? "conv_depthwise2d_forward_kernel" : "conv_depthwise2d_forward_kernel_generic");
  profile.reasons.emplace_back(
      "channels first: PyTorch's own kernel (ATen/native/Convolution.cpp, use_cudnn_depthwise)");
  return profile;
}

// conv2d_c1_k1_nhwc: 256 threads, 4 channels of a pixel each. Registers by filter size: 42, 80,
// 128.
Profile plain(const Problem& problem) {
  const DepthwiseTable& table = problem.table.depthwise;
  const auto taps = static_cast<double>(problem.taps());
  Profile profile = named("conv2d_c1_k1_nhwc", table.error);
  profile.threads = 256;
  profile.ctas_per_sm = taps > 25 ? 2 : taps > 9 ? 3 : 6;
  ProfilePhase block;
  block.name = "taps";
  block.trips = taps;
  block.work.issue =
      Instructions(static_cast<double>(problem.chip.core.schedulers) * table.plain_tap);
  block.chain.fixed = Cycles(problem.half ? table.plain_chain_half : table.plain_chain_single);
  set_units(profile, {{std::ceil(outputs_of(problem) / 1024), {block}}});
  set_traffic(profile, problem);
  return profile;
}

// conv2d_c1_k1_nhwc_specialized: 128 threads, 8 channels of 3 x 2 pixels each (2 x 2 at stride 2),
// rows in fours. Registers by filter size: 80, 158, 255.
Profile special(const Problem& problem) {
  const DepthwiseTable& table = problem.table.depthwise;
  const auto taps = static_cast<double>(problem.taps());
  const bool strided = problem.call.stride > 1;
  Profile profile = named("conv2d_c1_k1_nhwc_specialized", table.error);
  profile.threads = 128;
  profile.ctas_per_sm = taps > 25 ? 2 : taps > 9 ? 3 : 6;
  const double columns = static_cast<double>(ceil_div(problem.q, strided ? 2 : 3));
  const double rows = 2 * static_cast<double>(ceil_div(problem.p, 4));
  const double threads = product(problem.call.batch, ceil_div(problem.call.k, 8)) * columns * rows;
  ProfilePhase block;
  block.name = "taps";
  block.work.issue = Instructions(static_cast<double>(problem.chip.core.schedulers) *
                                  (table.special_output + table.special_tap * taps));
  block.chain.fixed = Cycles(table.special_chain + table.special_chain_tap * taps);
  set_units(profile, {{std::max(1.0, std::ceil(threads / 128)), {block}}});
  set_traffic(profile, problem);
  return profile;
}

// conv2d_c1_k1_nchw_shmem_tiling: fp16, 256 threads on a tile of the image in shared memory.
Profile tiled(const Problem& problem) {
  const DepthwiseTable& table = problem.table.depthwise;
  const auto taps = static_cast<double>(problem.taps());
  constexpr double kOutputs = 2048;
  Profile profile = named("conv2d_c1_k1_nchw_shmem_tiling", table.native_error);
  profile.threads = 256;
  profile.ctas_per_sm = 4;
  ProfilePhase block;
  block.name = "taps";
  block.work.issue = Instructions(kOutputs / static_cast<double>(problem.chip.core.warp_size) *
                                  (table.tiled_output + table.tiled_tap * taps));
  block.chain.memory = 1;
  set_units(profile, {{std::ceil(outputs_of(problem) / kOutputs), {block}}});
  set_traffic(profile, problem);
  return profile;
}

// PyTorch's check_cudnn_depthwise_workload_with_filter (ATen/native/Convolution.cpp): fp16 alone.
bool cudnn_takes(const Problem& problem) {
  const ConvCall& call = problem.call;
  if (call.dtype != DType::F16 || call.c < 32 || call.r != call.s || call.w < 7 ||
      (call.r != 1 && call.r != 3 && call.r != 5) || call.dilation != 1) {
    return false;
  }
  if (call.stride == 1) {
    return true;
  }
  if (call.stride != 2) {
    return false;
  }
  if (call.batch == 1) {
    return call.r > 1 || call.w <= 28;
  }
  return call.r == 1 ? call.batch <= 16 && call.c >= 128 && call.w <= 7
                     : call.c >= 512 || (call.c >= 256 && call.w >= 28);
}

}  // namespace

Profile grouped_direct_kernel(const Problem& problem) {
  Profile profile = an_output_a_thread(problem, "conv2d_grouped_direct_kernel");
  profile.reasons.emplace_back("narrow groups of one image: without transposes");
  return profile;
}

Profile depthwise_kernel(const Problem& problem) {
  if (!problem.channels_last()) {
    return cudnn_takes(problem) ? tiled(problem) : native(problem);
  }
  // Launches of 163 shapes: at up to 4 images never the kernel of 8 channels a thread, from 8
  // always.
  const bool few = problem.call.batch <= 4;
  return !problem.half || problem.call.k % 8 != 0 || few ? plain(problem) : special(problem);
}

}  // namespace orrery::library::conv
