// Tests of reading cubins: anything but a cubin is refused, wherever it breaks off.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/cubin.h"

#include <gtest/gtest.h>

#include "orrery/runtime/cuda/compiler.h"

namespace orrery::runtime::cuda {
namespace {

TEST(Cubin, RefusesWhatIsNoElfFile) {
  const auto resources = read_resources("not a cubin", "f");
  ASSERT_FALSE(resources.ok());
  EXPECT_EQ(resources.error().message,
            "[runtime.cubin] not a cubin: got no ELF header, need an ELF file with .nv.info");
}

TEST(Cubin, SurvivesEveryTruncation) {
  const auto compiler = Compiler::open();
  if (!compiler.ok()) GTEST_SKIP() << "needs NVRTC: " << compiler.error().to_string();
  const auto cubin =
      compiler->compile({.code = "extern \"C\" __global__ void f(float* x) { x[0] = 1; }",
                         .entry = "f",
                         .maps = {},
                         .arguments = {},
                         .options = {"--gpu-architecture=sm_90a"}});
  ASSERT_TRUE(cubin.ok());
  EXPECT_FALSE(read_resources(cubin->bytes, "g").ok());
  for (size_t size = 0; size < cubin->bytes.size(); size += 7) {
    // Either an error or the right answer (what is cut off may not matter), never a crash.
    const auto cut = read_resources(std::string_view(cubin->bytes).substr(0, size), "f");
    if (cut.ok()) {
      EXPECT_EQ(*cut, cubin->resources);
    }
  }
}

}  // namespace
}  // namespace orrery::runtime::cuda
