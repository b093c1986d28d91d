// orrery predict
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/command.h"
#include "orrery/cli/predict_options.h"

namespace orrery::cli {

namespace {

class Predict final : public Command {
 public:
  std::string_view name() const override { return "predict"; }

  std::string_view summary() const override { return "the time of a model's step or an operator"; }

  std::string_view examples() const override {
    return "  orrery predict llama-3.1-8b --machine h200 --phase decode --batch 32 --context 1024\n"
           "  orrery predict ./config.json --machine h200 --phase prefill --seq 2048 --json\n"
           "  orrery predict gemm m=4096 n=4096 k=4096 dtype=bf16 --machine h200\n"
           "  orrery predict llama-3.1-8b --machine h200 --batch 1..256x2 --context 1024,8192\n"
           "  orrery predict gemm m=1..4096x2 n=4096 k=4096 dtype=bf16,fp8 --machine h200 --csv\n";
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = options_.arguments(Takes::Sweeps);
    all.insert(all.begin() + 1,
               {.name = "--machine",
                .value = "M",
                .help = "machine: name, or path of a .toml",
                .text = &machine_,
                .required = true});
    return all;
  }

  Result<Answer> run(const session::Session& session) override {
    ORR_TRY_VOID(check_one_machine(machine_));
    return options_.is_sweep() ? options_.sweep(session, {machine_})
                               : options_.predict(session, machine_, report::Detail::Summary);
  }

 private:
  PredictOptions options_;
  std::string machine_;
};

}  // namespace

std::unique_ptr<Command> predict_command() {
  return std::make_unique<Predict>();
}

}  // namespace orrery::cli
