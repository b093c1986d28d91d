// A loaded CUDA kernel: arguments, tensor maps and launch attributes from a program's launch.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "orrery/kernel/geometry.h"
#include "orrery/runtime/cuda/kernel_internal.h"
#include "orrery/runtime/cuda/tensor_map.h"

namespace orrery::runtime::cuda {
namespace {

// CUfunction_attribute (cuda.h 13.0).
constexpr int kMaxDynamicShared = 8;
constexpr int kSharedCarveout = 9;

constexpr size_t kMostPrepared =
    64;  // launches remembered: layers of a model rotate through few buffers
constexpr uintptr_t kAlignment = 16;

/// Makes the device's context current while it lives, as callers may have another one.
class Current {
 public:
  Current(const Driver& driver, ContextHandle context) : driver_(driver) {
    driver_.get_context(&before_);
    changed_ = before_ != context;
    if (changed_) driver_.set_context(context);
  }

  ~Current() {
    if (changed_) driver_.set_context(before_);
  }

  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const Driver& driver_;
  ContextHandle before_ = nullptr;
  bool changed_ = false;
};

/// Everything that cuLaunchKernelEx takes, except the stream.
struct Prepared {
  std::vector<TensorMapBytes> maps;
  std::vector<void*> pointers;
  std::vector<int32_t> extents;
  std::vector<void*> arguments;  // addresses of the above, in parameter order
  std::vector<LaunchAttribute> attributes;
  LaunchConfig config;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(Home home, kernel::Program program, emit::Source source, const Cubin& cubin)
      : home_(std::move(home)), program_(std::move(program)), source_(std::move(source)) {
    facts_ = {.registers = cubin.resources.registers,
              .stack_bytes = cubin.resources.stack_bytes,
              .shared_bytes = kernel::shared_plan(program_).total,
              .code_bytes = static_cast<int64_t>(cubin.bytes.size())};
  }

  ~CudaKernel() override {
    if (module_ == nullptr) return;
    const Current current(driver(), home_.context);
    driver().module_unload(module_);
  }

  Result<void> load(const Cubin& cubin) {
    const Current current(driver(), home_.context);
    ORR_TRY_VOID(
        driver().check(driver().module_load(&module_, cubin.bytes.data()), "cuModuleLoadData"));
    ORR_TRY_VOID(driver().check(driver().module_function(&function_, module_, cubin.entry.c_str()),
                                "cuModuleGetFunction"));
    if (facts_.shared_bytes > 0) {
      ORR_TRY_VOID(set(kMaxDynamicShared, static_cast<int>(facts_.shared_bytes)));
      ORR_TRY_VOID(set(kSharedCarveout, 100));  // percent: all of it, for several CTAs an SM
    }
    return count_slots();
  }

  Result<void> launch(const Launch& launch) override {
    std::vector<int64_t> key;
    for (void* pointer : launch.tensors) key.push_back(reinterpret_cast<intptr_t>(pointer));
    for (const auto& [symbol, value] : launch.extents.values) key.push_back(value);
    auto known = prepared_.find(key);
    if (known == prepared_.end()) {
      ORR_TRY(Prepared fresh, prepare(launch));
      if (prepared_.size() >= kMostPrepared) prepared_.clear();
      known = prepared_.emplace(std::move(key), std::move(fresh)).first;
    }
    Prepared& ready = known->second;
    ready.config.stream = launch.stream;
    const Current current(driver(), home_.context);
    return driver().check(
        driver().launch(&ready.config, function_, ready.arguments.data(), nullptr),
        "cuLaunchKernelEx");
  }

  const KernelFacts& facts() const override { return facts_; }

 private:
  const Driver& driver() const { return *home_.driver; }

  Result<void> set(int attribute, int value) const {
    return driver().check(driver().function_set(function_, attribute, value), "cuFuncSetAttribute");
  }

  int64_t threads() const {
    int64_t warps = 0;
    for (const auto& stage : program_.stages) warps += stage.warps;
    return warps * kernel::warp_size(program_.target);
  }

  int64_t cluster() const { return program_.cluster ? program_.cluster->size : 1; }

