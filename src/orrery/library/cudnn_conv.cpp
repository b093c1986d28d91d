// Convolution: reading of the library file, and which kernels a call takes, in order.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/cudnn_conv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include "orrery/library/cudnn_conv_internal.h"

namespace orrery::library {
namespace conv {

kernel::Profile named(std::string name, double error) {
  kernel::Profile profile;
  profile.kernel = std::move(name);
  profile.family = "conv";
  profile.behaviour.relative_error = error;
  return profile;
}

namespace {

using kernel::Profile;
using machine::NumberFile;
using machine::Unit;

// "128x128x64 2": pixels x filters x channels, and the tile's count.
bool parse_tile(std::string_view text, Tile& tile) {
  const auto take = [&text](int64_t& number, char after) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const auto used = static_cast<size_t>(end - text.data());
    const bool last = after == '\0';
    if (error != std::errc() || number <= 0 || number > 4096 ||
        (last ? used != text.size() : used >= text.size() || text[used] != after)) {
      return false;
    }
    text.remove_prefix(last ? used : used + 1);
    return true;
  };
  tile.name = text.substr(0, text.find(' '));
  return take(tile.m, 'x') && take(tile.n, 'x') && take(tile.k, ' ') && take(tile.count, '\0');
}

std::vector<Tile> read_tiles(NumberFile& file, std::string_view key) {
  std::vector<Tile> tiles;
  for (const std::string& text : file.list(key)) {
    Tile tile;
    if (parse_tile(text, tile)) {
      tiles.push_back(std::move(tile));
    } else {
      file.complain(key, "got '" + text + "', need one like '128x128x64 1'");
    }
  }
  return tiles;
}

WgmmaTable read_wgmma(NumberFile& file) {
  return {.half = read_tiles(file, "conv.wgmma.tiles_16bit"),
          .tf32 = read_tiles(file, "conv.wgmma.tiles_tf32"),
          .fixed = duration(file, "conv.wgmma.fixed"),
          .tensor_share = file.number("conv.wgmma.tensor_share", Unit::One),
          .step_floor = cycles(file, "conv.wgmma.step_floor"),
          .tf32_row = cycles(file, "conv.wgmma.tf32_row"),
          .partial_rate = file.number("conv.wgmma.partial_rate", Unit::BytesPerCycle),
          .tile = cycles(file, "conv.wgmma.tile"),
          .epilogue = one(file, "conv.wgmma.epilogue"),
          .segment_fixed = duration(file, "conv.wgmma.segment_fixed")};
}

MmaTable read_mma(NumberFile& file) {
  return {.half = read_tiles(file, "conv.mma.tiles_16bit"),
          .tf32 = read_tiles(file, "conv.mma.tiles_tf32"),
          .fixed = duration(file, "conv.mma.fixed"),
          .tensor_share = file.number("conv.mma.tensor_share", Unit::One),
          .step_floor = cycles(file, "conv.mma.step_floor"),
          .step = cycles(file, "conv.mma.step"),
          .tile = cycles(file, "conv.mma.tile"),
          .epilogue = one(file, "conv.mma.epilogue"),
          .unaligned = cycles(file, "conv.mma.unaligned")};
}

DepthwiseTable read_depthwise(NumberFile& file) {
  return {.native_error = file.number("conv.depthwise.native_error", Unit::One),
          .error = error_of(file, "conv.depthwise"),
          .native_output = one(file, "conv.depthwise.native_output"),
          .native_tap = one(file, "conv.depthwise.native_tap"),
          .native_chain = cycles(file, "conv.depthwise.native_chain"),
          .plain_tap = cycles(file, "conv.depthwise.plain_tap"),
          .plain_chain_half = cycles(file, "conv.depthwise.plain_chain_half"),
          .plain_chain_single = cycles(file, "conv.depthwise.plain_chain_single"),
          .special_output = cycles(file, "conv.depthwise.special_output"),
          .special_tap = cycles(file, "conv.depthwise.special_tap"),
          .special_chain = cycles(file, "conv.depthwise.special_chain"),
          .special_chain_tap = cycles(file, "conv.depthwise.special_chain_tap"),
          .tiled_output = one(file, "conv.depthwise.tiled_output"),
          .tiled_tap = one(file, "conv.depthwise.tiled_tap")};
}

LayoutTable read_layout(NumberFile& file) {
  return {.error = error_of(file, "conv.layout"),
          .to_channels_last = one(file, "conv.layout.to_channels_last"),
          .to_channels_first = one(file, "conv.layout.to_channels_first"),
          .block_chain = cycles(file, "conv.layout.block_chain"),
          .pad = one(file, "conv.layout.pad"),
          .transform = one(file, "conv.layout.transform"),
          .transform_chain = cycles(file, "conv.layout.transform_chain")};
}

Result<Problem> problem_of(const ConvCall& call, const Table& table, const machine::Chip& chip) {
  Problem problem{.call = call, .table = table, .chip = chip};
  problem.half = call.dtype == DType::BF16 || call.dtype == DType::F16;
  if (!problem.half && call.dtype != DType::F32 && call.dtype != DType::TF32) {
    return make_error(ErrorCode::Unsupported,
                      "[library.conv] element type: got {}, need bf16, fp16 or fp32",
                      name(call.dtype));
  }
  if (!chip.core.tensor.contains(problem.half ? call.dtype : DType::TF32)) {
    return make_error(ErrorCode::Unsupported,
                      "[library.conv] {} has no matrix rate for {}",
                      chip.id,
                      name(call.dtype));
  }
  const auto extent = [&call](int64_t size, int64_t filter) {
    const int64_t reach = call.dilation * (filter - 1) + 1;
    return size + 2 * call.pad < reach ? 0 : (size + 2 * call.pad - reach) / call.stride + 1;
  };
  problem.p = extent(call.h, call.r);
  problem.q = extent(call.w, call.s);
  if (problem.p <= 0 || problem.q <= 0 || call.c % call.groups != 0 || call.k % call.groups != 0) {
    return make_error(
        ErrorCode::InvalidInput,
        "[library.conv] shape: got image {} x {} with pad {}, filter {} x {} of dilation {}, c {}, "
        "k "
        "{}, groups {}, need a filter no larger than the padded image and groups that "
        "divide c and k",
        call.h,
        call.w,
        call.pad,
        call.r,
        call.s,
        call.dilation,
        call.c,
        call.k,
        call.groups);
  }
  problem.c = call.c / call.groups;
  problem.k = call.k / call.groups;
  problem.element = problem.half ? 2 : 4;
  return problem;
}

// `before`, each kernel of `kernels`, `after`: one candidate a kernel.
Candidates around(const Sequence& before, std::vector<Profile> kernels, const Sequence& after) {
  Candidates candidates;
  candidates.reserve(kernels.size());
  for (Profile& kernel : kernels) {
    Sequence sequence;
    sequence.reserve(before.size() + 1 + after.size());
    sequence.insert(sequence.end(), before.begin(), before.end());
    sequence.push_back(std::move(kernel));
    sequence.insert(sequence.end(), after.begin(), after.end());
    candidates.push_back(std::move(sequence));
  }
  return candidates;
}

int64_t padded(int64_t channels, int64_t piece) {
  return ceil_div(channels, piece) * piece;
}

// Image and filters in rows of whole pieces with channels last, and the result back: what the
// tensor kernels need around them.
struct Conversion {
  Sequence before;
  Sequence after;
};

Conversion conversion_of(const Problem& problem) {
  const ConvCall& call = problem.call;
  const int64_t piece = problem.piece();
  const int64_t images = call.h * call.w;
  const bool thin = problem.c % piece != 0;
  const double written = product(call.batch, images, padded(call.c, piece));
  const double filters = product(call.k, problem.taps(), padded(problem.c, piece));
  Conversion conversion;
  auto& before = conversion.before;
  if (thin) {
    before.push_back(clear(problem, written * problem.element));
  }
  if (problem.channels_last()) {
    if (thin) {
      before.push_back(pad_rows(problem, product(call.batch, images, call.c), written));
      before.push_back(pad_rows(problem, product(call.k, problem.taps(), problem.c), filters));
    }
    if (problem.k % piece != 0) {
      conversion.after.push_back(pad_rows(problem,
                                          product(problem.pixels(), padded(call.k, piece)),
                                          product(problem.pixels(), call.k)));
    }
    return conversion;
  }
  if (images > 1) {
    before.push_back(to_channels_last(
        problem,
        {.images = static_cast<double>(call.batch), .pixels = images, .channels = call.c}));
  }
  if (problem.k % piece != 0) {
    before.push_back(transform(problem, filters));
  } else if (problem.taps() > 1) {
    before.push_back(to_channels_last(problem,
                                      {.images = static_cast<double>(call.k),
                                       .pixels = problem.taps(),
                                       .channels = problem.c,
                                       .recent = false}));
  }
  if (problem.p * problem.q > 1) {
    conversion.after.push_back(to_channels_first(problem,
                                                 {.images = static_cast<double>(call.batch),
                                                  .pixels = problem.p * problem.q,
                                                  .channels = call.k}));
  }
  return conversion;
}

Candidates implicit(const Problem& problem, Product work) {
  const Conversion conversion = conversion_of(problem);
  work.channels = padded(work.channels, problem.piece());
  work.converted = !conversion.before.empty();
  return around(conversion.before, tensor_kernels(problem, work), conversion.after);
}

void append(Candidates& to, Candidates from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// The pieces in which rows of `row` elements can be copied, in elements; 0: whole 16 bytes.
int64_t piece_of(int64_t row, const Problem& problem) {
  if (row % problem.piece() == 0) {
    return 0;
  }
  return row % 2 == 0 ? 2 : 1;
}

// A 1 x 1 filter at stride 1 is a plain product: of pixels x channels with channels last, of
// channels x pixels, image by image, with channels first.
bool is_plain(const ConvCall& call) {
  return call.r == 1 && call.s == 1 && call.stride == 1 && call.pad == 0 && call.groups == 1;
}

// cuBLAS' kernels take 16-bit products whose rows are whole 16-byte pieces.
bool is_cublas(const ConvCall& call) {
  const bool half = call.dtype == DType::BF16 || call.dtype == DType::F16;
  const int64_t pixels = call.h * call.w;
  const bool rows = call.layout == ImageLayout::Nhwc || pixels == 1 || pixels % 8 == 0;
  return is_plain(call) && half && rows && call.c % 8 == 0 && call.k % 8 == 0;
}

// Products that cuBLAS' kernels do not take. Where rows are not whole 16-byte pieces, older kernels
// copy them piece by piece, or the image is transposed first.
Candidates plain(const Problem& problem) {
  Product work = product_of(problem);
  if (problem.pixels() == 1) {
    return {{vector_kernel(problem)}};
  }
  const int64_t images = problem.p * problem.q;
  if (problem.channels_last() || images == 1) {
    work.piece = piece_of(problem.c, problem);
    return around(
        {}, work.piece == 0 ? tensor_kernels(problem, work) : mma_kernels(problem, work), {});
  }
  work.products = static_cast<double>(problem.call.batch);
  work.pixels = images;
  work.piece = piece_of(images, problem);
  // wgmma wants tf32 operands along K; channels first has them along the pixels. Launches show it
  // only where rows are whole 64-byte pieces.
  const bool wgmma = work.piece == 0 && (problem.half || images % 16 == 0);
  Candidates candidates =
      around({}, wgmma ? tensor_kernels(problem, work) : mma_kernels(problem, work), {});
  if (work.piece != 0) {
    append(candidates, implicit(problem, product_of(problem)));
  }
  return candidates;
}

// Few channels: fp32 lanes take the operands as they lie.
Candidates dense(const Problem& problem) {
  Candidates candidates = implicit(problem, product_of(problem));
  if (problem.c < problem.piece()) {
    candidates.push_back({direct_kernel(problem)});
  }
  return candidates;
}

// A convolution of `groups` of the call's groups.
ConvCall part_of(const Problem& problem, int64_t groups) {
  ConvCall part = problem.call;
  part.c = problem.c * groups;
  part.k = problem.k * groups;
  part.groups = groups;
  return part;
}

// Group by group: each is cut out, converted, multiplied and put back, on streams of the library's
// own, so that four run side by side (calls take a quarter of the sum of their kernels). Small
// images take the 64 x 64 kernel, others 256 x 64 (40 launches). At most 32 rounds are listed;
// beyond them each stands for more groups.
Candidates by_groups(const Problem& problem) {
  constexpr int64_t kStreams = 4;
  constexpr int64_t kMostRounds = 32;
  const int64_t rounds = std::min(ceil_div(problem.call.groups, kStreams), kMostRounds);
  const int64_t together = ceil_div(problem.call.groups, rounds);
  const ConvCall call = part_of(problem, together);
  Problem part{.call = call, .table = problem.table, .chip = problem.chip};
  part.p = problem.p;
  part.q = problem.q;
  part.c = problem.c;
  part.k = problem.k;
  part.element = problem.element;
  part.half = problem.half;
  Conversion conversion = conversion_of(part);
  if (problem.channels_last()) {
    const double image = product(call.batch, call.h, call.w, call.c);
    const double result = product(part.pixels(), call.k);
    conversion.before.push_back(pad_rows(part, image, image));
    conversion.after.push_back(pad_rows(part, result, result));
  }
  Product work = product_of(part);
  work.products = static_cast<double>(together);
  work.channels = padded(work.channels, part.piece());
  work.converted = true;
  std::vector<Profile> kernels = mma_kernels(part, work);
  std::erase_if(kernels, [&](const Profile& kernel) {
    return kernel.kernel.find(work.pixels > 16384 ? "_256x64" : "_64x64x32") == std::string::npos;
  });
  Candidates candidates;
  for (const Sequence& once : around(conversion.before, std::move(kernels), conversion.after)) {
    Sequence all;
    all.reserve(once.size() * static_cast<size_t>(rounds));
    for (int64_t round = 0; round < rounds; ++round) {
      all.insert(all.end(), once.begin(), once.end());
    }
    candidates.push_back(std::move(all));
  }
  return candidates;
}

// Groups whose channels fill a box together run as one kernel over blocks of 64 channels, with the
// products between groups thrown away; other counts of channels go group by group through slices.
Candidates grouped(const Problem& problem) {
  const int64_t box = problem.half ? 64 : 32;
  const bool whole_box = box % problem.c == 0 || problem.c % box == 0;
  const bool alone = problem.c >= box && problem.pixels() < 16384;
  if (problem.half && (!whole_box || alone)) {
    return by_groups(problem);
  }
  const int64_t together = std::max<int64_t>(1, std::min(problem.call.groups, box / problem.c));
  Product work = product_of(problem);
  work.products = static_cast<double>(ceil_div(problem.call.groups, together));
  work.filters = problem.k * together;
  work.channels = padded(problem.c * together, problem.piece());
  Conversion conversion = conversion_of(problem);
  if (!whole_box || (problem.c != problem.k && problem.c < 16)) {
    if (problem.channels_last()) {
      conversion.before.push_back(transform(problem, problem.image() / problem.element));
    }
    conversion.before.push_back(transform(problem, problem.filters() / problem.element));
  }
  work.converted = !conversion.before.empty();
  return around(conversion.before, tensor_kernels(problem, work), conversion.after);
}

// One image, channels first, groups of at most 4 channels: a kernel that needs no transposes (3 of
// 3 launches; 8 images, or 8 channels, are transposed: 14 of 14).
bool takes_direct(const Problem& problem) {
  return !problem.channels_last() && problem.call.batch == 1 && problem.c <= 4 &&
         problem.c == problem.k && problem.call.stride == 1;
}

class CudnnConv final : public Family {
 public:
  explicit CudnnConv(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override { return std::holds_alternative<ConvCall>(call); }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& conv = std::get<ConvCall>(call);
    ORR_TRY(const Problem problem, problem_of(conv, table_, chip));
    if (conv.groups > 1 && conv.groups == conv.c) {
      return Candidates{{depthwise_kernel(problem)}};
    }
    if (conv.groups > 1) {
      return takes_direct(problem) ? Candidates{{grouped_direct_kernel(problem)}}
                                   : grouped(problem);
    }
    if (is_cublas(conv)) {
      return Candidates{};
    }
    return is_plain(conv) ? plain(problem) : dense(problem);
  }

  std::vector<Call> handed_on(const Call& call) const override {
    const auto& conv = std::get<ConvCall>(call);
    if (!is_cublas(conv)) {
      return {};
    }
    return {GemmCall{.m = conv.batch * conv.h * conv.w,
                     .n = conv.k,
                     .k = conv.c,
                     .input = conv.dtype,
                     .output = conv.dtype}};
  }

 private:
  Table table_;
};

}  // namespace
}  // namespace conv

std::unique_ptr<Family> read_cudnn_conv(machine::NumberFile& file) {
  conv::Table table{.wgmma = conv::read_wgmma(file),
                    .mma = conv::read_mma(file),
                    .direct = {.fixed = duration(file, "conv.direct.fixed"),
                               .step = cycles(file, "conv.direct.step"),
                               .instructions = one(file, "conv.direct.instructions")},
                    .depthwise = conv::read_depthwise(file),
                    .layout = conv::read_layout(file),
                    .error = error_of(file, "conv")};
  return std::make_unique<conv::CudnnConv>(std::move(table));
}

}  // namespace orrery::library
