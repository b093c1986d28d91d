// Stores through shared memory: registers -> swizzled panels -> tensor copy, panel by panel.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <set>

#include "orrery/emit/cuda/scope_internal.h"
#include "orrery/emit/index.h"

namespace orrery::emit::cuda {
namespace {

using kernel::Digit;
using kernel::FragmentLayout;
using kernel::Store;

// Two cases. If no warp shares a row of a panel with another (accumulator rows are rows of the
// tensor), each warp stores its own rows and needs no barrier. Otherwise (accumulator rows are the
// tensor's columns) the warps that fill a panel meet at a named barrier and one of them stores it.
struct Staging {
  const Store& store;
  const FragmentLayout& layout;
  BufferId via;
  AxisId row;
  AxisId inner;
  int64_t panel = 0;        // elements
  int64_t line = 0;         // bytes of a panel row
  int64_t rows = 0;         // of a panel
  int64_t panel_warps = 1;  // panels that different warps fill at the same time
  int64_t warp_step = 0;    // elements from one of those panels to the next
  int64_t slots = 1;        // staging panels for each of them
  bool by_warp = false;
  int64_t box_rows = 0;
  std::vector<int64_t> steps =
      {};  // panels one warp goes through: offsets along `inner` in registers
  std::vector<int64_t> boxes = {};  // first rows (register part) of the boxes that one warp stores
};

/// Which warps share a panel: neighbours, as many each, at panels that are evenly apart. False: not
/// so.
bool place_warps(Staging& s) {
  const int64_t warps = s.layout.count(Place::Warp);
  s.by_warp = true;
  std::set<int64_t> panels;
  for (int64_t w = 0; w < warps; ++w) {
    const int64_t inner = offset_of(s.layout, s.inner, Place::Warp, w);
    panels.insert(inner / s.panel);
    if (inner % s.panel != 0) s.by_warp = false;
  }
  s.panel_warps = static_cast<int64_t>(panels.size());
  s.warp_step = s.panel_warps > 1 ? *std::next(panels.begin()) * s.panel : s.panel;
  const int64_t sharing = warps / s.panel_warps;
  for (int64_t w = 0; w < warps; ++w) {
    const int64_t at = offset_of(s.layout, s.inner, Place::Warp, w) / s.panel * s.panel;
    const int64_t number = at / s.warp_step;
    if (at % s.warp_step != 0 || number >= s.panel_warps) return false;
    if (!s.by_warp && number != w / sharing) return false;
  }
  return true;
}

/// Rows that the lanes and low registers of one warp cover without a gap.
int64_t contiguous_rows(const FragmentLayout& layout, AxisId row) {
  int64_t run = 1;
  bool grown = true;
  while (grown) {
    grown = false;
    for (const Digit& digit : layout.digits) {
      if (digit.place == Place::Warp || digit.axis != row || digit.stride != run) continue;
      if (digit.extent == 1) continue;
      run *= digit.extent;
      grown = true;
    }
  }
  return run;
}

void place_registers(Staging& s) {
  std::set<int64_t> steps;
  std::set<int64_t> boxes;
  for (int64_t r = 0; r < s.layout.count(Place::Register); ++r) {
    steps.insert(offset_of(s.layout, s.inner, Place::Register, r) / s.panel * s.panel);
    const int64_t row = offset_of(s.layout, s.row, Place::Register, r);
    boxes.insert(s.by_warp ? row / s.box_rows * s.box_rows : 0);
  }
  s.steps.assign(steps.begin(), steps.end());
  s.boxes.assign(boxes.begin(), boxes.end());
}

Result<Staging> plan_staging(const Scope& scope, const Store& store) {
  const Buffer& via = scope[*store.via];
  const auto axes = wide_axes(scope.context, via);
  const Error error = unsupported(
      scope.context, fmt::format("a store of '{}' via '{}'", scope[store.from].name, via.name));
  if (axes.size() != 2 || via.shared.pad != 0 || via.dtype != scope[store.from].dtype) return error;
  Staging s{.store = store,
            .layout = scope[store.from].fragment,
            .via = *store.via,
            .row = axes[0],
            .inner = axes[1]};
  s.panel = via.shared.panel > 0 ? via.shared.panel : scope.program()[s.inner].tile;
  s.line = s.panel * element_bytes(via.dtype);
  s.rows = scope.program()[s.row].tile;
  if (!place_warps(s)) return error;
  s.box_rows = s.by_warp ? contiguous_rows(s.layout, s.row) : s.rows;
  place_registers(s);
  const int64_t panels = scope.context.slot(s.via).bytes / (s.line * s.rows) * via.ring;
  s.slots = panels / s.panel_warps;
  // A box must begin at a swizzle atom: 8 rows.
  if (s.slots < 1 || s.box_rows % 8 != 0 ||
      (via.shared.swizzle != 0 && via.shared.swizzle != s.line)) {
    return error;
  }
  return s;
}

/// The first digits that stmatrix stores: pairs along one axis, 8 rows of lanes along the other.
/// PTX ISA, "stmatrix".
bool fits_matrices(const Staging& s, DType dtype, bool& transposed) {
  if (dtype == DType::F32 || s.layout.count(Place::Register) % 2 != 0) return false;
  const AxisId first = run_along(s.layout, s.inner, 2) == 2 ? s.inner : s.row;
  const AxisId other = first == s.inner ? s.row : s.inner;
  transposed = first != s.inner;
  if (run_along(s.layout, first, 2) != 2) return false;
  for (int64_t lane = 0; lane < kWarpSize; ++lane) {
    if (offset_of(s.layout, first, Place::Lane, lane) != lane % 4 * 2) return false;
    if (offset_of(s.layout, other, Place::Lane, lane) != lane / 4) return false;
  }
  for (int64_t r = 0; r < s.layout.count(Place::Register); r += 2) {
    if (offset_of(s.layout, s.inner, Place::Register, r) % 8 != 0) return false;
    if (offset_of(s.layout, s.row, Place::Register, r) % 8 != 0) return false;
  }
  return true;
}

/// Bytes of (row, inner offset within a panel).
int64_t place_in_panel(const Staging& s, int64_t reg) {
  const int64_t inner = offset_of(s.layout, s.inner, Place::Register, reg) % s.panel;
  return offset_of(s.layout, s.row, Place::Register, reg) * s.line + inner * (s.line / s.panel);
}

/// Registers (first of a pair each) whose elements lie in the panel at `step`.
std::vector<int64_t> pairs_in(const Staging& s, int64_t step, int64_t stride) {
  std::vector<int64_t> pairs;
  for (int64_t r = 0; r < s.layout.count(Place::Register); r += stride) {
    if (offset_of(s.layout, s.inner, Place::Register, r) / s.panel * s.panel == step) {
      pairs.push_back(r);
    }
  }
  return pairs;
}

/// The warp's part of the place in a panel, bytes.
std::string warp_place(const Staging& s) {
  const std::string row = offset_text(s.layout, s.row, Place::Warp, "warp");
  const std::string inner = offset_text(s.layout, s.inner, Place::Warp, "warp");
  std::string text = row == "0" ? "" : fmt::format("({}) * {}", row, s.line);
  if (inner != "0") {
    const int64_t bytes = s.line / s.panel;
    text += fmt::format("{}({}) % {} * {}", text.empty() ? "" : " + ", inner, s.panel, bytes);
  }
  return text.empty() ? "0" : text;
}

/// How many matrices one instruction stores from pair `p` on: 4 need places base, base + a, base +
/// b, base + a + b.
size_t matrices_together(const Staging& s, const std::vector<int64_t>& pairs, size_t p) {
  if (pairs.size() - p < 2) return 1;
  if (pairs.size() - p < 4) return 2;
  const auto step = [&](size_t i) {
    return place_in_panel(s, pairs[p + i]) - place_in_panel(s, pairs[p]);
  };
  return step(3) == step(1) + step(2) ? 4 : 2;
}

/// Stores the 8x8 matrices of a panel, four at a time where four are left. Lanes 8j .. 8j + 7 hold
/// the row addresses of matrix j, so each lane adds the place of its own matrix; the places of four
/// matrices differ by the same amounts.
void write_matrices(Scope& scope,
                    const Staging& s,
                    const std::vector<int64_t>& pairs,
                    bool transposed) {
  const std::string name = buffer_name(scope.program(), s.store.from);
  const std::string own = fmt::format("{} + lane % 8 * {}", warp_place(s), s.line);
  for (size_t p = 0; p < pairs.size();) {
    const size_t count = matrices_together(s, pairs, p);
    const int64_t base = place_in_panel(s, pairs[p]);
    std::string extra;
    if (count > 1) {
      extra = fmt::format(" + lane / 8 % 2 * {}", place_in_panel(s, pairs[p + 1]) - base);
    }
    if (count > 2)
      extra += fmt::format(" + lane / 16 * {}", place_in_panel(s, pairs[p + 2]) - base);
    std::string words;
    for (size_t i = 0; i < std::max<size_t>(count, 2); ++i) {
      words += fmt::format(", {}.w[{}]", name, pairs[p + std::min(i, count - 1)] / 2);
    }
    scope.out.line("matrix_store{}<{}>(panel + swizzled<{}>({} + {}{}){});",
                   count == 4 ? 4 : 2,
                   transposed,
                   scope[s.via].shared.swizzle,
                   own,
                   base,
                   extra,
                   words);
    p += count;
  }
}

int64_t vector_of(const Scope& scope, const Staging& s) {
  const int64_t size = element_bytes(scope[s.via].dtype);
  return run_along(s.layout, s.inner, std::min(s.panel, kVectorBytes / size));
}

/// Without matrix stores: the widest vectors that lie along the panel's rows.
void write_vectors(Scope& scope, const Staging& s, const std::vector<int64_t>& runs) {
  const int64_t size = element_bytes(scope[s.via].dtype);
  const int64_t vector = vector_of(scope, s);
  const std::string lane = fmt::format("({}) * {} + ({}) % {} * {}",
                                       offset_text(s.layout, s.row, Place::Lane, "lane"),
                                       s.line,
                                       offset_text(s.layout, s.inner, Place::Lane, "lane"),
                                       s.panel,
                                       size);
  for (const int64_t r : runs) {
    scope.out.line("write_shared(panel + swizzled<{}>({} + {} + {}), bits_of<{}>({}, {}));",
                   scope[s.via].shared.swizzle,
                   warp_place(s),
                   lane,
                   place_in_panel(s, r),
                   vector,
                   buffer_name(scope.program(), s.store.from),
                   r);
  }
}

/// Evaluates what a deferred assignment puts into these registers (first of a run of `stride`
/// each).
Result<void> write_deferred(Scope& scope, const std::vector<int64_t>& runs, int64_t stride) {
  if (scope.deferred == nullptr) return {};
  for (size_t begin = 0; begin < runs.size();) {
    size_t end = begin + 1;
    while (end < runs.size() && runs[end] == runs[end - 1] + stride) ++end;
    ORR_TRY_VOID(lower_map_part(scope, *scope.deferred, runs[begin], runs[end - 1] + stride));
    begin = end;
  }
  return {};
}

/// Registers of a panel that are evaluated together: enough loads in flight, few enough registers.
constexpr int64_t kEvaluatedTogether = 32;

TensorMap map_of(const Scope& scope, const Staging& s) {
  const auto& tensor = scope.program()[s.store.to];
  TensorMap map{.tensor = s.store.to, .box = {}, .swizzle = scope[s.via].shared.swizzle};
  for (const AxisId axis : tensor.axes) {
    map.box.push_back(axis == s.inner ? s.panel : axis == s.row ? s.box_rows : 1);
  }
  return map;
}

/// Coordinates of a box, innermost first.
std::string box_corner(const Scope& scope, const Staging& s, int64_t step, int64_t row) {
  const auto& tensor = scope.program()[s.store.to];
  std::string text;
  for (auto axis = tensor.axes.rbegin(); axis != tensor.axes.rend(); ++axis) {
    std::string at =
        scope.program()[*axis].kind == AxisKind::Whole ? "0" : corner_name(scope.program(), *axis);
    if (*axis == s.inner) {
      const std::string warp = offset_text(s.layout, s.inner, Place::Warp, "warp");
      if (step > 0) at += fmt::format(" + {}", step);
      if (warp != "0") at += fmt::format(" + ({}) / {} * {}", warp, s.panel, s.panel);
    } else if (*axis == s.row) {
      if (row > 0) at += fmt::format(" + {}", row);
      if (s.by_warp) at += " + " + offset_text(s.layout, s.row, Place::Warp, "warp");
    }
    text += ", " + at;
  }
  return text;
}

/// Who meets before and after a panel is written, and which thread stores it.
struct Meeting {
  std::string barrier;
  std::string leader;
};

Meeting meeting_of(const Scope& scope, const Staging& s) {
  if (s.by_warp) return {"__syncwarp();", "lane == 0"};
  const int64_t warps = scope.warps() / s.panel_warps;
  // Ids after those of the stages; warps of one panel are neighbours.
  const auto first = static_cast<int64_t>(scope.program().stages.size()) + 1;
  return {fmt::format("named_barrier({} + warp / {}, {});", first, warps, warps * kWarpSize),
          fmt::format("warp % {} == 0 && lane == 0", warps)};
}

/// The address of the staging panel of step number `index`.
std::string panel_text(Scope& scope, const Staging& s, size_t index) {
  const int64_t bytes = s.line * s.rows;
  std::string text = fmt::format("shared + {}", scope.context.slot(s.via).offset);
  if (s.panel_warps > 1) {
    text += fmt::format(" + ({}) / {} * {}",
                        offset_text(s.layout, s.inner, Place::Warp, "warp"),
                        s.warp_step,
                        s.slots * bytes);
  }
  if (static_cast<int64_t>(s.steps.size()) % s.slots == 0) {
    return text + fmt::format(" + {}", static_cast<int64_t>(index) % s.slots * bytes);
  }
  const std::string turn = "turn_" + buffer_name(scope.program(), s.via);
  scope.declare("u32", turn, "0");
  return text + fmt::format(" + {} * {}", turn, bytes);
}

/// Evaluates and writes one panel, part by part; the panel must be free before the first part is
/// written.
Result<void> write_panel(Scope& scope, const Staging& s, int64_t step, const Meeting& meeting) {
  bool transposed = false;
  const bool matrices = fits_matrices(s, scope[s.via].dtype, transposed);
  const int64_t stride = matrices ? 2 : vector_of(scope, s);
  const std::vector<int64_t> runs = pairs_in(s, step, stride);
  const auto per_part = static_cast<size_t>(kEvaluatedTogether / stride);
  for (size_t begin = 0; begin < runs.size(); begin += per_part) {
    const auto first = runs.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = first + static_cast<std::ptrdiff_t>(std::min(per_part, runs.size() - begin));
    const std::vector<int64_t> part(first, last);
    ORR_TRY_VOID(write_deferred(scope, part, stride));
    if (begin == 0) {
      scope.out.line("if ({}) stores_have_read<{}>();", meeting.leader, s.slots - 1);
      scope.out.raw(meeting.barrier);
    }
    if (matrices) {
      write_matrices(scope, s, part, transposed);
    } else {
      write_vectors(scope, s, part);
    }
  }
  return {};
}

void write_copies(Scope& scope, const Staging& s, int64_t step, const std::string& map) {
  for (const int64_t row : s.boxes) {
    std::string from = "panel";
    if (s.by_warp) {
      const std::string warp = offset_text(s.layout, s.row, Place::Warp, "warp");
      from += fmt::format(" + ({} + {}) * {}", row, warp, s.line);
    }
    scope.out.line("copy_out(&{}, {}{});", map, from, box_corner(scope, s, step, row));
  }
}

}  // namespace

Result<void> lower_staged_store(Scope& scope, const Store& store) {
  ORR_TRY(const Staging s, plan_staging(scope, store));
  const TensorMap map = map_of(scope, s);
  const std::string map_name = scope.context.map_name(map);
  scope.context.store_ranks.insert(static_cast<int64_t>(map.box.size()));
  const Meeting meeting = meeting_of(scope, s);
  Writer& out = scope.out;
  for (size_t index = 0; index < s.steps.size(); ++index) {
    out.open("");
    out.line("const u32 panel = {};", panel_text(scope, s, index));
    ORR_TRY_VOID(write_panel(scope, s, s.steps[index], meeting));
    out.raw("fence_async();");
    out.raw(meeting.barrier);
    out.open("if ({})", meeting.leader);
    write_copies(scope, s, s.steps[index], map_name);
    out.raw("stores_commit();");
    out.close();
    if (static_cast<int64_t>(s.steps.size()) % s.slots != 0) {
      const std::string turn = "turn_" + buffer_name(scope.program(), s.via);
      out.line("if (++{0} == {1}) {0} = 0;", turn, s.slots);
    }
    out.close();
  }
  return {};
}

}  // namespace orrery::emit::cuda
