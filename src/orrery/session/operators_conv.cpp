// Convolutions on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

library::Call conv_call(ArgumentReader& reader) {
  library::ConvCall call;
  call.batch = reader.size("batch");
  call.c = reader.size("c");
  call.h = reader.size("h");
  call.w = reader.size("w");
  call.k = reader.size("k");
  call.r = reader.size("r");
  call.s = reader.size("s");
  call.stride = reader.size("stride");
  call.pad = reader.integer("pad", 0, 1 << 20);
  call.dilation = reader.size("dilation");
  call.groups = reader.size("groups");
  const std::string layout = reader.text("layout");
  reader.require(layout == "nchw" || layout == "nhwc",
                 fmt::format("layout: got '{}', need nchw or nhwc", layout));
  call.layout = layout == "nhwc" ? library::ImageLayout::Nhwc : library::ImageLayout::Nchw;
  call.dtype = reader.dtype();
  reader.elements("image", {call.batch, call.c, call.h, call.w});
  reader.elements("filters", {call.k, call.c, call.r, call.s});
  return call;
}

}  // namespace

std::vector<Operator> conv_operators() {
  return {{"conv",
           "2-D convolution of images by filters",
           {{"batch", "1", "images"},
            {"c", "", "channels of an image"},
            {"h", "", "its rows"},
            {"w", "h", "its columns"},
            {"k", "", "filters: channels of the result"},
            {"r", "1", "rows of a filter"},
            {"s", "r", "columns of a filter"},
            {"stride", "1", "pixels from one result to the next"},
            {"pad", "0", "rows and columns of zeros around the image"},
            {"dilation", "1", "pixels from one tap of a filter to the next"},
            {"groups", "1", "blocks of channels that do not mix; c: depthwise"},
            {"layout", "nchw", "nchw or nhwc (channels last)"},
            kDtypeKey},
           conv_call}};
}

}  // namespace orrery::session
