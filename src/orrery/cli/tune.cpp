// orrery tune
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "orrery/cli/command.h"
#include "orrery/cli/numbers.h"
#include "orrery/cli/output.h"
#include "orrery/session/files.h"

namespace orrery::cli {

namespace {

/// "gemm.cu" -> "gemm.2.cu", for the second kernel of a configuration.
std::string numbered(const std::string& path, size_t number) {
  const size_t dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && path.find('/', dot) == std::string::npos;
  const std::string suffix = has_suffix ? path.substr(dot) : "";
  return path.substr(0, path.size() - suffix.size()) + "." + std::to_string(number) + suffix;
}

class Tune final : public Command {
 public:
  std::string_view name() const override { return "tune"; }

  std::string_view summary() const override {
    return "kernel configurations ranked by predicted time, and the best one's source";
  }

  std::string_view examples() const override {
    return "  orrery tune gemm m=4096 n=4096 k=4096 --machine h200 --top 5\n"
           "  orrery tune gemm m=4096 n=4096 k=4096 --machine h200 --emit gemm.cu --target cuda\n"
           "  orrery tune decode_attention batch=32 heads=32 kv_heads=8 seq_kv=4096 --machine "
           "h200\n"
           "  orrery tune add_rms_norm rows=4096 cols=4096 --machine mi300x --emit norm.hip "
           "--target hip\n";
  }

  std::vector<Argument> arguments() override {
    return {
        {.name = "subject",
         .value = "OP key=value ...",
         .help = "gemm, add_rms_norm or decode_attention, with its sizes",
         .list = &subject_,
         .required = true},
        {.name = "--machine",
         .value = "M",
         .help =
             "machine, of architecture sm_90a (h100, h200) or gfx942 (mi300x, mi325x): name, or "
             "path of a .toml",
         .text = &request_.machine,
         .required = true},
        {.name = "--top", .value = "K", .help = "how many to list [10]", .text = &top_},
        {.name = "--state",
         .value = "S",
         .help = "clock: burst, steady or mixed [mixed]",
         .text = &state_},
        {.name = "--emit",
         .value = "FILE",
         .help = "write the best configuration's source; a second kernel goes to FILE.2",
         .text = &emit_},
        {.name = "--target",
         .value = "T",
         .help = "of the source: cuda, hip, cpu or text [text]",
         .text = &request_.target},
        {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
    };
  }

  Result<Answer> run(const session::Session& session) override {
    request_.op = subject_[0];
    request_.arguments.assign(subject_.begin() + 1, subject_.end());
    request_.state = state_.empty() ? request_.state : state_;
    if (!top_.empty()) {
      ORR_TRY(request_.top, whole("--top", top_, 1, int64_t{1} << 20));
    }
    if (emit_.empty() && !request_.target.empty()) {
      return make_error(ErrorCode::InvalidInput,
                        "[cli] --target: got '{}' without --emit, need a file to write to",
                        request_.target);
    }
    if (!emit_.empty() && request_.target.empty()) {
      request_.target = "text";
    }
    ORR_TRY(const session::Tuning tuning, session.tune(request_));
    for (size_t i = 0; i < tuning.sources.size(); ++i) {
      const std::string path = i == 0 ? emit_ : numbered(emit_, i + 1);
      ORR_TRY_VOID(check_output("--emit", path, {request_.machine}));
      ORR_TRY_VOID(write_file(path, tuning.sources[i].code));
    }
    return Answer{json_ ? session::to_json(tuning) : session::to_text(tuning), 0};
  }

 private:
  session::TuneRequest request_;
  std::vector<std::string> subject_;
  std::string top_;
  std::string state_;
  std::string emit_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> tune_command() {
  return std::make_unique<Tune>();
}

}  // namespace orrery::cli
