// orrery validate
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "orrery/cli/command.h"
#include "orrery/session/validation_report.h"

namespace orrery::cli {

namespace {

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

class Validate final : public Command {
 public:
  std::string_view name() const override { return "validate"; }

  std::string_view summary() const override { return "predictions against measured tables"; }

  std::string_view examples() const override {
    return "  orrery validate models.csv --machine h200 --out predictions.csv\n"
           "  orrery validate gemm.csv attention.csv --machine h200 --json\n";
  }

  std::vector<Argument> arguments() override {
    return {
        {.name = "files",
         .value = "FILE.csv ...",
         .help = "measured tables, recognised by their header (models.csv: decoders from the "
                 "models.json beside it)",
         .list = &request_.files,
         .required = true},
        {.name = "--machine",
         .value = "M",
         .help = "machine: name, or path of a .toml",
         .text = &request_.machine,
         .required = true},
        {.name = "--out",
         .value = "FILE",
         .help = "write all rows with their predictions (a folder for tables of different columns)",
         .text = &request_.out},
        {.name = "--state",
         .value = "S",
         .help = "clock: burst, steady or mixed [as measured]",
         .text = &state_},
        {.name = "--cache",
         .value = "C",
         .help = "operands of kernels: cold or warm [as measured]",
         .text = &cache_},
        {.name = "--runtime",
         .value = "R",
         .help = "graph or eager, where no column says [as measured]",
         .text = &runtime_},
        {.name = "--by",
         .value = "WHO",
         .help = "who times kernels: cost (closed form) or device (simulated) [cost]",
         .text = &by_},
        {.name = "--given",
         .value = "WHAT",
         .help =
             "what may be read beside the case: kernel, the name of the one that ran (gemm tables)",
         .text = &given_},
        {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
    };
  }

  Result<Answer> run(const session::Session& session) override {
    request_.state = given(state_);
    request_.cache = given(cache_);
    request_.runtime = given(runtime_);
    request_.by = by_.empty() ? request_.by : by_;
    if (!given_.empty() && given_ != "kernel") {
      return make_error(
          ErrorCode::InvalidInput, "[cli.validate] --given: got '{}', need kernel", given_);
    }
    request_.given_kernel = given_ == "kernel";
    ORR_TRY(const auto files, session.validate(request_));
    // Of a file that is mostly not predicted, the scores say little: the answer is no.
    const bool good =
        std::all_of(files.begin(), files.end(), [](const session::ValidatedFile& file) {
          return 2 * file.validation.predicted >=
                 static_cast<int64_t>(file.validation.table.rows.size());
        });
    return Answer{json_ ? session::to_json(files) : session::to_text(files), good ? 0 : 1};
  }

 private:
  session::ValidateRequest request_;
  std::string state_;
  std::string cache_;
  std::string runtime_;
  std::string by_;
  std::string given_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> validate_command() {
  return std::make_unique<Validate>();
}

}  // namespace orrery::cli
