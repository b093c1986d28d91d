// Emitted CPU code against the interpreter: the same bits, on random shapes of every family.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <filesystem>

#include "cases.h"
#include "execute.h"
#include "orrery/emit/cpu/emit.h"
#include "orrery/runtime/host/library.h"

namespace orrery::agreement {
namespace {

namespace fs = std::filesystem;
using interpret::HostTensor;

constexpr int kKernels = 3;  // compiling is what takes the time
constexpr int kShapes = 4;   // of each
constexpr unsigned kSeed = 7;

class CpuCode : public testing::Test {
 protected:
  void SetUp() override {
    const auto compiler = runtime::host::find_compiler();
    if (!compiler.ok()) GTEST_SKIP() << compiler.error().message;
    toolchain_.compiler = *compiler;
    toolchain_.cache = fs::temp_directory_path() / ("orrery_agreement_" + std::to_string(getpid()));
  }

  void TearDown() override {
    if (!toolchain_.cache.empty()) fs::remove_all(toolchain_.cache);
  }

  // Runs the compiled program on `tensors`.
  void run(const kernel::Program& program, Case& c, std::vector<HostTensor>& tensors) const {
    const auto source = emit::cpu::emit(program);
    ASSERT_TRUE(source.ok()) << source.error().message;
    const auto library = runtime::host::Library::build(*source, toolchain_);
    ASSERT_TRUE(library.ok()) << library.error().message;
    execute({program, *source, *library}, c.extents, tensors);
  }

  void check(Case c) const {
    SCOPED_TRACE(c.title);
    std::vector<HostTensor> compiled = c.tensors;
    for (const kernel::Program& program : c.kernels) {
      ASSERT_TRUE(interpret::run(program, c.extents, c.tensors).ok());
      run(program, c, compiled);
      if (HasFatalFailure()) return;
    }
    for (const HostTensor& want : c.tensors) {
      const HostTensor& got = find(compiled, want.name);
      for (size_t i = 0; i < want.values.size(); ++i) {
        const bool both_nan = std::isnan(want.values[i]) && std::isnan(got.values[i]);
        ASSERT_TRUE(both_nan || std::bit_cast<uint32_t>(want.values[i]) ==
                                    std::bit_cast<uint32_t>(got.values[i]))
            << want.name << " element " << i << ": interpreter " << want.values[i] << ", compiled "
            << got.values[i];
      }
    }
  }

  template <class Make>
  void check_all(Make make) const {
    std::mt19937 random(kSeed);
    for (int i = 0; i < kKernels * kShapes; ++i) {
      const int kernel = i / kShapes;
      std::mt19937 kernels(kSeed + static_cast<unsigned>(kernel));
      check(make(kernels, random, kernel));
      if (HasFatalFailure()) return;
    }
  }

  runtime::host::Toolchain toolchain_;
};

TEST_F(CpuCode, GemmHasTheInterpretersBits) {
  check_all(gemm_case);
}

TEST_F(CpuCode, AddRmsNormHasTheInterpretersBits) {
  check_all(add_rms_norm_case);
}

TEST_F(CpuCode, DecodeAttentionHasTheInterpretersBits) {
  check_all(decode_case);
}

}  // namespace
}  // namespace orrery::agreement
