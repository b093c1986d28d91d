// Element types of tensors: the table of names and widths.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/dtype.h"

#include <array>

#include "orrery/base/check.h"

namespace orrery {
namespace {

struct Row {
  DType type;
  double bytes;
  std::string_view name;
};

constexpr std::array kRows = {
    Row{DType::F32, 4.0, "f32"},
    Row{DType::TF32, 4.0, "tf32"},
    Row{DType::F16, 2.0, "f16"},
    Row{DType::BF16, 2.0, "bf16"},
    Row{DType::F8E4M3, 1.0, "f8e4m3"},
    Row{DType::F8E5M2, 1.0, "f8e5m2"},
    Row{DType::F4E2M1, 0.5, "f4e2m1"},
    Row{DType::I64, 8.0, "i64"},
    Row{DType::I32, 4.0, "i32"},
    Row{DType::I8, 1.0, "i8"},
    Row{DType::I4, 0.5, "i4"},
    Row{DType::Bool, 1.0, "bool"},
};

struct Alias {
  std::string_view name;
  DType type;
};

constexpr std::array kAliases = {
    Alias{"float32", DType::F32},
    Alias{"fp32", DType::F32},
    Alias{"float", DType::F32},
    Alias{"fp16", DType::F16},
    Alias{"float16", DType::F16},
    Alias{"half", DType::F16},
    Alias{"bfloat16", DType::BF16},
    Alias{"fp8", DType::F8E4M3},
    Alias{"float8_e4m3fn", DType::F8E4M3},
    Alias{"float8_e5m2", DType::F8E5M2},
    Alias{"fp4", DType::F4E2M1},
    Alias{"int8", DType::I8},
    Alias{"int4", DType::I4},
    Alias{"int32", DType::I32},
    Alias{"int64", DType::I64},
};

const Row& row(DType type) {
  for (const Row& r : kRows) {
    if (r.type == type) return r;
  }
  ORR_UNREACHABLE();
}

}  // namespace

Bytes element_size(DType type) {
  return Bytes{row(type).bytes};
}

std::string_view name(DType type) {
  return row(type).name;
}

Result<DType> parse_dtype(std::string_view text) {
  for (const Row& r : kRows) {
    if (r.name == text) return r.type;
  }
  for (const Alias& a : kAliases) {
    if (a.name == text) return a.type;
  }
  return make_error(ErrorCode::InvalidInput,
                    "[base.dtype] unknown element type: got '{}', need one of f32 tf32 f16 bf16 "
                    "f8e4m3 f8e5m2 f4e2m1 i64 i32 i8 i4 bool",
                    text);
}

}  // namespace orrery
