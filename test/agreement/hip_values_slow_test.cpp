// Emitted HIP code, run on an emulated work group, against formulas in binary64.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cases.h"
#include "execute.h"
#include "orrery/emit/hip/emit.h"
#include "orrery/kernel/geometry.h"

namespace orrery::agreement {
namespace {

namespace fs = std::filesystem;

constexpr int kKernels = 3;
constexpr int kShapes = 3;  // of each
constexpr unsigned kSeed = 11;
constexpr int kBlocks = 3;  // of persistent kernels: several units each

// The program with the promises that the sizes happen to keep, so that vectors are used too.
kernel::Program aligned(kernel::Program program, const kernel::Extents& extents) {
  for (kernel::Axis& axis : program.axes) {
    if (axis.extent.symbol.empty()) continue;
    const int64_t extent = extents.find(axis.extent.symbol).value();
    while (axis.multiple < 8 && extent % (2 * axis.multiple) == 0) axis.multiple *= 2;
  }
  return program;
}

class HipValues : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path compiler = "/usr/bin/clang++-19";
    if (!fs::exists(compiler)) GTEST_SKIP() << "no " << compiler;
    toolchain_.compiler = compiler;
    toolchain_.cache = fs::temp_directory_path() / fmt::format("orrery_hip_values_{}", getpid());
  }

  void TearDown() override {
    if (!toolchain_.cache.empty()) fs::remove_all(toolchain_.cache);
  }

  // The kernel's text behind the emulator in place of the prelude, and a function that launches it;
  // the number of work groups follows the arguments.
  static emit::Source emulated(const emit::Source& source, int64_t threads) {
    emit::Source result = source;
    std::ifstream in("test/agreement/wave_emulator.h");
    result.code.assign(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    result.code += "extern \"C\" " + source.code.substr(source.code.find("void " + source.entry));
    result.code += fmt::format(
        "template <class... T> static void start(void** a, void (*kernel)(T...)) {{\n"
        "  int i = 0;\n"
        "  const auto arguments = std::tuple<T...>{{*(T*)a[i++]...}};\n"
        "  wave_emulator::launch(*(int*)a[i], {}, [&] {{ std::apply(kernel, arguments); }});\n"
        "}}\n"
        "extern \"C\" void {}_packed(void** a) {{ start(a, {}); }}\n",
        threads,
        source.entry,
        source.entry);
    result.options = {"-std=c++20", "-O1", "-w", "-include", "tuple"};
    return result;
  }

  void run(const kernel::Program& program, Case& c) const {
    const auto source = emit::hip::emit(program);
    ASSERT_TRUE(source.ok()) << source.error().message;
    const kernel::Geometry geometry = kernel::geometry(program, c.extents, kBlocks).value();
    const emit::Source text = emulated(*source, geometry.threads);
    const auto library = runtime::host::Library::build(text, toolchain_);
    ASSERT_TRUE(library.ok()) << library.error().message;
    execute({program, text, *library}, c.extents, c.tensors, {static_cast<int32_t>(geometry.ctas)});
  }

  void check(Case c) const {
    SCOPED_TRACE(c.title);
    for (interpret::HostTensor& tensor : c.tensors) {  // what nobody writes is seen
      for (const Case::Expected& expected : c.expected) {
        if (tensor.name == expected.tensor) tensor.values.assign(tensor.values.size(), NAN);
      }
    }
    for (const kernel::Program& program : c.kernels) {
      run(aligned(program, c.extents), c);
      if (HasFatalFailure()) return;
    }
    for (const Case::Expected& expected : c.expected) {
      const std::vector<float>& got = find(c.tensors, expected.tensor).values;
      for (size_t i = 0; i < got.size(); ++i) {
        ASSERT_NEAR(got[i], expected.values[i], expected.tolerance[i])
            << expected.tensor << " element " << i;
      }
    }
  }

  template <class Make>
  void check_all(Make make) const {
    std::mt19937 random(kSeed);
    for (int i = 0; i < kKernels * kShapes; ++i) {
      std::mt19937 kernels(kSeed + static_cast<unsigned>(i / kShapes));
      check(make(kernels, random, 1));  // odd: gfx942
      if (HasFatalFailure()) return;
    }
  }

  runtime::host::Toolchain toolchain_;
};

TEST_F(HipValues, GemmIsTheProductWithItsEpilogue) {
  check_all(gemm_case);
}

TEST_F(HipValues, AddRmsNormIsItsFormula) {
  check_all(add_rms_norm_case);
}

TEST_F(HipValues, DecodeAttentionIsSoftmaxOfScoresTimesValues) {
  check_all(decode_case);
}

}  // namespace
}  // namespace orrery::agreement
