// orrery models, orrery ops
// SPDX-License-Identifier: Apache-2.0
#include "orrery/cli/command.h"
#include "orrery/session/list_report.h"

namespace orrery::cli {

namespace {

class Models final : public Command {
 public:
  std::string_view name() const override { return "models"; }

  std::string_view summary() const override {
    return "known models, or the counts and layers of one";
  }

  std::string_view examples() const override {
    return "  orrery models\n"
           "  orrery models show deepseek-v3\n";
  }

  std::vector<Argument> arguments() override {
    return {
        {.name = "words",
         .value = "[show MODEL]",
         .help = "one model, by name or the path of a config.json or of its folder",
         .list = &words_},
        {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
    };
  }

  Result<Answer> run(const session::Session& session) override {
    if (words_.empty()) {
      ORR_TRY(std::string text, session::models_report(session.catalog(), json_));
      return Answer{std::move(text), 0};
    }
    if (words_.size() != 2 || words_[0] != "show") {
      return make_error(ErrorCode::InvalidInput,
                        "[cli] models: got '{}', need nothing or 'show MODEL'",
                        words_[0]);
    }
    ORR_TRY(std::string text, session::model_report(session.catalog(), words_[1], json_));
    return Answer{std::move(text), 0};
  }

 private:
  std::vector<std::string> words_;
  bool json_ = false;
};

class Ops final : public Command {
 public:
  std::string_view name() const override { return "ops"; }

  std::string_view summary() const override { return "operators and their arguments"; }

  std::string_view examples() const override { return "  orrery ops\n"; }

  std::vector<Argument> arguments() override {
    return {{.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_}};
  }

  Result<Answer> run(const session::Session& /*session*/) override {
    return Answer{session::operators_report(json_), 0};
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> models_command() {
  return std::make_unique<Models>();
}

std::unique_ptr<Command> ops_command() {
  return std::make_unique<Ops>();
}

}  // namespace orrery::cli
