// orrery machines
// SPDX-License-Identifier: Apache-2.0
#include "orrery/base/text.h"
#include "orrery/cli/command.h"
#include "orrery/report/machine_report.h"

namespace orrery::cli {

namespace {

class Machines final : public Command {
 public:
  std::string_view name() const override { return "machines"; }

  std::string_view summary() const override {
    return "known machines, or every number of one with its source";
  }

  std::string_view examples() const override {
    return "  orrery machines\n"
           "  orrery machines show h200\n"
           "  orrery machines page h200\n";
  }

  std::vector<Argument> arguments() override {
    return {
        {.name = "words",
         .value = "[show|page MACHINE]",
         .help = "one machine's numbers, as a table or as a page of Markdown",
         .list = &words_},
        {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
    };
  }

  Result<Answer> run(const session::Session& session) override {
    if (words_.empty()) {
      ORR_TRY(const auto machines, session.catalog().machines());
      return Answer{json_ ? report::to_json(machines) : report::to_text(machines), 0};
    }
    const bool page = words_[0] == "page";
    if (words_.size() != 2 || (words_[0] != "show" && !page)) {
      return make_error(ErrorCode::InvalidInput,
                        "[cli] machines: got '{}', need nothing, 'show MACHINE' or 'page MACHINE'",
                        join(words_, " "));
    }
    if (page && json_) {
      return make_error(ErrorCode::InvalidInput,
                        "[cli] --json: does not belong to a page, need 'show MACHINE'");
    }
    ORR_TRY(const machine::Machine machine, session.catalog().machine(words_[1]));
    return Answer{page    ? report::to_page(machine)
                  : json_ ? report::to_json(machine)
                          : report::to_text(machine),
                  0};
  }

 private:
  std::vector<std::string> words_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> machines_command() {
  return std::make_unique<Machines>();
}

}  // namespace orrery::cli
