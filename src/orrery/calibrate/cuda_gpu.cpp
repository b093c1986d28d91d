// An NVIDIA GPU for benchmarks: memory, events and graphs beside what runtime/cuda launches with.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "orrery/calibrate/gpu.h"
#include "orrery/calibrate/sensors.h"
#include "orrery/runtime/cuda/compiler.h"
#include "orrery/runtime/cuda/driver.h"

namespace orrery::calibrate {
namespace {

namespace cuda = runtime::cuda;

// CUdevice_attribute and CUfunction_attribute (cuda.h 13.0).
constexpr int kClockRate = 13;
constexpr int kMultiprocessors = 16;
constexpr int kL2Bytes = 38;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kMaxDynamicShared = 8;
constexpr int kNotReady = 600;             // CUDA_ERROR_NOT_READY
constexpr int kUnsharedShared = 32 << 10;  // a block may take this, and static memory, unasked

using Address = uint64_t;
using Event = void*;
using Graph = void*;

/// What the driver offers beyond launching.
struct Calls {
  int (*allocate)(Address*, size_t) = nullptr;
  int (*release)(Address) = nullptr;
  int (*read)(void*, Address, size_t) = nullptr;
  int (*total)(size_t*, cuda::DeviceHandle) = nullptr;
  int (*stream_create)(cuda::StreamHandle*, unsigned) = nullptr;
  int (*stream_wait)(cuda::StreamHandle) = nullptr;
  int (*stream_query)(cuda::StreamHandle) = nullptr;
  int (*bus_id)(char*, int size, cuda::DeviceHandle) = nullptr;
  int (*event_create)(Event*, unsigned) = nullptr;
  int (*event_record)(Event, cuda::StreamHandle) = nullptr;
  int (*event_elapsed)(float*, Event, Event) = nullptr;
  int (*capture_begin)(cuda::StreamHandle, int mode) = nullptr;
  int (*capture_end)(cuda::StreamHandle, Graph*) = nullptr;
  int (*instantiate)(Graph*, Graph, unsigned long long) = nullptr;
  int (*graph_launch)(Graph, cuda::StreamHandle) = nullptr;
  int (*graph_release)(Graph) = nullptr;
  int (*executable_release)(Graph) = nullptr;

  Result<void> bind(const cuda::DynamicLibrary& from) {
    ORR_TRY_VOID(from.bind(allocate, "cuMemAlloc_v2"));
    ORR_TRY_VOID(from.bind(release, "cuMemFree_v2"));
    ORR_TRY_VOID(from.bind(read, "cuMemcpyDtoH_v2"));
    ORR_TRY_VOID(from.bind(total, "cuDeviceTotalMem_v2"));
    ORR_TRY_VOID(from.bind(stream_create, "cuStreamCreate"));
    ORR_TRY_VOID(from.bind(stream_wait, "cuStreamSynchronize"));
    ORR_TRY_VOID(from.bind(stream_query, "cuStreamQuery"));
    ORR_TRY_VOID(from.bind(bus_id, "cuDeviceGetPCIBusId"));
    ORR_TRY_VOID(from.bind(event_create, "cuEventCreate"));
    ORR_TRY_VOID(from.bind(event_record, "cuEventRecord"));
    ORR_TRY_VOID(from.bind(event_elapsed, "cuEventElapsedTime"));
    ORR_TRY_VOID(from.bind(capture_begin, "cuStreamBeginCapture_v2"));
    ORR_TRY_VOID(from.bind(capture_end, "cuStreamEndCapture"));
    ORR_TRY_VOID(from.bind(instantiate, "cuGraphInstantiateWithFlags"));
    ORR_TRY_VOID(from.bind(graph_launch, "cuGraphLaunch"));
    ORR_TRY_VOID(from.bind(graph_release, "cuGraphDestroy"));
    return from.bind(executable_release, "cuGraphExecDestroy");
  }
};

class CudaGpu final : public Gpu {
 public:
  CudaGpu(std::shared_ptr<const cuda::Driver> driver, cuda::Compiler compiler)
      : driver_(std::move(driver)), compiler_(std::move(compiler)) {}

  ~CudaGpu() override {
    for (const auto& [name, loaded] : loaded_) driver_->module_unload(loaded.module);
    if (data_ != 0) calls_.release(data_);
    if (out_ != 0) calls_.release(out_);
    if (context_ != nullptr) driver_->release_context(device_);
  }

