// The CPU emitter: the function around the statements, with its loops over units and tiles.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/emit/cpu/emit.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "orrery/emit/cpu/statement_internal.h"
#include "orrery/emit/cpu/types_internal.h"
#include "orrery/emit/naming.h"
#include "orrery/emit/writer.h"

namespace orrery::emit::cpu {
namespace {

using kernel::AxisId;
using kernel::Program;

Result<void> check_types(const Program& program) {
  std::vector<std::string> wrong;
  for (const kernel::Tensor& tensor : program.tensors) {
    if (!has_host_type(tensor.dtype)) {
      wrong.push_back(fmt::format("tensor '{}' is {}", tensor.name, name(tensor.dtype)));
    }
  }
  for (const kernel::Buffer& buffer : program.buffers) {
    if (!has_host_type(buffer.dtype)) {
      wrong.push_back(fmt::format("buffer '{}' is {}", buffer.name, name(buffer.dtype)));
    }
  }
  if (wrong.empty()) return {};
  return make_error(ErrorCode::Unsupported,
                    "[emit.cpu] kernel '{}' has element types without a host form: got {}, need "
                    "f32, f16, bf16 or i32",
                    program.name,
                    fmt::join(wrong, ", "));
}

Result<void> check_accumulators(const Program& program) {
  for (const kernel::Phase& phase : program.phases) {
    for (const kernel::Statement& statement : phase.body) {
      const auto* mma = std::get_if<kernel::Mma>(&statement.op);
      if (mma != nullptr && program[mma->acc].dtype != DType::F32) {
        return make_error(ErrorCode::Unsupported,
                          "[emit.cpu] accumulator '{}' of kernel '{}': got {}, need f32",
                          program[mma->acc].name,
                          program.name,
                          name(program[mma->acc].dtype));
      }
    }
  }
  return {};
}

std::string parameter(const Program& program, const Argument& argument) {
  if (argument.kind == ArgumentKind::Extent) return "int32_t size_" + argument.symbol;
  const kernel::Tensor& tensor = program[argument.tensor];
  return fmt::format("{}{}* {}",
                     tensor.access == kernel::Access::Read ? "const " : "",
                     storage(tensor.dtype),
                     tensor_name(program, argument.tensor));
}

// The same argument, read through the address of it.
std::string unpacked(const Program& program, const Argument& argument, size_t index) {
  if (argument.kind == ArgumentKind::Extent) {
    return fmt::format("*static_cast<const int32_t*>(arguments[{}])", index);
  }
  const kernel::Tensor& tensor = program[argument.tensor];
  return fmt::format("*static_cast<{}{}* const*>(arguments[{}])",
                     tensor.access == kernel::Access::Read ? "const " : "",
                     storage(tensor.dtype),
                     index);
}

std::string ceil_div(const std::string& extent, int64_t tile) {
  return tile == 1 ? extent : fmt::format("({} + {}) / {}", extent, tile - 1, tile);
}

void open_loop(const Program& program, AxisId axis, Writer& out) {
  const kernel::Axis& a = program[axis];
  const std::string at = corner_name(program, axis);
  const std::string extent = extent_name(program, axis);
  if (!a.parts) {
    return out.open("for (int64_t {} = 0; {} < {}; {} += {})", at, at, extent, at, a.tile);
  }
  // Part i of P walks tiles [i * c, (i + 1) * c) with c = ceil(tiles / P).
  const kernel::Axis& parts = program[*a.parts];
  out.line("const int64_t tiles_{} = {};", a.name, ceil_div(extent, a.tile));
  out.line(
      "const int64_t parts_{} = {};", a.name, ceil_div(extent_name(program, *a.parts), parts.tile));
  out.line("const int64_t share_{} = (tiles_{} + parts_{} - 1) / parts_{} * {};",
           a.name,
           a.name,
           a.name,
           a.name,
           a.tile);
  out.line("const int64_t first_{} = {} / {} * share_{};",
           a.name,
           corner_name(program, *a.parts),
           parts.tile,
           a.name);
  out.line(
      "const int64_t last_{} = smaller({}, first_{} + share_{});", a.name, extent, a.name, a.name);
  out.open(
      "for (int64_t {} = first_{}; {} < last_{}; {} += {})", at, a.name, at, a.name, at, a.tile);
}

void write_phase(const Program& program, const kernel::Phase& phase, Scope scope, Writer& out) {
  if (phase.loop) {
    out.begin();  // names of the walk are its own
    open_loop(program, *phase.loop, out);
    scope.moving.insert(*phase.loop);
  }
  for (const kernel::Statement& statement : phase.body) write_statement(scope, statement, out);
  if (phase.loop) {
    out.close();
    out.close();
  }
}

void write_buffers(const Program& program, Writer& out) {
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const auto id = kernel::BufferId::from_index(i);
    int64_t size = 1;
    std::vector<std::string> axes;
    for (const AxisId axis : program[id].axes) {
      size *= program[axis].tile;
      axes.push_back(program[axis].name);
    }
    out.line("Tile {}({});  // {} [{}]",
             buffer_name(program, id),
             size,
             name(program[id].dtype),
             fmt::join(axes, ", "));
  }
}

void write_units(const Program& program, const Options& options, Writer& out) {
  Scope scope{program, {}};
  const std::vector<AxisId>& order = program.raster.order;
  if (options.openmp && !order.empty()) {
    out.line("#pragma omp parallel for collapse({})", order.size());
  }
  for (size_t i = order.size(); i-- > 0;) {  // the fastest axis innermost
    const std::string at = corner_name(program, order[i]);
    out.open("for (int64_t {} = 0; {} < {}; {} += {})",
             at,
             at,
             extent_name(program, order[i]),
             at,
             program[order[i]].tile);
    scope.moving.insert(order[i]);
  }
  write_buffers(program, out);
  for (const kernel::Phase& phase : program.phases) write_phase(program, phase, scope, out);
  for (size_t i = 0; i < order.size(); ++i) out.close();
}

std::string write_source(const Program& program,
                         const Options& options,
                         const std::vector<Argument>& arguments) {
  std::vector<std::string> parameters;
  std::vector<std::string> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    parameters.push_back(parameter(program, arguments[i]));
    values.push_back(unpacked(program, arguments[i], i));
  }
  Writer out;
  out.line("// Kernel {} for the CPU. Values are binary32, rounded where they are assigned.",
           program.name);
  out.paste(prelude());
  out.raw("");
  out.open("extern \"C\" void {}({})", program.name, fmt::join(parameters, ", "));
  write_units(program, options, out);
  out.close();
  out.raw("");
  out.line("// The same with the address of every argument.");
  out.open("extern \"C\" void {}_packed(void** arguments)", program.name);
  out.line("{}({});", program.name, fmt::join(values, ", "));
  out.close();
  return out.text();
}

}  // namespace

Result<Source> emit(const Program& program, const Options& options) {
  ORR_TRY_VOID(check_types(program));
  ORR_TRY_VOID(check_accumulators(program));
  Source source;
  source.entry = program.name;
  source.arguments = plain_arguments(program);
  source.code = write_source(program, options, source.arguments);
  // No fused multiply-adds; and functions of constants are left to the C library, as the
  // interpreter does.
  source.options = {"-std=c++20", "-O2", "-ffp-contract=off", "-fno-builtin"};
  if (options.openmp) source.options.push_back("-fopenmp");
  return source;
}

}  // namespace orrery::emit::cpu
