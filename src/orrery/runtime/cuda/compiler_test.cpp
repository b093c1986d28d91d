// Tests of compiling: emitted kernels become machine code without spills; the cache; what errors
// say.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/compiler.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "orrery/emit/cuda/emit.h"
#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"

// NVRTC's threads crash the tracer of LeakSanitizer at exit ("Tracer caught signal 11"); the other
// sanitizers stay on, and leaks are looked for in every other test binary.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming)
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}

namespace orrery::runtime::cuda {
namespace {

// Without NVRTC a test is skipped, aloud.
#define ORR_NEED_NVRTC(compiler)          \
  const auto compiler = Compiler::open(); \
  if (!compiler.ok()) GTEST_SKIP() << "needs NVRTC: " << compiler.error().to_string()

namespace fs = std::filesystem;

/// A folder of the test's own, removed with it.
class Folder {
 public:
  Folder() {
    std::random_device seed;
    path_ = fs::temp_directory_path() / fmt::format("orrery-compiler-test-{:x}", seed());
  }

  ~Folder() { fs::remove_all(path_); }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const fs::path& path() const { return path_; }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path_)) found.push_back(entry.path());
    return found;
  }

 private:
  fs::path path_;
};

emit::Source tiny(std::string body) {
  return {.code = "extern \"C\" __global__ void tiny(float* x) { " + std::move(body) + " }",
          .entry = "tiny",
          .maps = {},
          .arguments = {},
          .options = {"--gpu-architecture=sm_90a"}};
}

void expect_no_spills(const Compiler& compiler, const Result<kernel::Program>& program) {
  ASSERT_TRUE(program.ok()) << program.error().to_string();
  const auto source = emit::cuda::emit(*program);
  ASSERT_TRUE(source.ok()) << source.error().to_string();
  const auto cubin = compiler.compile(*source);
  ASSERT_TRUE(cubin.ok()) << cubin.error().to_string();
  EXPECT_EQ(cubin->resources.stack_bytes, 0) << program->name;
  EXPECT_GT(cubin->resources.registers, 8) << program->name;
}

TEST(Compiler, CompilesTheDefaultGemmWithoutSpills) {
  ORR_NEED_NVRTC(compiler);
  expect_no_spills(*compiler, kernel::gemm_program({}));
}

TEST(Compiler, CompilesASwappedGemmAndItsCombination) {
  ORR_NEED_NVRTC(compiler);
  const kernel::GemmConfig config{.tile_m = 16,
                                  .tile_n = 64,
                                  .tile_k = 128,
                                  .ring = 8,
                                  .swapped = true,
                                  .warps = 4,
                                  .parts = 4};
  expect_no_spills(*compiler, kernel::gemm_program(config));
  expect_no_spills(*compiler, kernel::gemm_combine_program(config));
}

TEST(Compiler, CompilesNormsHeldAndLooped) {
  ORR_NEED_NVRTC(compiler);
  expect_no_spills(*compiler, kernel::add_rms_norm_program({}));
  expect_no_spills(*compiler, kernel::add_rms_norm_program({.vectors = 4, .looped = true}));
}

TEST(Compiler, CompilesDecodeAttentionAndItsCombination) {
  ORR_NEED_NVRTC(compiler);
  expect_no_spills(*compiler, kernel::decode_attention_program({}));
  expect_no_spills(*compiler, kernel::decode_combine_program({.parts = 4}));
}

TEST(Compiler, SaysWhatTheCompilerSaid) {
  ORR_NEED_NVRTC(compiler);
  const auto cubin = compiler->compile(tiny("y = 1;"));
  ASSERT_FALSE(cubin.ok());
  EXPECT_EQ(cubin.error().code, ErrorCode::InvalidInput);
  EXPECT_NE(cubin.error().message.find("identifier \"y\" is undefined"), std::string::npos);
}

TEST(Compiler, CountsTheStackOfAnIndexedArray) {
  ORR_NEED_NVRTC(compiler);
  // A run-time index keeps 1024 floats out of registers: 4096 bytes.
  const auto cubin = compiler->compile(
      tiny("float a[1024], s = 1; for (int i = 0; i < 1024; ++i) a[i] = s = s * x[i] + 1;"
           "x[0] = a[(int)x[1]] + a[(int)x[2]];"));
  ASSERT_TRUE(cubin.ok());
  EXPECT_EQ(cubin->resources.stack_bytes, 4096);
}

TEST(Compiler, CachesByTextAndSurvivesADamagedFile) {
  ORR_NEED_NVRTC(probe);
  const Folder folder;
  const auto compiler = Compiler::open({.nvrtc = {}, .cache = folder.path()});
  const auto first = compiler->compile(tiny("x[0] = 1;"));
  ASSERT_TRUE(first.ok());
  ASSERT_EQ(folder.files().size(), 1U);
  // A planted file is what the cache answers with, so it is read.
  const auto other = probe->compile(tiny("x[0] = x[1] + x[2] * x[3];"));
  std::ofstream(folder.files()[0], std::ios::binary) << other->bytes;
  EXPECT_EQ(compiler->compile(tiny("x[0] = 1;"))->bytes, other->bytes);
  std::ofstream(folder.files()[0], std::ios::binary) << first->bytes.substr(0, 100);
  EXPECT_EQ(compiler->compile(tiny("x[0] = 1;"))->bytes, first->bytes);
}

TEST(Compiler, ReportsEveryPlaceItLookedIn) {
  const std::string nowhere = "/nowhere/libnvrtc.so";
  const auto compiler = Compiler::open({.nvrtc = {nowhere}, .cache = {}});
  if (compiler.ok()) GTEST_SKIP() << "NVRTC is installed at " << compiler->path();
  EXPECT_NE(compiler.error().message.find(nowhere), std::string::npos);
}

}  // namespace
}  // namespace orrery::runtime::cuda
