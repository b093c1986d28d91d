// Kernels that move a convolution's operands: transposes, padding, conversion.
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

constexpr int64_t kBlock = 32;  // nchwToNhwcKernel: 32 pixels x 32 channels, 256 threads

// 256 threads and 32 registers (36 for the way back): 8 blocks an SM.
Profile transposed(std::string name,
                   const Problem& problem,
                   const Transpose& transpose,
                   double instructions) {
  const LayoutTable& table = problem.table.layout;
  Profile profile = named(std::move(name), problem.table.layout.error);
  profile.behaviour.overlap = problem.chip.overlap.streaming;
  profile.threads = 256;
  profile.ctas_per_sm = 8;
  ProfilePhase block;
  block.name = "block";
  block.work.issue = Instructions(instructions);
  block.chain.memory = 1;
  block.chain.fixed = Cycles(table.block_chain);
  const double blocks = transpose.images * product(ceil_div(transpose.pixels, kBlock),
                                                   ceil_div(transpose.channels, kBlock));
  set_units(profile, {{blocks, {block}}});
  const double bytes =
      transpose.images * product(transpose.pixels, transpose.channels, problem.element);
  profile.traffic = streamed(bytes, bytes);
  profile.traffic.recent_read = Bytes(transpose.recent ? bytes : 0);
  profile.reasons.emplace_back(
      "channels first: the tensor kernels read and write channels last; layout=nhwc saves this");
  return profile;
}

// A grid of 264 blocks of 1024 threads that walks `elements`, at `instructions` a thread each.
Profile walked(std::string name, const Problem& problem, double elements, double instructions) {
  constexpr double kThreads = 1024;
  const auto slots = static_cast<double>(2 * problem.chip.core.count);
  const double blocks = std::min(slots, std::max(1.0, std::ceil(elements / kThreads)));
  Profile profile = named(std::move(name), problem.table.layout.error);
  profile.behaviour.overlap = problem.chip.overlap.streaming;
  profile.threads = 1024;
  profile.ctas_per_sm = 2;
  ProfilePhase walk;
  walk.name = "walk";
  walk.trips = std::max(1.0, elements / (blocks * kThreads));
  walk.work.issue =
      Instructions(kThreads / static_cast<double>(problem.chip.core.warp_size) * instructions);
  set_units(profile, {{blocks, {walk}}});
  return profile;
}

}  // namespace

Profile to_channels_last(const Problem& problem, const Transpose& transpose) {
  return transposed("nchwToNhwcKernel", problem, transpose, problem.table.layout.to_channels_last);
}

Profile to_channels_first(const Problem& problem, const Transpose& transpose) {
  return transposed("nhwcToNchwKernel", problem, transpose, problem.table.layout.to_channels_first);
}

Profile pad_rows(const Problem& problem, double read, double written) {
  Profile profile =
      walked("nhwcAddPaddingKernel", problem, std::max(read, written), problem.table.layout.pad);
  profile.traffic = streamed(read * problem.element, written * problem.element);
  profile.reasons.emplace_back(
      "the tensor kernels want whole 16-byte pieces of channels: multiples of 8 (fp32: 4) save "
      "this");
  return profile;
}

Profile clear(const Problem& problem, double bytes) {
  Profile profile = named("memset", problem.table.layout.error);
  profile.behaviour.overlap = problem.chip.overlap.streaming;
  profile.threads = 512;
  profile.ctas_per_sm = 4;
  ProfilePhase store;
  store.name = "store";
  store.work.l2_write = Bytes(16 * 512.0);
  set_units(profile, {{std::max(1.0, std::ceil(bytes / (16 * 512.0))), {store}}});
  profile.traffic = streamed(0, bytes);
  return profile;
}

// It finds every element's place by divisions, one after the other; a call on few elements takes
// 8 us as well.
Profile transform(const Problem& problem, double elements) {
  const LayoutTable& table = problem.table.layout;
  Profile profile = walked("tensorTransformGeneric", problem, elements, table.transform);
  ProfilePhase wait;
  wait.name = "divisions";
  wait.chain.fixed = Cycles(table.transform_chain);
  profile.kinds[0].phases.push_back(wait);
  profile.traffic = streamed(elements * problem.element, elements * problem.element);
  return profile;
}

}  // namespace orrery::library::conv
