// cuBLAS' kernels for one row of A: gemv.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "orrery/library/counts.h"
#include "orrery/library/cublas_legacy.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

/// As launched for 1 x n x k: grid n / outputs.
struct RowKernel {
  const char* name;
  int64_t outputs;  // of a CTA
  int64_t step;     // of k, of a trip
  int64_t registers;
  double shared;
};

constexpr int64_t kThreads = 128;
constexpr std::array kRowKernels = {RowKernel{"gemv2T_kernel_val", 8, 256, 65, 2560},
                                    RowKernel{"gemvx::kernel", 4, 512, 159, 528}};

}  // namespace

std::vector<Profile> one_row_kernels(const LegacyProblem& problem,
                                     const LegacyConstants& constants) {
  const GemmCall& call = problem.call;
  std::vector<Profile> profiles;
  for (const RowKernel& kernel : kRowKernels) {
    Profile profile;
    profile.kernel = kernel.name;
    profile.family = "gemm";
    profile.threads = kThreads;
    profile.ctas_per_sm = occupancy(problem.chip.core, kThreads, kernel.registers, kernel.shared);
    ProfilePhase walk;
    walk.name = "walk";
    walk.trips = static_cast<double>(ceil_div(call.k, kernel.step));
    walk.chain.memory = 1;
    walk.work.l2_read = Bytes(product(kernel.outputs, kernel.step) * problem.in);
    ProfilePhase sum;
    sum.name = "sum";
    sum.chain.fixed = Cycles(constants.prologue);
    set_units(profile, {{product(ceil_div(call.n, kernel.outputs)), {walk, sum}}});
    profile.traffic =
        streamed(product(call.n + 1, call.k) * problem.in, product(call.n) * problem.out);
    profile.traffic.recent_read = Bytes(product(call.k) * problem.in);
    profiles.push_back(std::move(profile));
  }
  return profiles;
}

}  // namespace orrery::library
