// orrery calibrate
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/calibrate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <ctime>

#include "orrery/base/text.h"
#include "orrery/cli/command.h"
#include "orrery/cli/output.h"

namespace orrery::cli {

namespace {

/// YYYY-MM-DD, in UTC.
std::string today() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// One line a benchmark: a calibration takes long enough that a log of it should say where it is.
void show(std::string_view name, size_t done, size_t all) {
  std::fputs(fmt::format("calibrate: {} ({} of {})\n", name, done + 1, all).c_str(), stderr);
}

class Calibrate final : public Command {
 public:
  std::string_view name() const override { return "calibrate"; }

  std::string_view summary() const override {
    return "measures a machine file's numbers on the GPU of this computer";
  }

  std::string_view examples() const override {
    return "  orrery calibrate --out mine.toml --report mine.md\n"
           "  orrery calibrate --like h100 --only dram,l2 --json\n"
           "  orrery calibrate --list\n";
  }

  std::vector<Argument> arguments() override {
    return {
        {.name = "--like",
         .value = "M",
         .help = "machine whose numbers stand in for those not measured: name, or path of a .toml "
                 "[by the GPU's name]",
         .text = &request_.like},
        {.name = "--only", .value = "A,B", .help = "these benchmarks [all]", .text = &only_},
        {.name = "--list", .value = "", .help = "list the benchmarks", .flag = &list_},
        {.name = "--out", .value = "FILE", .help = "write the machine file", .text = &request_.out},
        {.name = "--report",
         .value = "FILE",
         .help = "write the report as Markdown",
         .text = &request_.report},
        {.name = "--force",
         .value = "",
         .help = "replace files that are there",
         .flag = &request_.force},
        {.name = "--json", .value = "", .help = "JSON instead of text", .flag = &json_},
    };
  }

  Result<Answer> run(const session::Session& session) override {
    if (list_) {
      return Answer{json_ ? session::benchmarks_json() : session::benchmarks_text(), 0};
    }
    for (const std::string_view one : split(only_, ',')) {
      if (!one.empty()) request_.only.emplace_back(one);
    }
    request_.date = today();
    ORR_TRY_VOID(session::check(session.catalog(), request_));
    ORR_TRY_VOID(check_output("--out", request_.out, {request_.like}));
    ORR_TRY_VOID(check_output("--report", request_.report, {request_.like}));
    ORR_TRY(const auto gpu, calibrate::open_gpu());
    ORR_TRY(const session::Calibrated calibrated,
            session::calibrate(session.catalog(), request_, *gpu, show));
    return Answer{json_ ? session::to_json(calibrated) : session::to_text(calibrated), 0};
  }

 private:
  session::CalibrateRequest request_;
  std::string only_;
  bool list_ = false;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> calibrate_command() {
  return std::make_unique<Calibrate>();
}

}  // namespace orrery::cli
