// Rules flow and unused: values are written before they are read, and everything declared is used.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/kernel/verify_internal.h"

namespace orrery::kernel::detail {
namespace {

// What is known about a buffer at some statement.
struct State {
  bool written = false;
  bool staged = false;  // serves stores
  bool read = false;
  const Phase* filled = nullptr;      // the loop in which loads run ahead to fill it
  const Phase* written_in = nullptr;  // the phase that wrote it first
};

class Flow {
 public:
  Flow(const Program& program, Report& report)
      : program_(program), report_(report), buffers_(program.buffers.size()) {}

  void run() {
    for (const Phase& phase : program_.phases) {
      for (const Statement& statement : phase.body) {
        const Site site{program_, phase, statement};
        for_each_buffer(statement.op, [&](BufferId id, Use use) { this->use(site, id, use); });
      }
      if (phase.loop && program_[*phase.loop].parts) forget_values_of(phase);
    }
    check_buffers();
  }

 private:
  void use(const Site& site, BufferId id, Use use) {
    State& state = buffers_[id.index()];
    if (use == Use::Read || use == Use::Update) check_written(site, id, state);
    if (use == Use::Read) state.read = true;
    if (use == Use::Staging) state.staged = true;
    if (use == Use::Write || use == Use::Update) {
      if (!state.written) state.written_in = &site.phase;
      state.written = true;
      if (runs_ahead(site, id)) state.filled = &site.phase;
    }
  }

  void check_written(const Site& site, BufferId id, State& state) {
    if (!state.written) {
      report_.add("flow",
                  site.who(),
                  "got {} before it is written, need a value{}",
                  program_[id].name,
                  site.phase.loop ? " from before the loop" : "");
      state.written = true;  // say it once
    }
    if (state.filled != nullptr && state.filled != &site.phase) {
      report_.add("flow",
                  site.who(),
                  "got {} after the loop whose loads fill it, need it read there",
                  program_[id].name);
    }
  }

  // Loads that run ahead of their readers give the buffer back when the loop ends.
  bool runs_ahead(const Site& site, BufferId id) const {
    return site.phase.loop.has_value() && std::holds_alternative<Load>(site.statement.op) &&
           (program_[id].ring > 1 || site.stage().kind == StageKind::Producer);
  }

  // A part of a divided walk may have no tiles: what only such a loop writes may never be written.
  void forget_values_of(const Phase& phase) {
    for (State& state : buffers_) {
      if (state.written_in == &phase) state.written = false;
    }
  }

  void check_buffers() {
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const State& state = buffers_[i];
      const std::string& name = program_.buffers[i].name;
      if (!state.read && !state.staged) {
        report_.add("unused", fmt::format("buffer {}", name), "got no reader, need one");
      }
      if (state.staged && (state.read || state.written)) {
        report_.add("flow",
                    fmt::format("buffer {}", name),
                    "got other uses beside staging stores, need a buffer of its own");
      }
      if (!state.staged && program_.buffers[i].shared.resident > 0) {
        report_.add("shared",
                    fmt::format("buffer {}", name),
                    "got resident panels without staging a store, need all panels");
      }
    }
  }

  const Program& program_;
  Report& report_;
  std::vector<State> buffers_;
};

// Which tensors are read and written, and which axes and stages appear at all.
class Census {
 public:
  explicit Census(const Program& program)
      : program_(program),
        reads_(program.tensors.size()),
        writes_(program.tensors.size()),
        axes_(program.axes.size()),
        stages_(program.stages.size()) {}

  void count() {
    for (const Tensor& tensor : program_.tensors) count(tensor.axes);
    for (const Buffer& buffer : program_.buffers) count(buffer.axes);
    for (const Axis& axis : program_.axes) {
      if (axis.parts) axes_[axis.parts->index()] = true;
    }
    for_each_statement(program_, [&](const Site& site) { count(site); });
  }

  void check(Report& report) const {
    for (size_t i = 0; i < program_.tensors.size(); ++i) check_tensor(i, report);
    for (size_t i = 0; i < program_.axes.size(); ++i) {
      if (!axes_[i]) unused("axis", program_.axes[i].name, report);
    }
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      if (!stages_[i]) unused("stage", program_.stages[i].name, report);
    }
  }

 private:
  static void unused(std::string_view what, std::string_view name, Report& report) {
    report.add("unused", fmt::format("{} {}", what, name), "got no use, need one");
  }

  void count(const std::vector<AxisId>& axes) {
    for (const AxisId axis : axes) axes_[axis.index()] = true;
  }

  void count(const Site& site) {
    stages_[site.statement.stage.index()] = true;
    const Op& op = site.statement.op;
    if (const auto* load = std::get_if<Load>(&op)) reads_[load->from.index()] = true;
    if (const auto* store = std::get_if<Store>(&op)) writes_[store->to.index()] = true;
    if (const auto* map = std::get_if<Map>(&op)) count(map->value);
    if (const auto* reduce = std::get_if<Reduce>(&op)) count(reduce->value);
  }

  void count(const Expr& value) {
    for (const ExprNode& node : value.nodes) {
      if (node.op == ExprOp::Tensor) reads_[node.tensor.index()] = true;
    }
  }

  void check_tensor(size_t index, Report& report) const {
    const Tensor& tensor = program_.tensors[index];
    const auto who = [&] { return fmt::format("tensor {}", tensor.name); };
    if (tensor.access != Access::Write && !reads_[index]) {
      report.add("unused", who(), "got no reader, need one or access write");
    }
    if (tensor.access != Access::Read && !writes_[index]) {
      report.add("unused", who(), "got no store, need one or access read");
    }
  }

  const Program& program_;
  std::vector<bool> reads_;
  std::vector<bool> writes_;
  std::vector<bool> axes_;
  std::vector<bool> stages_;
};

}  // namespace

void verify_flow(const Program& program, Report& report) {
  Flow(program, report).run();
  Census census(program);
  census.count();
  census.check(report);
}

}  // namespace orrery::kernel::detail
