// Tests of the device without a GPU.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/null/device.h"

#include <gtest/gtest.h>

#include "orrery/kernel/family/add_rms_norm.h"
#include "orrery/runtime/cuda/compiler.h"

namespace orrery::runtime::null {
namespace {

TEST(NullDevice, CompilesButRefusesToLaunch) {
  const auto compiler = cuda::Compiler::open();
  if (!compiler.ok()) GTEST_SKIP() << "needs NVRTC: " << compiler.error().to_string();
  const auto device = open(*compiler);
  EXPECT_FALSE(device->runs());
  const auto program = kernel::add_rms_norm_program({.row_warps = 1, .vectors = 1});
  const auto kernel = device->load(*program);
  ASSERT_TRUE(kernel.ok()) << kernel.error().to_string();
  EXPECT_GT((*kernel)->facts().registers, 0);
  const kernel::Extents extents;
  const auto launched = (*kernel)->launch({.tensors = {}, .extents = extents});
  ASSERT_FALSE(launched.ok());
  EXPECT_EQ(launched.error().code, ErrorCode::Unsupported);
  EXPECT_EQ(launched.error().message,
            "[runtime.null] kernel '" + program->name +
                "' was compiled but cannot run: got no GPU, need one with its driver "
                "(libcuda.so.1)");
}

}  // namespace
}  // namespace orrery::runtime::null
