// The CPU emitter: the text it emits for one configuration of each family, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cpu/emit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/kernel/family/decode_attention.h"
#include "orrery/kernel/family/gemm.h"

namespace orrery::emit::cpu {
namespace {

namespace fs = std::filesystem;
using kernel::Program;

kernel::AddRmsNormConfig norm() {
  kernel::AddRmsNormConfig config;
  config.target = kernel::Target::Gfx942;
  config.row_warps = 4;
  return config;
}

TEST(CpuEmit, NamesEveryTypeItCannotStore) {
  Program program = add_rms_norm_program(norm()).value();
  program.tensors[0].dtype = DType::F8E4M3;
  program.buffers[1].dtype = DType::I8;
  const auto source = emit(program);
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::Unsupported);
  EXPECT_NE(source.error().message.find("got tensor 'X' is f8e4m3, buffer 'r' is i8"),
            std::string::npos)
      << source.error().message;
}

TEST(CpuEmit, RunsUnitsInParallelWhenAsked) {
  const auto plain = emit(add_rms_norm_program(norm()).value()).value();
  const auto parallel = emit(add_rms_norm_program(norm()).value(), {.openmp = true}).value();
  EXPECT_EQ(plain.code.find("#pragma omp"), std::string::npos);
  EXPECT_NE(parallel.code.find("#pragma omp parallel for collapse(1)"), std::string::npos);
  EXPECT_EQ(parallel.options.back(), "-fopenmp");
}

// ORRERY_UPDATE_GOLDEN=1 rewrites the files.
void check_golden(const Result<Program>& program) {
  ASSERT_TRUE(program.ok()) << program.error().message;
  const std::string code = emit(*program).value().code;
  const fs::path path = fs::path("test/golden/emit") / (program->name + ".cpp");
  if (std::getenv("ORRERY_UPDATE_GOLDEN") != nullptr) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << code;
  }
  std::ifstream in(path);
  const std::string kept{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  EXPECT_EQ(code, kept) << path;
}

TEST(CpuEmit, EmitsTheTextThatIsKept) {
  kernel::DecodeConfig decode;
  decode.target = kernel::Target::Gfx942;
  decode.group = 16;
  decode.tile_s = 32;
  decode.ring = 2;
  decode.parts = 4;
  check_golden(kernel::gemm_program({}));
  check_golden(decode_attention_program(decode));
  check_golden(add_rms_norm_program(norm()));
}

}  // namespace
}  // namespace orrery::emit::cpu
