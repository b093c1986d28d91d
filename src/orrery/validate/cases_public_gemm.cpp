// Rows of public gemm and bmm tables: products as their sources measured them.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/library/gemm_types.h"
#include "orrery/plan/timing.h"
#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

using library::QuantiseA;

/// What a framework runs for a type, and what it does before.
struct Path {
  std::string_view lib;
  std::string_view dtype;
  std::string_view kernel;  // part of the source's label; empty: whatever it says
  std::string_view backend;
  QuantiseA quantise = QuantiseA::None;
  double host_calls = 0;  // of the framework a product, where no graph replays them
};

// The sources' collectors and the frameworks' linear layers: TensorRT-LLM finds a scale of the
// whole tensor unless a checkpoint states one (Linear, fp8), SGLang quantises by token, vLLM with
// the checkpoint's static scale; block scales and nvfp4 are always quantised in the layer. vLLM's
// block layers run without a graph: calls of the framework a product, from the shortest rows.
constexpr std::array kPaths = {
    Path{"trtllm", "fp8", "", "", QuantiseA::Tensor},
    Path{"sglang", "fp8", "", "sglang", QuantiseA::Token},
    Path{"vllm", "fp8", "", "vllm", QuantiseA::Static},
    Path{"trtllm", "fp8_block", "", "trtllm", QuantiseA::Group128},
    Path{"sglang", "fp8_block", "", "deepgemm", QuantiseA::Group128},
    Path{"vllm", "fp8_block", "DeepGemm", "deepgemm", QuantiseA::Group128, 4.5},
    Path{"vllm", "fp8_block", "FlashInfer", "trtllm", QuantiseA::Group128, 3.2},
    Path{"vllm", "fp8_block", "Triton", "triton", QuantiseA::Group128, 16},
    Path{"vllm", "fp8_block", "", "trtllm", QuantiseA::Group128, 8.7},
    Path{"trtllm", "nvfp4", "", "trtllm", QuantiseA::Group16},
    Path{"sglang", "nvfp4", "", "sglang", QuantiseA::Group16},
    Path{"vllm", "nvfp4", "", "vllm", QuantiseA::Group16},
    Path{"trtllm", "int8_sq", "", "trtllm"},
    Path{"trtllm", "w4a16", "", "trtllm"},
    Path{"trtllm", "w8a16", "", "trtllm"},
};

const Path* path_of(const Fields& row) {
  const std::string_view kernel = row.text("kernel");
  const auto found = std::find_if(kPaths.begin(), kPaths.end(), [&](const Path& path) {
    return path.lib == row.text("lib") && path.dtype == row.text("dtype") &&
           kernel.find(path.kernel) != std::string_view::npos;
  });
  return found == kPaths.end() ? nullptr : &*found;
}

bool framework(std::string_view lib) {
  return lib == "trtllm" || lib == "sglang" || lib == "vllm";
}

/// Layouts as BLAS says them, of column-major operands: tn is a linear layer.
library::GemmLayout layout_of(std::string_view text) {
  return text.starts_with("nn") ? library::GemmLayout::NN : library::GemmLayout::NT;
}

/// "MT64x128x256" of a name that says so, or of composable_kernel's names as AITER has them,
/// "ck:a8w8_blockscale_1x128x128_256x64x128x256_16x16...": threads and tile are the four sizes.
/// Empty if it is neither.
std::string tile_name(std::string_view kernel) {
  if (kernel.starts_with("MT") || kernel.find("_MT") != std::string_view::npos) {
    return std::string(kernel);
  }
  if (kernel.find("a8w8_") == std::string_view::npos) {
    return "";
  }
  for (const std::string_view part : split(kernel, '_')) {
    const size_t threads = part.find('x');
    if (std::count(part.begin(), part.end(), 'x') == 3) {
      return "MT" + std::string(part.substr(threads + 1));
    }
  }
  return "";
}

Result<std::string> named_kernel(const Fields& row) {
  std::string name = tile_name(row.text("kernel"));
  if (name.empty()) {
    return make_error(ErrorCode::NotFound,
                      "[validate.gemm] given kernel: got '{}', need a name with a tile",
                      row.text("kernel"));
  }
  return name;
}

