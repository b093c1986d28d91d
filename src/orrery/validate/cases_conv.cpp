// Rows of conv.csv: single convolutions in a measuring loop.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "orrery/validate/measuring_loop.h"

namespace orrery::validate {

namespace {

double outputs(int64_t size, const library::ConvCall& call, int64_t filter) {
  return number(std::max<int64_t>(0, size + 2 * call.pad - filter) / call.stride + 1);
}

Result<library::ImageLayout> parse_layout(std::string_view text) {
  if (text == "nchw") {
    return library::ImageLayout::Nchw;
  }
  if (text == "nhwc") {
    return library::ImageLayout::Nhwc;
  }
  return make_error(
      ErrorCode::InvalidInput, "[validate.conv] layout: got '{}', need nchw or nhwc", text);
}

}  // namespace

std::string conv_family(const Fields& row) {
  return "conv " + std::string(row.text("layout"));
}

Result<plan::Estimate> predict_conv_row(const Fields& row, const Setup& setup) {
  library::ConvCall call;
  ORR_TRY(call.dtype, parse_dtype(row.text("dtype")));
  ORR_TRY(call.batch, row.size("batch"));
  ORR_TRY(call.c, row.size("c"));
  ORR_TRY(call.h, row.size("h"));
  ORR_TRY(call.w, row.size("w"));
  ORR_TRY(call.k, row.size("k"));
  ORR_TRY(call.r, row.size("r"));
  ORR_TRY(call.s, row.size("s"));
  ORR_TRY(call.stride, row.size("stride"));
  ORR_TRY(call.pad, row.integer("pad", 0, int64_t{1} << 40));
  ORR_TRY(call.groups, row.size("groups"));
  ORR_TRY(call.layout, parse_layout(row.text("layout")));
  const double image = number(call.batch) * number(call.c) * number(call.h) * number(call.w);
  const double filters =
      number(call.k) * number(call.c) / number(call.groups) * number(call.r) * number(call.s);
  const double result = number(call.batch) * number(call.k) * outputs(call.h, call, call.r) *
                        outputs(call.w, call, call.s);
  const Bytes operands = (image + filters + result) * element_size(call.dtype);
  constexpr double kWindow = 20;  // ms
  return predict(call, setup, {input_sets(operands, 24), true, kWindow});
}

}  // namespace orrery::validate
