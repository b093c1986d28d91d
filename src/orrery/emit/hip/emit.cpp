// The HIP emitter: the kernel around the statements, its units, phases and rings.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/hip/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orrery/emit/hip/statement_internal.h"
#include "orrery/emit/hip/types_internal.h"
#include "orrery/emit/naming.h"
#include "orrery/kernel/print.h"

namespace orrery::emit::hip {
namespace {

using kernel::Load;
using kernel::Program;

// Everything that is wrong with a program for this emitter, in one error.
Result<void> check(const Context& context) {
  const Program& p = context.program;
  std::vector<std::string> wrong;
  if (p.target != kernel::Target::Gfx942) {
    wrong.push_back(fmt::format("target {}, need gfx942", name(p.target)));
  }
  if (p.stages.size() != 1) wrong.push_back(fmt::format("{} stages, need 1", p.stages.size()));
  if (p.cluster) wrong.push_back("a cluster, which gfx942 lacks");
  for (const kernel::Tensor& tensor : p.tensors) {
    if (!has_device_type(tensor.dtype)) {
      wrong.push_back(fmt::format("tensor '{}' of type {}", tensor.name, name(tensor.dtype)));
    }
  }
  for (const kernel::Buffer& buffer : p.buffers) {
    const bool plain = buffer.shared.panel == 0 && buffer.shared.swizzle == 0;
    if (!has_device_type(buffer.dtype)) {
      wrong.push_back(fmt::format("buffer '{}' of type {}", buffer.name, name(buffer.dtype)));
    }
    if (!plain) wrong.push_back(fmt::format("buffer '{}' with panels or swizzle", buffer.name));
  }
  if (wrong.empty()) return {};
  return unsupported(context, fmt::format("no lowering for {}", fmt::join(wrong, "; ")));
}

std::string ceil_div(const std::string& extent, int64_t tile) {
  return tile == 1 ? extent : fmt::format("({} + {}) / {}", extent, tile - 1, tile);
}

// The tile of every grid axis of unit `unit`: kernel/geometry.h, UnitMap.
void write_unit(const Context& context, Writer& out) {
  const Program& p = context.program;
  const std::vector<AxisId>& order = p.raster.order;
  for (const AxisId axis : order) {
    out.line(
        "const int tiles_{} = {};", p[axis].name, ceil_div(extent_name(p, axis), p[axis].tile));
  }
  out.line("int rest = unit;");
  size_t next = 0;
  if (p.raster.group > 1 && order.size() > 1) {
    const std::string& x = p[order[0]].name;
    const std::string& y = p[order[1]].name;
    out.line("const int band = rest % (tiles_{} * tiles_{}) / ({} * tiles_{}) * {};",
             x,
             y,
             p.raster.group,
             y,
             p.raster.group);
    out.line("const int width = tiles_{} - band < {} ? tiles_{} - band : {};",
             x,
             p.raster.group,
             x,
             p.raster.group);
    out.line("const int in_band = rest % (tiles_{} * tiles_{}) % ({} * tiles_{});",
             x,
             y,
             p.raster.group,
             y);
    out.line("const int at_{} = (band + in_band % width) * {};", x, p[order[0]].tile);
    out.line("const int at_{} = in_band / width * {};", y, p[order[1]].tile);
    out.line("rest /= tiles_{} * tiles_{};", x, y);
    next = 2;
  }
  for (size_t i = next; i < order.size(); ++i) {
    const kernel::Axis& axis = p[order[i]];
    out.line("const int at_{} = rest % tiles_{} * {};", axis.name, axis.name, axis.tile);
    out.line("rest /= tiles_{};", axis.name);
  }
}

std::string fragment_type(const Program& p, BufferId id, int64_t width) {
  const DType type = p[id].dtype;
  if (width == 1) return std::string(storage(type));
  return type == DType::F32 ? fmt::format("f32x{}", width) : fmt::format("u16x{}", width);
}

void write_fragments(const Context& context, Writer& out) {
  const Program& p = context.program;
  for (size_t i = 0; i < p.buffers.size(); ++i) {
    const auto id = BufferId::from_index(i);
    if (p[id].space != kernel::Space::Fragment) continue;
    const int64_t width = vector_registers(p, id);
    out.line("{} {}[{}];  // {} {}",
             fragment_type(p, id, width),
             buffer_name(p, id),
             p[id].fragment.count(Place::Register) / width,
             name(p[id].dtype),
             kernel::print(p, p[id].fragment));
  }
}

// Writes phases; keeps what the text before has done to LDS.
class Phases {
 public:
  Phases(Context& context, Writer& out)
      : context_(context), out_(out), slots_(context.program.buffers.size(), "0") {}

