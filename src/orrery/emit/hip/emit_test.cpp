// The HIP emitter: what it emits compiles, spills nothing, and has the counted instructions.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/hip/emit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "orrery/emit/hip/counts.h"
#include "orrery/kernel/code_counts.h"
#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"

namespace orrery::emit::hip {
namespace {

namespace fs = std::filesystem;
using kernel::Program;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  size_t count = 0;
  while ((count = fread(buffer, 1, sizeof(buffer), pipe)) > 0) text.append(buffer, count);
  pclose(pipe);
  return text;
}

class HipCode : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* tool : {"clang++-19", "llvm-objdump-19", "llvm-readelf-19"}) {
      if (output_of(fmt::format("command -v {}", tool)).empty()) {
        GTEST_SKIP() << "no " << tool << " on the PATH";
      }
    }
    folder_ = fs::temp_directory_path() / fmt::format("orrery_hip_{}", getpid());
    fs::create_directories(folder_);
  }

  void TearDown() override {
    if (!folder_.empty() && std::getenv("ORRERY_KEEP") == nullptr) fs::remove_all(folder_);
  }

  // Compiles and counts; the object's counts must be those of the profile, nothing may spill.
  void check(const Result<Program>& program) const {
    ASSERT_TRUE(program.ok()) << program.error().message;
    SCOPED_TRACE(program->name);
    const auto source = emit(*program);
    ASSERT_TRUE(source.ok()) << source.error().message;
    const std::string base = (folder_ / program->name).string();
    std::ofstream(base + ".hip") << source->code;
    const std::string command = fmt::format(
        "clang++-19 {} {}.hip -o {}.o 2>&1", fmt::join(source->options, " "), base, base);
    const std::string messages = output_of(command);
    ASSERT_TRUE(fs::exists(base + ".o")) << messages;
    EXPECT_EQ(messages, "");
    const auto counts = count_object(output_of("llvm-objdump-19 -d " + base + ".o"),
                                     output_of("llvm-readelf-19 --notes " + base + ".o"));
    ASSERT_TRUE(counts.ok()) << counts.error().message;
    const kernel::CodeCounts want = kernel::code_counts(*program);
    EXPECT_EQ(counts->code.matrix_instructions, want.matrix_instructions);
    EXPECT_EQ(counts->code.shared_loads, want.shared_loads);
    EXPECT_EQ(counts->code.shared_load_bytes, want.shared_load_bytes);
    EXPECT_EQ(counts->code.shared_stores, want.shared_stores);
    EXPECT_EQ(counts->code.shared_store_bytes, want.shared_store_bytes);
    EXPECT_EQ(counts->code.lane_exchanges, want.lane_exchanges);
    EXPECT_EQ(counts->code.shared_bytes, want.shared_bytes);
    EXPECT_EQ(counts->spilled_registers, 0);
    EXPECT_EQ(counts->scratch_bytes, 0);
    RecordProperty(program->name + "_vgprs", static_cast<int>(counts->vector_registers));
  }

  fs::path folder_;
};

kernel::GemmConfig gemm() {
  kernel::GemmConfig config;
  config.target = kernel::Target::Gfx942;
  config.tile_m = 128;
  config.tile_n = 128;
  config.tile_k = 32;
  config.ring = 2;
  config.warps = 4;
  config.column_warps = 2;
  return config;
}

kernel::DecodeConfig decode() {
  kernel::DecodeConfig config;
  config.target = kernel::Target::Gfx942;
  config.group = 16;
  config.tile_s = 32;
  config.ring = 2;
  return config;
}

kernel::AddRmsNormConfig norm() {
  kernel::AddRmsNormConfig config;
  config.target = kernel::Target::Gfx942;
  config.row_warps = 4;
  return config;
}

TEST_F(HipCode, GemmHasTheProfilesInstructions) {
  check(gemm_program(gemm()));
}

TEST_F(HipCode, GemmWithSmallInstructionsAndAnEpilogue) {
  kernel::GemmConfig config = gemm();
  config.tile_m = 64;
  config.instruction = {16, 16, 16};
  config.tile_k = 64;
  config.epilogue = kernel::linear_epilogue(
      {.bias = true, .activation = kernel::Activation::Gelu, .residual = true});
  check(gemm_program(config));
}

TEST_F(HipCode, GemmOfADividedWalkWithRowsThatStartAtEightBytes) {
  kernel::GemmConfig config = gemm();
  config.tile_m = 64;
  config.tile_n = 64;
  config.pad = 4;  // rows of 36 elements: reads of 8 bytes
  config.parts = 4;
  config.dtype = DType::F16;
  check(gemm_program(config));
  check(gemm_combine_program(config));
}

TEST_F(HipCode, GemmSwappedForFewRows) {
  kernel::GemmConfig config = gemm();
  config.swapped = true;
  config.tile_m = 32;
  config.column_warps = 1;
  config.ring = 3;
  check(gemm_program(config));
}

TEST_F(HipCode, DecodeAttentionHasTheProfilesInstructions) {
  check(decode_attention_program(decode()));
}

TEST_F(HipCode, DecodeAttentionOfADividedCache) {
  kernel::DecodeConfig config = decode();
  config.head_dim = 64;
  config.parts = 8;
  check(decode_attention_program(config));
  check(decode_combine_program(config));
}

TEST_F(HipCode, AddRmsNormHasTheProfilesInstructions) {
  check(add_rms_norm_program(norm()));
}

TEST_F(HipCode, AddRmsNormInEveryForm) {
  kernel::AddRmsNormConfig config = norm();
  config.row_warps = 1;
  config.rows = 4;
  check(add_rms_norm_program(config));
  config.row_warps = 2;
  config.rows = 1;
  config.aligned = false;
  check(add_rms_norm_program(config));
  config.row_warps = 8;
  config.aligned = true;
  config.looped = true;
  check(add_rms_norm_program(config));
}

TEST(HipEmit, RefusesWhatItCannotLowerNamingAll) {
  kernel::GemmConfig config;  // for sm_90a: producer stage, swizzled panels
  const auto source = emit(gemm_program(config).value());
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(source.error().message,
            "[emit.hip] kernel 'gemm_bf16_128x256x64_r4': no lowering for target sm_90a, need "
            "gfx942; 2 stages, need 1; buffer 'a' with panels or swizzle; buffer 'b' with panels "
            "or swizzle; buffer 'out' with panels or swizzle");
}

// What is emitted for one configuration of each family is kept, so that changes are seen in review;
// ORRERY_UPDATE_GOLDEN=1 rewrites the files.
void check_golden(const Result<Program>& program) {
  ASSERT_TRUE(program.ok()) << program.error().message;
  const std::string code = emit(*program).value().code;
  const fs::path path = fs::path("test/golden/emit") / (program->name + ".hip");
  if (std::getenv("ORRERY_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << code;
  }
  std::ifstream in(path);
  const std::string kept{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(code, kept) << path;
}

TEST(HipEmit, EmitsTheTextThatIsKept) {
  check_golden(gemm_program(gemm()));
  check_golden(decode_attention_program(decode()));
  check_golden(add_rms_norm_program(norm()));
}

}  // namespace
}  // namespace orrery::emit::hip