  Result<void> prepare() {
    ORR_TRY_VOID(calls_.bind(driver_->library));
    ORR_TRY_VOID(check(driver_->device_get(&device_, 0), "cuDeviceGet"));
    ORR_TRY_VOID(read_facts());
    ORR_TRY_VOID(check(driver_->retain_context(&context_, device_), "cuDevicePrimaryCtxRetain"));
    ORR_TRY_VOID(check(driver_->set_context(context_), "cuCtxSetCurrent"));
    ORR_TRY_VOID(check(calls_.allocate(&data_, kDataBytes), "cuMemAlloc"));
    ORR_TRY_VOID(check(calls_.allocate(&out_, kOutputWords * sizeof(uint64_t)), "cuMemAlloc"));
    ORR_TRY_VOID(check(calls_.stream_create(&stream_, 1), "cuStreamCreate"));
    ORR_TRY_VOID(check(calls_.event_create(&begin_, 0), "cuEventCreate"));
    ORR_TRY_VOID(check(calls_.event_create(&end_, 0), "cuEventCreate"));
    std::array<char, 32> bus{};
    if (calls_.bus_id(bus.data(), static_cast<int>(bus.size()), device_) == 0) {
      sensors_ = Sensors::open(bus.data());
    }
    return {};
  }

  const GpuFacts& facts() const override { return facts_; }

  Result<double> time(std::span<const Work> works, int repeats, How how) override {
    for (const Work& work : works) {
      ORR_TRY_VOID(function(work));  // compiled outside the clock
    }
    return how == How::Graph ? time_graph(works, repeats) : time_stream(works, repeats);
  }

  Result<std::vector<Reading>> watch(std::span<const Work> works) override {
    for (const Work& work : works) {
      ORR_TRY_VOID(function(work));
    }
    const auto start = std::chrono::steady_clock::now();
    ORR_TRY_VOID(queue_all(works));
    std::vector<Reading> readings;
    while (calls_.stream_query(stream_) == kNotReady) {
      idle(5);
      if (std::optional<Reading> reading = sensors_ ? sensors_->read() : std::nullopt) {
        const std::chrono::duration<double> since = std::chrono::steady_clock::now() - start;
        reading->seconds = since.count();
        readings.push_back(*reading);
      }
    }
    ORR_TRY_VOID(check(calls_.stream_wait(stream_), "cuStreamSynchronize"));
    return readings;
  }

  Result<std::vector<uint64_t>> output(size_t words) override {
    std::vector<uint64_t> values(words);
    ORR_TRY_VOID(check(calls_.read(values.data(), out_, words * sizeof(uint64_t)), "cuMemcpyDtoH"));
    return values;
  }

  void idle(int milliseconds) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  }

 private:
  struct Loaded {
    cuda::ModuleHandle module = nullptr;
    cuda::FunctionHandle function = nullptr;
  };

  Result<void> check(int code, const char* call) const { return driver_->check(code, call); }

  Result<int> attribute(int which) const {
    int value = 0;
    ORR_TRY_VOID(check(driver_->device_attribute(&value, which, device_), "cuDeviceGetAttribute"));
    return value;
  }

  Result<void> read_facts() {
    std::array<char, 256> text{};
    ORR_TRY_VOID(check(driver_->device_name(text.data(), static_cast<int>(text.size()), device_),
                       "cuDeviceGetName"));
    facts_.name = text.data();
    ORR_TRY(facts_.major, attribute(kCapabilityMajor));
    ORR_TRY(facts_.minor, attribute(kCapabilityMinor));
    ORR_TRY(facts_.sms, attribute(kMultiprocessors));
    ORR_TRY(facts_.l2_bytes, attribute(kL2Bytes));
    ORR_TRY(facts_.clock_khz, attribute(kClockRate));
    size_t bytes = 0;
    ORR_TRY_VOID(check(calls_.total(&bytes, device_), "cuDeviceTotalMem"));
    facts_.memory_bytes = static_cast<int64_t>(bytes);
    return {};
  }

  Result<cuda::FunctionHandle> function(const Work& work) {
    Loaded& loaded = loaded_[work.kernel->name];
    if (loaded.function == nullptr) {
      emit::Source source;
      source.code = work.kernel->code;
      source.entry = work.kernel->name;
      source.options = {architecture_option(facts_.major, facts_.minor)};
      ORR_TRY(const cuda::Cubin cubin, compiler_.compile(source));
      ORR_TRY_VOID(
          check(driver_->module_load(&loaded.module, cubin.bytes.data()), "cuModuleLoadData"));
      ORR_TRY_VOID(check(
          driver_->module_function(&loaded.function, loaded.module, work.kernel->name.c_str()),
          "cuModuleGetFunction"));
    }
    if (work.shared > kUnsharedShared) {
      ORR_TRY_VOID(check(
          driver_->function_set(loaded.function, kMaxDynamicShared, static_cast<int>(work.shared)),
          "cuFuncSetAttribute"));
    }
    return loaded.function;
  }