  Result<void> write(const kernel::Phase& phase) {
    std::vector<Load> shared;
    for (const kernel::Statement& statement : phase.body) {
      const auto* load = std::get_if<Load>(&statement.op);
      if (load != nullptr && in_shared(load->to)) shared.push_back(*load);
    }
    if (!phase.loop) {
      ORR_TRY_VOID(fill_once(shared));
      return write_body(phase);
    }
    out_.begin();
    write_walk(*phase.loop);
    Result<void> result = shared.empty() ? write_loop(phase) : write_ring_loop(phase, shared);
    out_.close();
    return result;
  }

 private:
  bool in_shared(BufferId id) const { return context_.program[id].space == kernel::Space::Shared; }

  // Tiles [first, last) of the loop axis.
  void write_walk(AxisId id) {
    const Program& p = context_.program;
    const kernel::Axis& axis = p[id];
    out_.line("const int tiles = {};", ceil_div(extent_name(p, id), axis.tile));
    if (!axis.parts) return out_.line("const int first = 0, last = tiles;");
    const kernel::Axis& parts = p[*axis.parts];
    out_.line("const int parts = {};", ceil_div(extent_name(p, *axis.parts), parts.tile));
    out_.line("const int share = (tiles + parts - 1) / parts;");
    out_.line("const int first = {} / {} * share;", corner(context_, *axis.parts), parts.tile);
    out_.line("const int last = first + share < tiles ? first + share : tiles;");
  }

  Result<void> write_loop(const kernel::Phase& phase) {
    const kernel::Axis& axis = context_.program[*phase.loop];
    out_.raw("ROLLED");
    out_.open("for (int tile = first; tile < last; ++tile)");
    out_.line("const int at_{} = tile * {};", axis.name, axis.tile);
    context_.moving.insert(*phase.loop);
    ORR_TRY_VOID(write_body(phase));
    context_.moving.erase(*phase.loop);
    out_.close();
    return {};
  }

  // Tile `tile + ahead` is fetched while tile `tile` is computed on. One barrier a trip: after it,
  // the prefetched tile is visible, and the entry it took had been read by everyone.
  Result<void> write_ring_loop(const kernel::Phase& phase, const std::vector<Load>& loads) {
    const Program& p = context_.program;
    const kernel::Axis& axis = p[*phase.loop];
    int64_t ring = p[loads[0].to].ring;
    for (const Load& load : loads) ring = std::min(ring, p[load.to].ring);
    if (ring < 2) return unsupported(context_, "a loop that fills a ring of depth 1");
    for (const Load& load : loads) declare_staging(context_, load, out_);
    context_.moving.insert(*phase.loop);
    before_writing();
    out_.line("// fill the ring");
    out_.raw("ROLLED");
    out_.open("for (int tile = first; tile < first + {} && tile < last; ++tile)", ring - 1);
    out_.line("const int at_{} = tile * {};", axis.name, axis.tile);
    for (const Load& load : loads) write_fetch(context_, load, out_);
    for (const Load& load : loads) write_put(context_, load, "(tile - first)", out_);
    out_.close();
    out_.line("sync();");
    out_.raw("ROLLED");
    out_.open("for (int tile = first; tile < last; ++tile)");
    out_.line("const int slot = (tile - first) % {};", ring);
    out_.line("const bool more = tile + {} < last;", ring - 1);
    out_.open("if (more)");
    out_.line("const int at_{} = (tile + {}) * {};", axis.name, ring - 1, axis.tile);
    for (const Load& load : loads) write_fetch(context_, load, out_);
    out_.close();
    out_.line("const int at_{} = tile * {};", axis.name, axis.tile);
    for (const Load& load : loads) slots_[load.to.index()] = "slot";
    ORR_TRY_VOID(write_body(phase));
    for (const Load& load : loads) slots_[load.to.index()] = "0";
    out_.open("if (more)");
    out_.line("const int into = (tile - first + {}) % {};", ring - 1, ring);
    for (const Load& load : loads) write_put(context_, load, "into", out_);
    out_.close();
    out_.line("sync();");
    out_.close();
    context_.moving.erase(*phase.loop);
    return {};
  }

  // Loads of a phase that runs once come first: nothing could overlap with them.
  Result<void> fill_once(const std::vector<Load>& loads) {
    if (loads.empty()) return {};
    before_writing();
    for (const Load& load : loads) {
      out_.begin();
      declare_staging(context_, load, out_);
      write_fetch(context_, load, out_);
      write_put(context_, load, "0", out_);
      out_.close();
    }
    out_.line("sync();");
    return {};
  }

  // LDS that an earlier phase or unit may still be reading is not overwritten.
  void before_writing() {
    if (written_ || context_.program.persistent) out_.line("sync();");
    written_ = true;
  }

