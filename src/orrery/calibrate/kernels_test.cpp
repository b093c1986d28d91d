// Tests of the kernels: every one compiles for the chips it says it runs on, without spills.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/calibrate/kernels.h"

#include <gtest/gtest.h>

#include "orrery/runtime/cuda/compiler.h"

// NVRTC's threads crash the tracer of LeakSanitizer at exit; see runtime/cuda/compiler_test.cpp.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace orrery::calibrate {
namespace {

void expect_compiles(int major, int minor, bool hopper) {
  const auto compiler = runtime::cuda::Compiler::open({.nvrtc = {}, .cache = {}});
  if (!compiler.ok()) GTEST_SKIP() << "needs NVRTC: " << compiler.error().to_string();
  for (const KernelText* text : all_kernels()) {
    if (text->hopper && !hopper) continue;
    emit::Source source;
    source.code = text->code;
    source.entry = text->name;
    source.options = {architecture_option(major, minor)};
    const auto cubin = compiler->compile(source);
    EXPECT_TRUE(cubin.ok()) << text->name << ": " << cubin.error().to_string();
    if (!cubin.ok()) continue;
    EXPECT_EQ(cubin->resources.stack_bytes, 0) << text->name;
    EXPECT_LE(cubin->resources.registers, 255) << text->name;
  }
}

TEST(Kernels, CompileForHopperWithoutSpills) {
  expect_compiles(9, 0, true);
}

TEST(Kernels, CompileForAmpereButForThoseOfHopper) {
  expect_compiles(8, 0, false);
}

TEST(Kernels, NamesAreThoseOfTheTexts) {
  for (const KernelText* text : all_kernels()) {
    EXPECT_NE(text->code.find(" " + text->name + "("), std::string::npos) << text->name;
    EXPECT_EQ(&kernel(text->name), text);
  }
}

TEST(Kernels, ArchitectureHasHoppersOwnInstructions) {
  EXPECT_EQ(architecture_option(9, 0), "--gpu-architecture=sm_90a");
  EXPECT_EQ(architecture_option(8, 9), "--gpu-architecture=sm_89");
}

}  // namespace
}  // namespace orrery::calibrate
