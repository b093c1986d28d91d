// Libraries: reading a library file, and dispatch of a call to its rules.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/library.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "orrery/library/library_internal.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Range;
using machine::Unit;

double one(NumberFile& file, std::string_view key) {
  return file.number(key, Unit::One, Range::NotNegative);
}

double cycles(NumberFile& file, std::string_view key) {
  return file.number(key, Unit::Cycles, Range::NotNegative);
}

Duration duration(NumberFile& file, std::string_view key) {
  return Duration::from(Seconds(file.number(key, Unit::Seconds, Range::NotNegative)));
}

// Takes a number and `after` from the front of `text`.
bool take(std::string_view& text, int64_t& number, char after) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<size_t>(end - text.data());
  if (error != std::errc() || number <= 0 || number > 65536 || used >= text.size() ||
      text[used] != after) {
    return false;
  }
  text.remove_prefix(used + 1);
  return true;
}

// "256x128_64x4_1x2_coopA_splitK_TNT"
bool parse_nvjet(std::string_view text, NvjetKernel& kernel) {
  kernel.name = text;
  kernel.split = text.find("_splitK") != std::string_view::npos;
  kernel.rows_along_n = text.ends_with("_TNT");
  if (!kernel.rows_along_n && !text.ends_with("_TNN")) {
    return false;
  }
  return take(text, kernel.tile_n, 'x') && take(text, kernel.tile_m, '_') &&
         take(text, kernel.step, 'x') && take(text, kernel.stages, '_') &&
         take(text, kernel.cluster_n, 'x') && take(text, kernel.cluster_m, '_');
}

std::vector<NvjetKernel> read_kernels(NumberFile& file, std::string_view key) {
  std::vector<NvjetKernel> kernels;
  for (const auto& text : file.list(key)) {
    NvjetKernel kernel;
    if (parse_nvjet(text, kernel)) {
      kernels.push_back(std::move(kernel));
    } else {
      file.complain(key,
                    fmt::format("got '{}', need a kernel like 256x128_64x4_1x2_coopA_TNT", text));
    }
  }
  if (kernels.empty()) {
    file.complain(key, "need at least one kernel");
  }
  return kernels;
}

NvjetTable read_nvjet(NumberFile& file) {
  NvjetTable table;
  table.kernels16 = read_kernels(file, "cublas.nvjet.tiles_16bit");
  table.kernels8 = read_kernels(file, "cublas.nvjet.tiles_8bit");
  table.fixed = duration(file, "cublas.nvjet.fixed");
  table.tensor_share = file.number("cublas.nvjet.tensor_share", Unit::One);
  table.epilogue_instructions = one(file, "cublas.nvjet.epilogue_instructions");
  table.step_floor = cycles(file, "cublas.nvjet.step_floor");
  table.cluster_floor = cycles(file, "cublas.nvjet.cluster_floor");
  table.pitch_32 = file.number("cublas.nvjet.pitch_32", Unit::One);
  table.pitch_128 = file.number("cublas.nvjet.pitch_128", Unit::One);
  table.dram_share = file.number("cublas.nvjet.dram_share", Unit::One);
  table.split_fixed = duration(file, "cublas.nvjet.split_fixed");
  table.split_trip = cycles(file, "cublas.nvjet.split_trip");
  return table;
}

FlashTable read_flash(NumberFile& file) {
  return {.tensor_share = file.number("flash.tensor_share", Unit::One),
          .issue_per_score = one(file, "flash.issue_per_score"),
          .alone = one(file, "flash.alone"),
          .uneven = file.number("flash.uneven", Unit::One),
          .diagonal = one(file, "flash.diagonal"),
          .unit = cycles(file, "flash.unit"),
          .combine_fixed = duration(file, "flash.combine_fixed")};
}

CudnnTable read_cudnn(NumberFile& file) {
  return {.tensor_share = file.number("cudnn.tensor_share", Unit::One),
          .issue_per_score = one(file, "cudnn.issue_per_score"),
          .pipe_overlap = file.number("cudnn.pipe_overlap", Unit::One),
          .diagonal = one(file, "cudnn.diagonal"),
          .unit = cycles(file, "cudnn.unit"),
          .fixed = duration(file, "cudnn.fixed"),
          .decode_fixed = duration(file, "cudnn.decode_fixed"),
          .decode_block = cycles(file, "cudnn.decode_block"),
          .decode_share_256 = file.number("cudnn.decode_share_256", Unit::One),
          .decode_share_small = file.number("cudnn.decode_share_small", Unit::One),
          .reduction_fixed = duration(file, "cudnn.reduction_fixed")};
}

PointwiseTable read_pointwise(NumberFile& file) {
  PointwiseTable table;
  for (const auto& text : file.list("pytorch.pointwise.operators")) {
    const auto space = text.find(' ');
    const std::string count = space == std::string::npos ? "" : text.substr(space + 1);
    if (count.size() != 1 || count[0] < '0' || count[0] > '9') {
      file.complain("pytorch.pointwise.operators",
                    fmt::format("got '{}', need a name and how many tensors it reads", text));
      continue;
    }
    table.reads[text.substr(0, space)] = count[0] - '0';
  }
  for (const auto& kind : file.keys_under("pytorch.pointwise.instructions")) {
    table.instructions[kind] = one(file, "pytorch.pointwise.instructions." + kind);
  }
  for (const auto& kind : file.keys_under("pytorch.pointwise.chain")) {
    table.chain[kind] = cycles(file, "pytorch.pointwise.chain." + kind);
  }
  for (const std::string_view kind : {"simple", "strided"}) {
    if (table.instructions.find(kind) == table.instructions.end() ||
        table.chain.find(kind) == table.chain.end()) {
      file.complain(fmt::format("pytorch.pointwise, kind {}", kind),
                    "needs instructions and a chain");
    }
  }
  table.strided_thread = one(file, "pytorch.pointwise.strided_thread");
  return table;
}

