// Library tables: what a library file says, typed, and the rules that read them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "orrery/library/library.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

using Candidates = std::vector<std::vector<kernel::Profile>>;

/// An nvjet kernel as its name tells: tile n x m, k-step x stages, cluster n x m.
struct NvjetKernel {
  std::string name;
  int64_t tile_n = 0;
  int64_t tile_m = 0;
  int64_t step = 0;
  int64_t stages = 0;
  int64_t cluster_n = 1;
  int64_t cluster_m = 1;
  bool split = false;        // splitK: the product is cut along k, a second kernel adds
  bool rows_along_n = true;  // TNT: wgmma's M side lies along n; TNN: along m
};

struct NvjetTable {
  std::vector<NvjetKernel> kernels16;
  std::vector<NvjetKernel> kernels8;
  Duration fixed;
  double tensor_share = 1;
  double epilogue_instructions = 0;
  double step_floor = 0;
  double cluster_floor = 0;
  double pitch_32 = 1;
  double pitch_128 = 1;
  double dram_share = 1;
  Duration split_fixed;
  double split_trip = 0;
};

struct FlashTable {
  double tensor_share = 1;
  double issue_per_score = 0;
  double alone = 1;
  double uneven = 1;
  double diagonal = 0;
  double unit = 0;
  Duration combine_fixed;
};

struct CudnnTable {
  double tensor_share = 1;
  double issue_per_score = 0;
  double pipe_overlap = 0;
  double diagonal = 0;
  double unit = 0;
  Duration fixed;
  Duration decode_fixed;
  double decode_block = 0;
  double decode_share_256 = 1;
  double decode_share_small = 1;
  Duration reduction_fixed;
};

struct PointwiseTable {
  std::map<std::string, int, std::less<>> reads;            // tensors read, by operator
  std::map<std::string, double, std::less<>> instructions;  // per element, by kind of operator
  std::map<std::string, double, std::less<>> chain;         // dependent clocks of a thread, by kind
  double strided_thread = 0;  // instructions of a thread beside those of its elements
};

struct NormTable {
  double unit = 0;
  double beyond_l1 = 0;
  double layer_norm = 0;
  double instructions = 0;
  double layer_norm_instructions = 0;
  double instructions_unit = 0;
};

struct SoftmaxTable {
  double instructions = 0;
  double chain = 0;
  double unit = 0;
  double trip = 0;
};

struct GatherTable {
  double unit = 0;
};

/// Half an 80 % interval by family, relative: from cases that were left out of the fit.
struct ErrorTable {
  double gemm = 0;
  double attention = 0;
  double pointwise = 0;
  double rows = 0;
};

struct Library::Tables {
  std::string id;
  std::string version;
  NvjetTable nvjet;
  FlashTable flash;
  CudnnTable cudnn;
  PointwiseTable pointwise;
  NormTable norm;
  SoftmaxTable softmax;
  GatherTable gather;
  ErrorTable error;
  std::vector<machine::Number> numbers;
};

Result<Candidates> gemm_candidates(const GemmCall& call,
                                   const Library::Tables& tables,
                                   const machine::Chip& chip);
Result<Candidates> attention_candidates(const AttentionCall& call,
                                        const Library::Tables& tables,
                                        const machine::Chip& chip);
Result<Candidates> rows_candidates(const RowsCall& call,
                                   const Library::Tables& tables,
                                   const machine::Chip& chip);

/// The kernel that adds the slices of a split product or attention: see gemm.cpp, attention.cpp.
kernel::Profile flash_profile(const AttentionCall& call,
                              const FlashTable& table,
                              const machine::Chip& chip);

/// CTAs resident on an SM, by threads, registers (per thread) and shared memory (bytes per CTA); at
/// least 1.
int64_t occupancy(const machine::Core& core, int64_t threads, int64_t registers, double shared);

/// ceil(a / b) for a >= 0, b > 0, without overflow.
inline int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

/// The product as a double: sizes up to 2^40 each overflow 64 bits.
template <class... T>
double product(T... factors) {
  return (1.0 * ... * static_cast<double>(factors));
}

}  // namespace orrery::library