Result<library::GemmCall> call_of(const Fields& row,
                                  const Path* path,
                                  std::string_view architecture) {
  library::GemmCall call;
  ORR_TRY(call, library::with_types(call, row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.m, row.size("m"));
  ORR_TRY(call.n, row.size("n"));
  ORR_TRY(call.k, row.size("k"));
  call.layout = layout_of(row.text("layout"));
  if (path != nullptr && row.text("kernel").starts_with("mla_gen")) {
    // fp8 of latent attention's products is that of blocks, its tokens quantised before; for sm_100
    // TensorRT-LLM keeps the weights in bf16 as well and multiplies those (its MLA module)
    const bool widened = architecture.starts_with("sm_100");
    ORR_TRY(call, library::with_types(call, widened ? "bf16" : "fp8_block"));
    call.backend = widened ? "" : "trtllm";
    call.quantise = widened ? QuantiseA::None : QuantiseA::Group128;
  } else if (path != nullptr) {
    call.backend = path->backend;
    call.quantise = path->quantise;
  }
  return call;
}

/// Copies of the weights that the collector's loop rotates among: TensorRT-LLM's as many as exceed
/// L2, at most 5; the others' 6, but for vLLM's layers of block scales and nvfp4.
int64_t weight_copies(const Fields& row, const library::GemmCall& call, const Setup& setup) {
  const std::string_view lib = row.text("lib");
  if (row.text("kernel").starts_with("mla_gen")) {
    return 1;  // one product, replayed
  }
  if (lib == "trtllm") {
    const double cache = setup.estimator.machine().chip.l2.capacity.value();
    const double copies = std::ceil(cache / library::weight_bytes(call).value());
    return static_cast<int64_t>(std::clamp(copies, 1.0, 5.0));
  }
  const bool one = lib == "vllm" && call.quantisation != library::Quantisation::None;
  return one ? 1 : 6;
}

/// ai-dynamo/aiconfigurator's collectors: a CUDA graph of one product a copy, three replays, then
/// six that are timed together. SGLang's makes activations for every copy.
plan::Conditions framework_conditions(const Fields& row,
                                      const library::GemmCall& call,
                                      const Setup& setup) {
  const std::string_view lib = row.text("lib");
  plan::Conditions conditions = conditions_of(setup, {.sets = 1, .fresh = true});
  conditions.input_sets = weight_copies(row, call, setup);
  conditions.activation_sets = lib == "sglang" ? conditions.input_sets : 1;
  conditions.window = {.calls = conditions.input_sets, .warm_up = {}, .length = {}, .replays = 6};
  conditions.follows_other = call.quantise != QuantiseA::None;
  // vLLM's weights are memory as it was allocated, or one value.
  const bool constant = lib == "vllm" && call.quantisation == library::Quantisation::None;
  conditions.data_power = constant ? setup.estimator.machine().chip.clock.constant_power : 1;
  return conditions;
}

/// A graph of few products starts often. A sixth of a start is in the fixed costs of the kernels,
/// which are those of loops of six.
Duration graph_start(const plan::Conditions& conditions, const Setup& setup) {
  constexpr double kUsual = 6;
  const double calls = static_cast<double>(std::max<int64_t>(1, conditions.window.calls));
  return setup.estimator.machine().chip.launch.graph_start * std::max(0.0, 1 / calls - 1 / kUsual);
}

/// AITER's tuner times each kernel on operands from a rotated set of copies, and tritonBLAS says
/// where it does.
bool rotated(const Fields& row) {
  return row.text("lib").starts_with("aiter") || row.text("kernel") == "rotating_buffers";
}

/// Others time one product again and again; vidur's profiler names kernels inside whole layers,
/// whose weights come from memory.
plan::Conditions other_conditions(const Fields& row, const Setup& setup) {
  plan::Conditions conditions = conditions_of(setup, {.sets = 1, .fresh = true});
  conditions.window = {};
  if (rotated(row)) {
    conditions.weights = plan::CacheState::Cold;
    conditions.activations = plan::CacheState::Cold;
  }
  if (row.text("lib_version").starts_with("vidur")) {
    conditions.weights = plan::CacheState::Cold;
    conditions.kernel_only = true;
  }
  return conditions;
}

}  // namespace

std::string public_gemm_family(const Fields& row) {
  const auto batch = row.size("batch");
  const std::string_view operation = batch.ok() && *batch > 1 ? "bmm " : "gemm ";
  return std::string(operation) + std::string(row.text("dtype")) + " " +
         std::string(row.text("lib"));
}

Result<plan::Estimate> predict_public_gemm_row(const Fields& row, const Setup& setup) {
  const Path* path = path_of(row);
  ORR_TRY(library::GemmCall call, call_of(row, path, setup.estimator.machine().chip.architecture));
  if (setup.given_kernel) {
    ORR_TRY(call.kernel, named_kernel(row));
  }
  const plan::Conditions conditions = framework(row.text("lib"))
                                          ? framework_conditions(row, call, setup)
                                          : other_conditions(row, setup);
  ORR_TRY(plan::StepTime time, plan::time_call(call, conditions, setup.library, setup.estimator));
  plan::Estimate estimate = std::move(time.once);
  if (row.text("graph") == "1") {
    const Duration start = graph_start(conditions, setup);
    estimate.time += start;
    estimate.low += start;
    estimate.high += start;
  }
  if (path != nullptr && path->host_calls > 0) {
    const Duration host = setup.estimator.machine().chip.launch.host_launch * path->host_calls;
    if (host > estimate.time) {
      const double ratio = host / estimate.time;
      estimate.time = host;
      estimate.low = estimate.low * ratio;
      estimate.high = estimate.high * ratio;
      estimate.bound = plan::Bound::Launch;
    }
  }
  return estimate;
}

}  // namespace orrery::validate