  /// How many CTAs of a persistent kernel run at once; clusters may leave SMs of odd groups idle.
  Result<void> count_slots() {
    int count = 0;
    if (cluster() == 1) {
      ORR_TRY_VOID(driver().check(driver().occupancy(&count,
                                                     function_,
                                                     static_cast<int>(threads()),
                                                     static_cast<size_t>(facts_.shared_bytes)),
                                  "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
      slots_ = int64_t{count} * home_.multiprocessors;
    } else {
      LaunchAttribute attribute = cluster_attribute();
      LaunchConfig config;
      config.grid[0] = static_cast<uint32_t>(cluster() * home_.multiprocessors);
      config.block[0] = static_cast<uint32_t>(threads());
      config.shared_bytes = static_cast<uint32_t>(facts_.shared_bytes);
      config.attributes = &attribute;
      config.attribute_count = 1;
      ORR_TRY_VOID(driver().check(driver().cluster_occupancy(&count, function_, &config),
                                  "cuOccupancyMaxActiveClusters"));
      slots_ = count * cluster();
    }
    if (slots_ > 0) return {};
    return make_error(ErrorCode::Infeasible,
                      "[runtime.cuda] kernel '{}' does not fit: got {} threads of {} registers and "
                      "{} bytes of shared memory, need a CTA that fits an SM",
                      program_.name,
                      threads(),
                      facts_.registers,
                      facts_.shared_bytes);
  }

  LaunchAttribute cluster_attribute() const {
    LaunchAttribute attribute;
    attribute.id = kClusterDimension;
    attribute.value[0] = static_cast<uint32_t>(cluster());
    attribute.value[1] = 1;
    attribute.value[2] = 1;
    return attribute;
  }

  Result<void> check(const Launch& launch) const {
    if (launch.tensors.size() != program_.tensors.size()) {
      return make_error(ErrorCode::InvalidInput,
                        "[runtime.cuda] tensors of kernel '{}': got {}, need {}",
                        program_.name,
                        launch.tensors.size(),
                        program_.tensors.size());
    }
    for (size_t t = 0; t < launch.tensors.size(); ++t) {
      const auto address = reinterpret_cast<uintptr_t>(launch.tensors[t]);
      if (address == 0 || address % kAlignment != 0) {
        return make_error(ErrorCode::InvalidInput,
                          "[runtime.cuda] address of tensor '{}' of kernel '{}': got {:#x}, need a "
                          "multiple of {}",
                          program_.tensors[t].name,
                          program_.name,
                          address,
                          kAlignment);
      }
    }
    // Every axis, so that broken promises (multiples, whole extents) are found before the kernel
    // runs.
    for (size_t a = 0; a < program_.axes.size(); ++a) {
      ORR_TRY_VOID(kernel::tiles_of(program_, kernel::AxisId::from_index(a), launch.extents));
    }
    return {};
  }

  Result<Prepared> prepare(const Launch& launch) const {
    ORR_TRY_VOID(check(launch));
    ORR_TRY(const kernel::Geometry geometry, kernel::geometry(program_, launch.extents, slots_));
    Prepared ready;
    for (const emit::TensorMap& map : source_.maps) {
      ORR_TRY(const TensorMapBytes bytes,
              encode(driver(), program_, map, launch.tensors[map.tensor.index()], launch.extents));
      ready.maps.push_back(bytes);
    }
    ready.pointers.assign(launch.tensors.begin(), launch.tensors.end());
    ORR_TRY_VOID(add_arguments(launch, ready));
    ready.config.grid[0] = static_cast<uint32_t>(geometry.ctas);
    ready.config.block[0] = static_cast<uint32_t>(geometry.threads);
    ready.config.shared_bytes = static_cast<uint32_t>(geometry.shared_bytes);
    // The kernel waits for the one before it itself, so its set-up may overlap that one's end.
    LaunchAttribute overlap;
    overlap.id = kProgrammaticSerialization;
    overlap.value[0] = 1;
    ready.attributes.push_back(overlap);
    if (cluster() > 1) ready.attributes.push_back(cluster_attribute());
    ready.config.attributes = ready.attributes.data();
    ready.config.attribute_count = static_cast<uint32_t>(ready.attributes.size());
    return ready;
  }

  Result<void> add_arguments(const Launch& launch, Prepared& ready) const {
    ready.extents.reserve(source_.arguments.size());
    for (const emit::Argument& argument : source_.arguments) {
      switch (argument.kind) {
        case emit::ArgumentKind::TensorMap:
          ready.arguments.push_back(&ready.maps[argument.map]);
          break;
        case emit::ArgumentKind::Pointer:
          ready.arguments.push_back(&ready.pointers[argument.tensor.index()]);
          break;
        case emit::ArgumentKind::Extent: {
          const int64_t value = launch.extents.find(argument.symbol).value_or(0);
          if (value > std::numeric_limits<int32_t>::max()) {
            return make_error(ErrorCode::Unsupported,
                              "[runtime.cuda] extent '{}' of kernel '{}': got {}, need at most {}",
                              argument.symbol,
                              program_.name,
                              value,
                              std::numeric_limits<int32_t>::max());
          }
          ready.extents.push_back(static_cast<int32_t>(value));
          ready.arguments.push_back(&ready.extents.back());
          break;
        }
      }
    }
    return {};
  }

  Home home_;
  kernel::Program program_;
  emit::Source source_;
  KernelFacts facts_;
  ModuleHandle module_ = nullptr;
  FunctionHandle function_ = nullptr;
  int64_t slots_ = 0;
  std::map<std::vector<int64_t>, Prepared> prepared_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> load_kernel(Home home,
                                            const kernel::Program& program,
                                            emit::Source source,
                                            const Cubin& cubin) {
  auto kernel = std::make_unique<CudaKernel>(std::move(home), program, std::move(source), cubin);
  ORR_TRY_VOID(kernel->load(cubin));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace orrery::runtime::cuda