NormTable read_norm(NumberFile& file) {
  return {.unit = cycles(file, "pytorch.norm.unit"),
          .beyond_l1 = cycles(file, "pytorch.norm.beyond_l1"),
          .layer_norm = cycles(file, "pytorch.norm.layer_norm"),
          .instructions = one(file, "pytorch.norm.instructions"),
          .layer_norm_instructions = one(file, "pytorch.norm.layer_norm_instructions"),
          .instructions_unit = one(file, "pytorch.norm.instructions_unit")};
}

// The name of a size that is not positive, or empty.
std::string bad_sizes(const std::vector<std::pair<std::string_view, int64_t>>& sizes) {
  constexpr int64_t kMost =
      int64_t{1} << 40;  // any tensor of the world is smaller, and products stay exact enough
  std::string bad;
  for (const auto& [size, value] : sizes) {
    if (value <= 0 || value > kMost) {
      bad += fmt::format("{}{} = {}", bad.empty() ? "" : ", ", size, value);
    }
  }
  return bad;
}

std::string bad_sizes(const GemmCall& call) {
  return bad_sizes({{"batch", call.batch}, {"m", call.m}, {"n", call.n}, {"k", call.k}});
}

std::string bad_sizes(const AttentionCall& call) {
  return bad_sizes({{"batch", call.batch},
                    {"heads", call.heads},
                    {"kv_heads", call.kv_heads},
                    {"seq_q", call.seq_q},
                    {"seq_kv", call.seq_kv},
                    {"head_dim", call.head_dim}});
}

std::string bad_sizes(const RowsCall& call) {
  return bad_sizes({{"rows", call.rows}, {"cols", call.cols}});
}

double error_of(std::string_view family, const ErrorTable& table) {
  return family == "gemm"        ? table.gemm
         : family == "attention" ? table.attention
         : family == "pointwise" ? table.pointwise
                                 : table.rows;
}

Result<Candidates> dispatch(const Call& call,
                            const Library::Tables& tables,
                            const machine::Chip& chip) {
  if (const auto* gemm = std::get_if<GemmCall>(&call)) {
    return gemm_candidates(*gemm, tables, chip);
  }
  if (const auto* attention = std::get_if<AttentionCall>(&call)) {
    return attention_candidates(*attention, tables, chip);
  }
  return rows_candidates(std::get<RowsCall>(call), tables, chip);
}

}  // namespace

std::string_view name(const Call& call) {
  struct Visitor {
    std::string_view operator()(const GemmCall&) const { return "gemm"; }

    std::string_view operator()(const AttentionCall&) const { return "attention"; }

    std::string_view operator()(const RowsCall& rows) const { return rows.op; }
  };

  return std::visit(Visitor{}, call);
}

Result<Library> Library::parse(std::string_view toml, std::string_view origin) {
  ORR_TRY(auto file, NumberFile::parse(toml, origin));
  auto tables = std::make_shared<Tables>();
  tables->id = file.text("id");
  tables->version = file.text("version");
  tables->nvjet = read_nvjet(file);
  tables->flash = read_flash(file);
  tables->cudnn = read_cudnn(file);
  tables->pointwise = read_pointwise(file);
  tables->norm = read_norm(file);
  tables->softmax = {.instructions = one(file, "pytorch.softmax.instructions"),
                     .chain = cycles(file, "pytorch.softmax.chain"),
                     .unit = cycles(file, "pytorch.softmax.unit"),
                     .trip = cycles(file, "pytorch.softmax.trip")};
  tables->gather = {.unit = cycles(file, "pytorch.gather.unit")};
  tables->error = {.gemm = file.number("error.gemm", Unit::One),
                   .attention = file.number("error.attention", Unit::One),
                   .pointwise = file.number("error.pointwise", Unit::One),
                   .rows = file.number("error.rows", Unit::One)};
  ORR_TRY_VOID(file.finish("library.parse"));
  tables->numbers = file.numbers();
  return Library(std::move(tables));
}

std::string_view Library::id() const {
  return tables_->id;
}

std::string_view Library::version() const {
  return tables_->version;
}

std::vector<machine::Number> Library::numbers() const {
  return tables_->numbers;
}

Result<Candidates> Library::candidates(const Call& call, const machine::Chip& chip) const {
  const std::string bad = std::visit([](const auto& c) { return bad_sizes(c); }, call);
  if (!bad.empty()) {
    return make_error(ErrorCode::InvalidInput,
                      "[library.{}] sizes out of range: got {}, need 1 to 2^40",
                      name(call),
                      bad);
  }
  ORR_TRY(auto candidates, dispatch(call, *tables_, chip));
  for (auto& sequence : candidates) {
    for (auto& profile : sequence) {
      profile.behaviour.relative_error = error_of(profile.family, tables_->error);
    }
  }
  return candidates;
}

}  // namespace orrery::library
