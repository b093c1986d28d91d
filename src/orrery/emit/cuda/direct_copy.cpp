// Copies between global memory and registers, without a stop in shared memory.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orrery/emit/cuda/evaluate_internal.h"
#include "orrery/emit/index.h"

namespace orrery::emit::cuda {
namespace {

/// Does no other unit read these elements? Then they need not stay in L1.
bool read_once(const Scope& scope, TensorId tensor) {
  const auto& axes = scope.program()[tensor].axes;
  for (const AxisId axis : scope.program().raster.order) {
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) return false;
  }
  return scope.program()[tensor].access == Access::Read;
}

/// A binary32 output is a partial result that the next kernel reads: it should stay in L2.
bool leaves_for_good(const Scope& scope, TensorId tensor) {
  const auto& t = scope.program()[tensor];
  return t.access == Access::Write && t.dtype != DType::F32;
}

Result<void> check_types(const Scope& scope, BufferId buffer, TensorId tensor) {
  if (scope[buffer].dtype == scope.program()[tensor].dtype) return {};
  return unsupported(scope.context,
                     fmt::format("a copy between '{}' and '{}', which differ in type",
                                 scope[buffer].name,
                                 scope.program()[tensor].name));
}

/// Among replicas only the first holder writes.
std::string single_writer(const kernel::FragmentLayout& layout) {
  const std::string lane = first_replica_text(layout, Place::Lane, "lane");
  const std::string warp = first_replica_text(layout, Place::Warp, "warp");
  if (lane.empty()) return warp;
  return warp.empty() ? lane : lane + " && " + warp;
}

}  // namespace

Result<void> lower_load(Scope& scope, const kernel::Load& load) {
  const Buffer& to = scope[load.to];
  if (to.space == Space::Shared) {
    return unsupported(scope.context,
                       fmt::format("a load of shared buffer '{}' by a consumer stage", to.name));
  }
  ORR_TRY_VOID(check_types(scope, load.to, load.from));
  const Meeting at = meet(scope, load.to, load.from, "i");
  scope.out.raw("#pragma unroll");
  scope.out.line("for (int i = 0; i < {}; i += {}) load<{}, {}>({}, i, {}, {});",
                 to.fragment.count(Place::Register),
                 at.vector,
                 at.vector,
                 read_once(scope, load.from),
                 buffer_name(scope.program(), load.to),
                 at.address,
                 at.valid);
  return {};
}

Result<void> lower_store(Scope& scope, const kernel::Store& store) {
  if (store.via) return lower_staged_store(scope, store);
  ORR_TRY_VOID(check_types(scope, store.from, store.to));
  const auto& layout = scope[store.from].fragment;
  const Meeting at = meet(scope, store.from, store.to, "i");
  const std::string writer = single_writer(layout);
  if (!writer.empty()) scope.out.open("if ({})", writer);
  scope.out.raw("#pragma unroll");
  scope.out.line("for (int i = 0; i < {}; i += {}) store<{}, {}>({}, {}, i, {});",
                 layout.count(Place::Register),
                 at.vector,
                 at.vector,
                 leaves_for_good(scope, store.to),
                 at.address,
                 buffer_name(scope.program(), store.from),
                 at.valid);
  if (!writer.empty()) scope.out.close();
  return {};
}

}  // namespace orrery::emit::cuda