  Result<void> write_body(const kernel::Phase& phase) {
    for (const kernel::Statement& statement : phase.body) {
      const auto* load = std::get_if<Load>(&statement.op);
      if (load != nullptr && in_shared(load->to)) continue;
      out_.line("// {}", kernel::print(context_.program, statement));
      ORR_TRY_VOID(std::visit([&](const auto& op) { return write_op(op); }, statement.op));
    }
    return {};
  }

  Result<void> write_op(const Load& load) {
    write_load(context_, load, out_);
    return {};
  }

  Result<void> write_op(const kernel::Store& store) { return write_store(context_, store, out_); }

  Result<void> write_op(const kernel::Map& map) { return write_map(context_, map, out_); }

  Result<void> write_op(const kernel::Reduce& reduce) {
    return write_reduce(context_, reduce, out_);
  }

  Result<void> write_op(const kernel::Mma& mma) { return write_mma(context_, mma, slots_, out_); }

  Context& context_;
  Writer& out_;
  std::vector<std::string> slots_;  // ring entry that is read, per buffer
  bool written_ = false;
};

std::string parameter(const Program& p, const Argument& argument) {
  if (argument.kind == ArgumentKind::Extent) return "int size_" + argument.symbol;
  const kernel::Tensor& tensor = p[argument.tensor];
  const std::string name = tensor_name(p, argument.tensor);
  if (tensor.access == kernel::Access::Read) {
    return fmt::format("const {}* __restrict {}", storage(tensor.dtype), name);
  }
  return fmt::format("{}* {}", storage(tensor.dtype), name);
}

std::string signature(const Context& context, const std::vector<Argument>& arguments) {
  std::vector<std::string> parameters;
  for (const Argument& argument : arguments) {
    parameters.push_back(parameter(context.program, argument));
  }
  // Waves per SIMD (a CU has 4) bound the registers a wave may take.
  const int64_t waves = context.threads() / 64 * context.program.ctas_per_sm;
  return fmt::format(
      "extern \"C\" __attribute__((global, amdgpu_flat_work_group_size({}, {}), "
      "amdgpu_waves_per_eu({}))) void {}(\n    {})",
      context.threads(),
      context.threads(),
      std::max<int64_t>(1, (waves + 3) / 4),
      context.program.name,
      fmt::join(parameters, ",\n    "));
}

Result<void> write_kernel(Context& context, const std::vector<Argument>& arguments, Writer& out) {
  const Program& p = context.program;
  out.open("{}", signature(context, arguments));
  if (context.plan.total > 0) {
    out.line("static __attribute__((shared, aligned(1024))) char memory[{}];", context.plan.total);
    out.line("const lds_pointer lds = (lds_pointer)&memory[0];");
  }
  out.line("const int thread = (int)__builtin_amdgcn_workitem_id_x();");
  out.line("const int lane = thread % 64;");
  out.line("const int wave = __builtin_amdgcn_readfirstlane(thread / 64);");
  out.line("int unit = (int)__builtin_amdgcn_workgroup_id_x();");
  if (p.persistent) {
    out.line("int units = 1;");
    for (const AxisId axis : p.raster.order) {
      out.line("units *= {};", ceil_div(extent_name(p, axis), p[axis].tile));
    }
    out.line("const int stride = (int)(__builtin_amdgcn_grid_size_x() / {});", context.threads());
    out.raw("ROLLED");
    out.open("for (; unit < units; unit += stride)");
  }
  write_unit(context, out);
  context.moving.insert(p.raster.order.begin(), p.raster.order.end());
  write_fragments(context, out);
  Phases phases(context, out);
  for (const kernel::Phase& phase : p.phases) ORR_TRY_VOID(phases.write(phase));
  if (p.persistent) out.close();
  out.close();
  return {};
}

}  // namespace

std::vector<std::string> compile_options() {
  return {"-x",
          "hip",
          "--offload-arch=gfx942",
          "--cuda-device-only",
          "-nogpuinc",
          "-nogpulib",
          "--no-gpu-bundle-output",
          "-std=c++20",
          "-O3",
          "-c"};
}

Result<Source> emit(const Program& program) {
  Context context{program, kernel::shared_plan(program), {}};
  ORR_TRY_VOID(check(context));
  Source source;
  source.entry = program.name;
  source.arguments = plain_arguments(program);
  Writer out;
  out.line("// Kernel {} for gfx942.", program.name);
  out.paste(prelude());
  out.raw("");
  ORR_TRY_VOID(write_kernel(context, source.arguments, out));
  source.code = out.text();
  source.options = compile_options();
  return source;
}

}  // namespace orrery::emit::hip
