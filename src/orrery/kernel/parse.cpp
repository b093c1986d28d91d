// The text form of kernel programs, read: the head and the declarations.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/parse.h"

#include <algorithm>
#include <array>
#include <utility>

#include "orrery/base/text.h"
#include "orrery/kernel/limits.h"
#include "orrery/kernel/parse_internal.h"

namespace orrery::kernel {
namespace detail {
namespace {

constexpr std::array<std::string_view, 8> kDeclarations = {
    "axis", "tensor", "stage", "buffer", "raster", "cluster", "persistent", "ctas_per_sm"};

template <class Tag, class T>
std::optional<Id<Tag>> find(const std::vector<T>& named, std::string_view name) {
  const auto at = std::ranges::find(named, name, &T::name);
  if (at == named.end()) return std::nullopt;
  return Id<Tag>::from_index(static_cast<size_t>(at - named.begin()));
}

}  // namespace

std::optional<AxisId> Parser::find_axis(std::string_view name) const {
  return find<AxisTag>(program_.axes, name);
}

std::optional<TensorId> Parser::find_tensor(std::string_view name) const {
  return find<TensorTag>(program_.tensors, name);
}

std::optional<BufferId> Parser::find_buffer(std::string_view name) const {
  return find<BufferTag>(program_.buffers, name);
}

std::optional<StageId> Parser::find_stage(std::string_view name) const {
  return find<StageTag>(program_.stages, name);
}

Error Parser::unknown(const Token& got,
                      std::string_view what,
                      const std::vector<std::string>& names) const {
  return scan_.error_at(
      got.position,
      fmt::format("got '{}', need {}{}", got.text, what, did_you_mean(got.text, names)));
}

bool Parser::accept_here(std::string_view word) {
  return on_line() && scan_.accept(word);
}

Result<std::string> Parser::new_name(std::string_view what, IsTaken is_taken) {
  const Token token = scan_.peek();
  if (token.kind != TokenKind::Identifier) return scan_.error(fmt::format("the name of {}", what));
  if (!is_name(token.text)) {
    return scan_.error(
        fmt::format("a name for {}: letters, digits and _, at most {}, not a reserved word",
                    what,
                    kMaxNameLength));
  }
  if (is_taken != nullptr && (this->*is_taken)(token.text)) {
    return scan_.error(fmt::format("a name for {} that is not taken", what));
  }
  return std::string(scan_.next().text);
}

Result<int64_t> Parser::integer(std::string_view what, int64_t largest) {
  const Token token = scan_.peek();
  if (token.kind != TokenKind::Integer) {
    return scan_.error(fmt::format("{} (an integer)", what));
  }
  const Result<int64_t> value = scan_.expect_integer();
  if (value.ok() && *value <= largest) return *value;
  return scan_.error_at(token.position,
                        fmt::format("got '{}', need {} of at most {}", token.text, what, largest));
}

Result<int64_t> Parser::option(std::string_view word, int64_t otherwise, int64_t largest) {
  if (!accept_here(word)) return otherwise;
  return integer(word, largest);
}

Result<void> Parser::room(size_t count, size_t largest, std::string_view what) const {
  if (count < largest) return {};
  return scan_.error(fmt::format("at most {} {}", largest, what));
}

Result<DType> Parser::dtype() {
  const Token token = scan_.peek();
  const Result<DType> type = parse_dtype(token.text);
  if (!type.ok()) return scan_.error("an element type, e.g. bf16 or f32");
  scan_.next();
  return *type;
}

Result<AxisId> Parser::axis_name() {
  const Token token = scan_.peek();
  const std::optional<AxisId> id = find_axis(token.text);
  if (!id) return unknown(token, "an axis", names_of(program_.axes));
  scan_.next();
  return *id;
}

Result<BufferId> Parser::buffer_name() {
  const Token token = scan_.peek();
  const std::optional<BufferId> id = find_buffer(token.text);
  if (!id) return unknown(token, "a buffer", names_of(program_.buffers));
  scan_.next();
  return *id;
}

Result<std::vector<AxisId>> Parser::axis_list() {
  std::vector<AxisId> axes;
  ORR_TRY_VOID(scan_.expect("["));
  if (scan_.accept("]")) return axes;
  do {
    ORR_TRY_VOID(room(axes.size(), kMaxRank, "axes of one tensor or buffer"));
    ORR_TRY(const AxisId axis, axis_name());
    axes.push_back(axis);
  } while (scan_.accept(","));
  if (!scan_.accept("]")) return scan_.error("',' or ']'");
  return axes;
}

Result<void> Parser::head() {
  ORR_TRY_VOID(scan_.expect("kernel"));
  ORR_TRY(program_.name, new_name("the kernel"));
  ORR_TRY_VOID(scan_.expect("target"));
  for (const Target target : {Target::Sm90a, Target::Gfx942}) {
    if (scan_.accept(name(target))) {
      program_.target = target;
      return {};
    }
  }
  return scan_.error("a target, sm_90a or gfx942");
}

Result<Extent> Parser::extent() {
  Extent extent;
  if (scan_.peek().kind == TokenKind::Integer) {
    ORR_TRY(extent.fixed, integer("an extent", kMaxExtent));
    return extent;
  }
  ORR_TRY(extent.symbol, new_name("an extent"));
  return extent;
}

Result<AxisKind> Parser::axis_kind() {
  if (scan_.accept("grid")) return AxisKind::Grid;
  if (scan_.accept("loop")) return AxisKind::Loop;
  if (scan_.accept("whole")) return AxisKind::Whole;
  return scan_.error("grid, loop or whole");
}

Result<void> Parser::axis() {
  ORR_TRY_VOID(room(program_.axes.size(), kMaxAxes, "axes"));
  Axis axis;
  ORR_TRY(axis.name, new_name("an axis", &Parser::is_axis));
  ORR_TRY_VOID(scan_.expect("extent"));
  ORR_TRY(axis.extent, extent());
  ORR_TRY(axis.multiple, option("multiple", 1, kMaxTile));
  ORR_TRY_VOID(scan_.expect("tile"));
  ORR_TRY(axis.tile, integer("a tile", kMaxTile));
  ORR_TRY(axis.kind, axis_kind());
  if (accept_here("parts")) parts_.emplace_back(program_.axes.size(), scan_.next());
  program_.axes.push_back(std::move(axis));
  return {};
}

// `parts` may name an axis that is declared further down.
Result<void> Parser::resolve_parts() {
  for (const auto& [index, token] : parts_) {
    const std::optional<AxisId> id = find_axis(token.text);
    if (!id) return unknown(token, "an axis", names_of(program_.axes));
    program_.axes[index].parts = *id;
  }
  return {};
}

Result<void> Parser::tensor() {
  ORR_TRY_VOID(room(program_.tensors.size(), kMaxTensors, "tensors"));
  Tensor tensor;
  ORR_TRY(tensor.name, new_name("a tensor", &Parser::is_tile));
  ORR_TRY(tensor.dtype, dtype());
  ORR_TRY(tensor.axes, axis_list());
  if (scan_.accept("read")) {
    tensor.access = Access::Read;
  } else if (scan_.accept("write")) {
    tensor.access = Access::Write;
  } else if (scan_.accept("readwrite")) {
    tensor.access = Access::ReadWrite;
  } else {
    return scan_.error("read, write or readwrite");
  }
  program_.tensors.push_back(std::move(tensor));
  return {};
}

Result<void> Parser::stage() {
  ORR_TRY_VOID(room(program_.stages.size(), kMaxStages, "stages"));
  Stage stage;
  ORR_TRY(stage.name, new_name("a stage", &Parser::is_stage));
  if (scan_.accept("producer")) {
    stage.kind = StageKind::Producer;
  } else if (!scan_.accept("consumer")) {
    return scan_.error("producer or consumer");
  }
  ORR_TRY_VOID(scan_.expect("warps"));
  ORR_TRY(stage.warps, integer("warps", kMaxWarps));
  ORR_TRY(stage.registers, option("registers", 0, kMaxRegisters));
  program_.stages.push_back(std::move(stage));
  return {};
}

Result<void> Parser::raster() {
  if (std::exchange(has_raster_, true)) return scan_.error("one raster line");
  while (on_line() && !scan_.peek().is("group")) {
    ORR_TRY_VOID(room(program_.raster.order.size(), kMaxAxes, "axes of the raster"));
    ORR_TRY(const AxisId axis, axis_name());
    program_.raster.order.push_back(axis);
  }
  ORR_TRY(program_.raster.group, option("group", 1, kMaxTile));
  return {};
}

Result<void> Parser::cluster() {
  if (program_.cluster) return scan_.error("one cluster line");
  Cluster cluster;
  ORR_TRY(cluster.axis, axis_name());
  ORR_TRY(cluster.size, integer("a cluster size", kMaxTile));
  program_.cluster = cluster;
  return {};
}

Result<void> Parser::launch(std::string_view word) {
  if (word == "raster") return raster();
  if (word == "cluster") return cluster();
  if (word == "persistent") {
    if (std::exchange(program_.persistent, true)) return scan_.error("one persistent line");
    return {};
  }
  if (std::exchange(has_ctas_, true)) return scan_.error("one ctas_per_sm line");
  ORR_TRY(program_.ctas_per_sm, integer("CTAs per SM", kMaxTile));
  return {};
}

Result<void> Parser::declaration() {
  const Token word = scan_.peek();
  const auto* known = std::ranges::find(kDeclarations, word.text);
  if (known == kDeclarations.end()) {
    const std::vector<std::string> words(kDeclarations.begin(), kDeclarations.end());
    return unknown(word,
                   "a declaration (axis, tensor, stage, buffer, raster, cluster, persistent, "
                   "ctas_per_sm) or a phase (once, loop)",
                   words);
  }
  scan_.next();
  line_ = word.position.line;
  if (word.is("axis")) return axis();
  if (word.is("tensor")) return tensor();
  if (word.is("stage")) return stage();
  if (word.is("buffer")) return buffer();
  return launch(word.text);
}

Result<Program> Parser::program() {
  ORR_TRY_VOID(head());
  while (!scan_.at_end() && !scan_.peek().is("once") && !scan_.peek().is("loop")) {
    ORR_TRY_VOID(declaration());
    if (on_line()) return scan_.error("the end of the line");
  }
  ORR_TRY_VOID(resolve_parts());
  ORR_TRY_VOID(phases());
  return std::move(program_);
}

}  // namespace detail

Result<Program> parse(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return make_error(ErrorCode::ParseError,
                      "[kernel.parse] text is too long: got {} bytes, need at most {}",
                      text.size(),
                      kMaxTextBytes);
  }
  return detail::Parser(text).program();
}

}  // namespace orrery::kernel
