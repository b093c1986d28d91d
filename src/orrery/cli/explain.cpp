// orrery explain
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/command.h"
#include "orrery/cli/predict_options.h"

namespace orrery::cli {

namespace {

class Explain final : public Command {
 public:
  std::string_view name() const override { return "explain"; }

  std::string_view summary() const override {
    return "a prediction with its reasons: every step, kernel, term and why";
  }

  std::string_view examples() const override {
    return "  orrery explain llama-3.1-8b --machine h200 --batch 32 --context 1024\n"
           "  orrery explain gemm m=16 n=4096 k=14336 --machine h200\n";
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = options_.arguments(Takes::One);
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
    return options_.predict(session, machine_, report::Detail::Explained);
  }

 private:
  PredictOptions options_;
  std::string machine_;
};

}  // namespace

std::unique_ptr<Command> explain_command() {
  return std::make_unique<Explain>();
}

}  // namespace orrery::cli
