// The CUDA emitter: puts the sections of a kernel together.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cuda/emit.h"

#include <algorithm>

#include "orrery/emit/cuda/prelude_internal.h"
#include "orrery/emit/cuda/scope_internal.h"

namespace orrery::emit::cuda {
namespace {

/// Is the tensor reached by something else than a tensor copy?
bool needs_pointer(const kernel::Program& program, TensorId tensor) {
  const auto reads = [&](const kernel::Expr& value) {
    return std::any_of(value.nodes.begin(), value.nodes.end(), [&](const kernel::ExprNode& node) {
      return node.op == kernel::ExprOp::Tensor && node.tensor == tensor;
    });
  };
  for (const auto& phase : program.phases) {
    for (const auto& statement : phase.body) {
      const auto* load = std::get_if<kernel::Load>(&statement.op);
      if (load != nullptr && load->from == tensor && program[load->to].space == Space::Fragment) {
        return true;
      }
      const auto* store = std::get_if<kernel::Store>(&statement.op);
      if (store != nullptr && store->to == tensor && !store->via) return true;
      const auto* map = std::get_if<kernel::Map>(&statement.op);
      if (map != nullptr && reads(map->value)) return true;
      const auto* reduce = std::get_if<kernel::Reduce>(&statement.op);
      if (reduce != nullptr && reads(reduce->value)) return true;
    }
  }
  return false;
}

void add_arguments(Source& source, const Context& context) {
  for (size_t m = 0; m < context.maps.size(); ++m) {
    source.maps.push_back(context.maps[m].map);
    source.arguments.push_back({ArgumentKind::TensorMap, context.maps[m].map.tensor, m, ""});
  }
  for (size_t t = 0; t < context.program.tensors.size(); ++t) {
    const TensorId id = TensorId::from_index(t);
    if (needs_pointer(context.program, id)) {
      source.arguments.push_back({ArgumentKind::Pointer, id, 0, ""});
    }
  }
  for (const std::string& symbol : symbols(context.program)) {
    source.arguments.push_back({ArgumentKind::Extent, {}, 0, symbol});
  }
}

std::string parameter_text(const Context& context, const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::TensorMap:
      return fmt::format("const __grid_constant__ TensorMap {}", context.maps[argument.map].name);
    case ArgumentKind::Pointer: {
      const auto& tensor = context.program[argument.tensor];
      // A tensor that is read and written may alias nothing else, but reads must see the writes.
      return fmt::format("{}{}* {}{}",
                         tensor.access == Access::Read ? "const " : "",
                         element_type(tensor.dtype),
                         tensor.access == Access::ReadWrite ? "" : "__restrict__ ",
                         tensor_name(context.program, argument.tensor));
    }
    case ArgumentKind::Extent:
      return fmt::format("int size_{}", argument.symbol);
  }
  return "";
}

void write_signature(Writer& out, const Context& context, const Source& source) {
  out.line("extern \"C\" __global__ void __launch_bounds__({}, {})",
           context.threads(),
           context.program.ctas_per_sm);
  std::string text = source.entry + "(";
  for (size_t a = 0; a < source.arguments.size(); ++a) {
    text += (a == 0 ? "" : ",\n    ") + parameter_text(context, source.arguments[a]);
  }
  out.open("{})", text);
}

void write_shared_memory(Writer& out, const Context& context) {
  if (context.plan.total == 0) return;
  out.raw("extern __shared__ u8 dynamic[];");
  if (context.plan.slots.empty()) {
    out.raw("u8* const memory = dynamic;");
  } else {
    out.raw("u8* const memory = dynamic + (-shared_address(dynamic) & 1023u);");
  }
  out.raw("const u32 shared = shared_address(memory);");
}

/// Barriers are initialised by one thread, and seen by all (of the cluster) before anything else
/// happens.
void write_barriers(Writer& out, const Context& context) {
  if (context.rings.empty()) return;
  out.open("if (threadIdx.x == 0)");
  for (const MapUse& map : context.maps) out.line("prefetch_map(&{});", map.name);
  for (const Ring& ring : context.rings) {
    out.open("for (int i = 0; i < {}; ++i)", ring.group.ring);
    out.line("barrier_init(shared + {} + i * 8, 1);", ring.full);
    out.line("barrier_init(shared + {} + i * 8, {});", ring.empty, ring.releases);
    out.close();
  }
  out.raw("barrier_init_fence();");
  out.close();
  out.raw("__syncwarp();");
  out.raw(context.cluster() > 1 ? "cluster_sync();" : "__syncthreads();");
}

/// setmaxnreg works on whole warpgroups, and only if every stage says what it needs.
bool reassigns_registers(const kernel::Program& program) {
  return program.stages.size() > 1 &&
         std::all_of(program.stages.begin(), program.stages.end(), [](const auto& stage) {
           return stage.registers > 0 && stage.warps % kWarpgroup == 0;
         });
}

void write_registers(Writer& out, const Context& context, StageId stage) {
  if (!reassigns_registers(context.program)) return;
  // What a thread gets at launch (PTX ISA, setmaxnreg): an even share of 65,536 registers, a
  // multiple of 8.
  const int64_t share = 65536 / context.threads() / 8 * 8;
  const int64_t wanted = context.program[stage].registers;
  if (wanted != share) out.line("registers_{}<{}>();", wanted < share ? "down" : "up", wanted);
}

/// The code of one stage, as the body of its branch.
Result<std::string> stage_text(Context& context, StageId stage) {
  const bool producer = context.program[stage].kind == StageKind::Producer;
  Scope scope(context, stage);
  scope.out = Writer(producer ? 4 : 3);
  ORR_TRY_VOID(producer ? lower_producer(scope) : lower_consumer(scope));
  Writer out(2);
  write_registers(out, context, stage);
  if (context.first_warp(stage) > 0) {
    out.line("const int warp = cta_warp - {};", context.first_warp(stage));
  } else {
    out.raw("const int warp = cta_warp;");
  }
  if (producer) out.open("if (warp == 0 && lane == 0)");
  for (const auto& [name, line] : scope.ahead) out.raw(line);
  open_units(out, context);
  out.paste(scope.out.text());
  out.close();
  if (producer) {
    out.close();
    out.raw("__syncwarp();");
  } else if (!context.store_ranks.empty()) {
    out.raw("if (lane == 0) stores_have_read<0>();");
    out.raw("__syncwarp();");
  }
  return out.text();
}

Result<std::vector<std::string>> stage_texts(Context& context) {
  std::vector<std::string> texts;
  for (size_t s = 0; s < context.program.stages.size(); ++s) {
    ORR_TRY(std::string text, stage_text(context, StageId::from_index(s)));
    texts.push_back(std::move(text));
  }
  return texts;
}

void write_stages(Writer& out, const Context& context, const std::vector<std::string>& texts) {
  for (size_t s = 0; s < texts.size(); ++s) {
    const int64_t end =
        context.first_warp(StageId::from_index(s)) + context.program.stages[s].warps;
    const bool last = s + 1 == texts.size();
    const std::string head = last ? "" : fmt::format("if (cta_warp < {})", end);
    if (s == 0) {
      out.open("{}", head);
    } else {
      out.otherwise(last ? "else" : "else " + head);
    }
    out.line("// stage {}", context.program.stages[s].name);
    out.paste(texts[s]);
  }
  out.close();
}

}  // namespace

Result<Source> emit(const kernel::Program& program) {
  ORR_TRY(Context context, make_context(program));
  // The stages come first: they find out which maps, copies and instructions the sections before
  // them declare.
  ORR_TRY(const std::vector<std::string> stages, stage_texts(context));
  Source source;
  source.entry = "orrery_" + program.name;
  source.options = {"--gpu-architecture=sm_90a", "--std=c++20"};
  add_arguments(source, context);
  Writer out;
  out.line("// {}: generated by orrery from a kernel program.", program.name);
  out.paste(prelude(context));
  out.raw("");
  write_signature(out, context, source);
  write_shared_memory(out, context);
  out.raw("const int cta_warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;");
  declare_units(out, context);
  write_barriers(out, context);
  out.raw("wait_for_previous_kernel();");
  out.raw("let_next_kernel_start();");
  write_stages(out, context, stages);
  if (context.cluster() > 1) out.raw("cluster_sync();");
  out.close();
  source.code = out.text();
  return source;
}

}  // namespace orrery::emit::cuda
