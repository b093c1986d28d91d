// orrery simulate
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/file.h"
#include "orrery/cli/command.h"
#include "orrery/cli/output.h"
#include "orrery/report/simulation_report.h"
#include "orrery/report/trace.h"

namespace orrery::cli {

namespace {

class Simulate final : public Command {
 public:
  std::string_view name() const override { return "simulate"; }

  std::string_view summary() const override {
    return "an operator on the simulated GPU: what every SM does, counters, a trace";
  }

  std::string_view examples() const override {
    return "  orrery simulate gemm m=4096 n=4096 k=4096 --machine h200 --counters\n"
           "  orrery simulate attention batch=1 heads=32 kv_heads=8 seq_q=2048 seq_kv=2048 "
           "head_dim=128 causal=1 --machine h200 --trace attention.json\n";
  }

  std::vector<Argument> arguments() override {
    return {
        {.name = "subject",
         .value = "OP key=value ...",
         .help = "an operator with its sizes (`orrery ops` lists them)",
         .list = &subject_,
         .required = true},
        {.name = "--machine",
         .value = "M",
         .help = "machine: name, or path of a .toml",
         .text = &request_.machine,
         .required = true},
        {.name = "--state",
         .value = "S",
         .help = "clock: burst, steady or mixed [mixed]",
         .text = &state_},
        {.name = "--cache", .value = "C", .help = "operands: cold or warm [cold]", .text = &cache_},
        {.name = "--counters",
         .value = "",
         .help = "list counters by the names of Nsight Compute",
         .flag = &request_.counters},
        {.name = "--trace",
         .value = "FILE",
         .help = "write a trace that ui.perfetto.dev opens",
         .text = &trace_},
        {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
    };
  }

  Result<Answer> run(const session::Session& session) override {
    request_.op = subject_[0];
    request_.arguments.assign(subject_.begin() + 1, subject_.end());
    request_.state = state_.empty() ? request_.state : state_;
    request_.cache = cache_.empty() ? request_.cache : cache_;
    if (!trace_.empty()) {
      ORR_TRY_VOID(check_output("--trace", trace_, {request_.machine}));
    }
    ORR_TRY(const report::SimulationReport report, session.simulate(request_));
    if (!trace_.empty()) {
      ORR_TRY_VOID(write_file(trace_, report::to_trace(report.kernels, report.chip)));
    }
    return Answer{json_ ? report::to_json(report) : report::to_text(report), 0};
  }

 private:
  session::SimulateRequest request_;
  std::vector<std::string> subject_;
  std::string state_;
  std::string cache_;
  std::string trace_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> simulate_command() {
  return std::make_unique<Simulate>();
}

}  // namespace orrery::cli