  Result<void> queue(const Work& work) {
    ORR_TRY(const cuda::FunctionHandle entry, function(work));
    std::array<cuda::LaunchAttribute, 2> attributes;
    cuda::LaunchConfig config;
    config.grid[0] = static_cast<uint32_t>(work.grid);
    config.block[0] = static_cast<uint32_t>(work.block);
    config.shared_bytes = static_cast<uint32_t>(work.shared);
    config.stream = stream_;
    config.attributes = attributes.data();
    if (work.cluster > 1) {
      cuda::LaunchAttribute& cluster = attributes[config.attribute_count++];
      cluster.id = cuda::kClusterDimension;
      cluster.value[0] = static_cast<uint32_t>(work.cluster);
      cluster.value[1] = cluster.value[2] = 1;
    }
    if (work.programmatic) {
      cuda::LaunchAttribute& early = attributes[config.attribute_count++];
      early.id = cuda::kProgrammaticSerialization;
      early.value[0] = 1;
    }
    int64_t numbers[] = {work.a, work.b, work.c};
    void* arguments[] = {&data_, &out_, &numbers[0], &numbers[1], &numbers[2]};
    return check(driver_->launch(&config, entry, arguments, nullptr), "cuLaunchKernelEx");
  }

  Result<void> queue_all(std::span<const Work> works) {
    for (const Work& work : works) {
      ORR_TRY_VOID(queue(work));
    }
    return {};
  }

  template <class Queue>
  Result<double> between_events(int repeats, Queue&& once) {
    ORR_TRY_VOID(check(calls_.event_record(begin_, stream_), "cuEventRecord"));
    for (int i = 0; i < repeats; ++i) {
      ORR_TRY_VOID(once());
    }
    ORR_TRY_VOID(check(calls_.event_record(end_, stream_), "cuEventRecord"));
    ORR_TRY_VOID(check(calls_.stream_wait(stream_), "cuStreamSynchronize"));
    float milliseconds = 0;
    ORR_TRY_VOID(check(calls_.event_elapsed(&milliseconds, begin_, end_), "cuEventElapsedTime"));
    return static_cast<double>(milliseconds) * 1e-3 / repeats;
  }

  Result<double> time_stream(std::span<const Work> works, int repeats) {
    return between_events(repeats, [&] { return queue_all(works); });
  }

  Result<double> time_graph(std::span<const Work> works, int repeats) {
    constexpr int kThreadLocal = 1;
    Graph graph = nullptr;
    Graph ready = nullptr;
    ORR_TRY_VOID(check(calls_.capture_begin(stream_, kThreadLocal), "cuStreamBeginCapture"));
    const Result<void> queued = queue_all(works);
    ORR_TRY_VOID(check(calls_.capture_end(stream_, &graph), "cuStreamEndCapture"));
    ORR_TRY_VOID(queued);
    ORR_TRY_VOID(check(calls_.instantiate(&ready, graph, 0), "cuGraphInstantiate"));
    const auto once = [&] { return check(calls_.graph_launch(ready, stream_), "cuGraphLaunch"); };
    Result<double> seconds = between_events(1, once);  // warm-up
    if (seconds.ok()) seconds = between_events(repeats, once);
    calls_.executable_release(ready);
    calls_.graph_release(graph);
    return seconds;
  }

  std::shared_ptr<const cuda::Driver> driver_;
  cuda::Compiler compiler_;
  Calls calls_;
  GpuFacts facts_;
  std::unique_ptr<const Sensors> sensors_;
  cuda::DeviceHandle device_ = 0;
  cuda::ContextHandle context_ = nullptr;
  cuda::StreamHandle stream_ = nullptr;
  Event begin_ = nullptr;
  Event end_ = nullptr;
  Address data_ = 0;
  Address out_ = 0;
  std::map<std::string, Loaded> loaded_;
};

}  // namespace

std::string architecture_option(int major, int minor) {
  const std::string number = std::to_string(major) + std::to_string(minor);
  return "--gpu-architecture=sm_" + number + (major == 9 ? "a" : "");
}

namespace {

Result<std::unique_ptr<Gpu>> open_first() {
  ORR_TRY(std::shared_ptr<const cuda::Driver> driver, cuda::Driver::open());
  ORR_TRY(cuda::Compiler compiler, cuda::Compiler::open({.nvrtc = {}, .cache = {}}));
  auto gpu = std::make_unique<CudaGpu>(std::move(driver), std::move(compiler));
  ORR_TRY_VOID(gpu->prepare());
  return std::unique_ptr<Gpu>(std::move(gpu));
}

}  // namespace

Result<std::unique_ptr<Gpu>> open_gpu() {
  Result<std::unique_ptr<Gpu>> gpu = open_first();
  if (gpu.ok()) return gpu;
  return make_error(gpu.error().code,
                    "[calibrate.gpu] no GPU to measure: got none, need an NVIDIA GPU with its "
                    "driver, and NVRTC of the CUDA toolkit")
      .with_note(gpu.error().to_string());
}

}  // namespace orrery::calibrate
