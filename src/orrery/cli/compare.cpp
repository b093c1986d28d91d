// orrery compare
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/text.h"
#include "orrery/cli/command.h"
#include "orrery/cli/predict_options.h"

namespace orrery::cli {

namespace {

class Compare final : public Command {
 public:
  std::string_view name() const override { return "compare"; }

  std::string_view summary() const override {
    return "a model's step or an operator on several machines, side by side";
  }

  std::string_view examples() const override {
    return "  orrery compare llama-3.1-8b --machines h100,h200 --batch 32 --context 4096\n"
           "  orrery compare llama-3.1-8b --machines h100,h200 --batch 1..256x2\n"
           "  orrery compare gemm m=1..4096x2 n=4096 k=4096 --machines h100,h200 --csv\n";
  }

  std::vector<Argument> arguments() override {
    std::vector<Argument> all = options_.arguments(Takes::Sweeps);
    all.insert(all.begin() + 1,
               {.name = "--machines",
                .value = "M,M,...",
                .help = "machines: names, or paths of .toml files",
                .text = &machines_,
                .required = true});
    return all;
  }

  Result<Answer> run(const session::Session& session) override {
    std::vector<std::string> machines;
    for (const std::string_view machine : split(machines_, ',')) {
      machines.emplace_back(trim(machine));
    }
    return options_.compare(session, machines);
  }

 private:
  PredictOptions options_;
  std::string machines_;
};

}  // namespace

std::unique_ptr<Command> compare_command() {
  return std::make_unique<Compare>();
}

}  // namespace orrery::cli
