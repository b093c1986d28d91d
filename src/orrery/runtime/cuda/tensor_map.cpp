// Encoding tensor copy descriptors: see tensor_map.h.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/runtime/cuda/tensor_map.h"

#include <vector>

#include "orrery/base/check.h"
#include "orrery/kernel/geometry.h"

namespace orrery::runtime::cuda {
namespace {

// Values of the driver's enumerations (cuda.h 13.0).
constexpr int kFloat16 = 6;
constexpr int kFloat32 = 7;
constexpr int kBfloat16 = 9;
constexpr int kPromote128 = 2;
constexpr uint64_t kAlignment = 16;

int type_of(DType dtype) {
  if (dtype == DType::F32) return kFloat32;
  ORR_CHECK(dtype == DType::BF16 || dtype == DType::F16) << "no tensor map of " << name(dtype);
  return dtype == DType::BF16 ? kBfloat16 : kFloat16;
}

int swizzle_of(int64_t bytes) {
  ORR_CHECK(bytes == 0 || bytes == 32 || bytes == 64 || bytes == 128) << "swizzle " << bytes;
  return bytes == 0 ? 0 : bytes == 32 ? 1 : bytes == 64 ? 2 : 3;
}

}  // namespace

Result<TensorMapBytes> encode(const Driver& driver,
                              const kernel::Program& program,
                              const emit::TensorMap& map,
                              void* address,
                              const kernel::Extents& extents) {
  const kernel::Tensor& tensor = program[map.tensor];
  const size_t rank = tensor.axes.size();
  // The driver lists dimensions innermost first, and strides from the second dimension on.
  std::vector<uint64_t> sizes(rank);
  std::vector<uint64_t> strides(rank);
  std::vector<uint32_t> box(rank);
  const std::vector<uint32_t> steps(rank, 1);
  auto stride = static_cast<uint64_t>(element_size(tensor.dtype).value());
  for (size_t i = 0; i < rank; ++i) {
    const size_t axis = rank - 1 - i;
    ORR_TRY(const int64_t extent, kernel::extent_of(program, tensor.axes[axis], extents));
    sizes[i] = static_cast<uint64_t>(extent);
    box[i] = static_cast<uint32_t>(map.box[axis]);
    stride *= sizes[i];
    strides[i] = stride;
    if (i + 1 < rank && stride % kAlignment != 0) {
      return make_error(ErrorCode::InvalidInput,
                        "[runtime.cuda] rows of tensor '{}' do not suit tensor copies: got {} "
                        "bytes, need a multiple of {}",
                        tensor.name,
                        stride,
                        kAlignment);
    }
  }
  TensorMapBytes bytes;
  const int code = driver.encode_tiled(&bytes,
                                       type_of(tensor.dtype),
                                       static_cast<uint32_t>(rank),
                                       address,
                                       sizes.data(),
                                       strides.data(),
                                       box.data(),
                                       steps.data(),
                                       0,
                                       swizzle_of(map.swizzle),
                                       kPromote128,
                                       0);
  if (auto done = driver.check(code, "cuTensorMapEncodeTiled"); !done.ok()) {
    return done.error().with_note(fmt::format("for tensor '{}'", tensor.name));
  }
  return bytes;
}

}  // namespace orrery::runtime::cuda
