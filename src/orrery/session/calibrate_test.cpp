// Tests of calibration by name: which files it writes, and when it writes none.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "orrery/calibrate/fake_gpu_test.h"
#include "orrery/session/files.h"
#include "orrery/session/session.h"
#include "test/support/tree.h"

namespace orrery::session {
namespace {

namespace fs = std::filesystem;

/// A folder of the test's own, removed with it.
class Calibrating : public testing::Test {
 protected:
  Calibrating() {
    std::random_device seed;
    folder_ = fs::temp_directory_path() / fmt::format("orrery-calibrate-test-{:x}", seed());
    fs::create_directories(folder_);
  }

  ~Calibrating() override { fs::remove_all(folder_); }

  std::string in(const std::string& name) const { return (folder_ / name).string(); }

  Result<Calibrated> run(const CalibrateRequest& request) {
    return calibrate(Catalog(Places{.home = "."}), request, gpu_, {});
  }

  CalibrateRequest request() const {
    return {.like = "h200",
            .only = {"latency"},
            .out = in("m.toml"),
            .report = in("m.md"),
            .date = "2026-12-01"};
  }

  fs::path folder_;
  calibrate::FakeGpu gpu_{test::machine("h200-sxm").chip};
};

TEST_F(Calibrating, WritesAMachineThatTheCatalogReads) {
  const auto done = run(request());
  ASSERT_TRUE(done.ok()) << done.error().to_string();
  const auto machine = Catalog(Places{.home = "."}).machine(in("m.toml"));
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  EXPECT_EQ(machine->id, "m");
  EXPECT_EQ(calibrate::number_of(*machine, "l2.latency")->source, machine::Source::Measured);
}

TEST_F(Calibrating, ReportsSayWhatWasMeasuredAndWhatTakenOver) {
  const auto done = run(request());
  ASSERT_TRUE(done.ok()) << done.error().to_string();
  const std::string page = *read_file(in("m.md"));
  EXPECT_NE(page.find("| dram.latency | 45"), std::string::npos) << page;
  EXPECT_NE(page.find("## Taken over from h200-sxm\n\ncore.count, "), std::string::npos) << page;
  const std::string text = to_text(*done);
  EXPECT_NE(text.find("NVIDIA Fake 9000: compute capability 9.0, 132 SMs"), std::string::npos);
  EXPECT_NE(text.find("taken over from h200-sxm: core.count, "), std::string::npos) << text;
  const std::string json = to_json(*done);
  EXPECT_NE(json.find("\"schema\": \"orrery.calibration/1\""), std::string::npos);
  EXPECT_NE(json.find("\"key\": \"latency_512_kib\""), std::string::npos) << json;
}

TEST_F(Calibrating, FilesThatAreThereStayUnlessForced) {
  std::ofstream(in("m.md")) << "mine\n";
  CalibrateRequest asked = request();
  const auto refused = run(asked);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find("which is there already, need --force"),
            std::string::npos);
  EXPECT_EQ(*read_file(in("m.md")), "mine\n");
  EXPECT_FALSE(fs::exists(in("m.toml")));
  asked.force = true;
  EXPECT_TRUE(run(asked).ok());
  EXPECT_NE(*read_file(in("m.md")), "mine\n");
}

TEST_F(Calibrating, OneFileCannotBeBoth) {
  CalibrateRequest asked = request();
  asked.report = asked.out;
  EXPECT_FALSE(run(asked).ok());
  EXPECT_FALSE(fs::exists(in("m.toml")));
}

TEST_F(Calibrating, GpuOfNoKnownNameNeedsARelative) {
  CalibrateRequest asked = request();
  asked.like = "";
  const auto refused = run(asked);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(
      refused.error().to_string().find("got 'NVIDIA Fake 9000', need the name of its nearest"),
      std::string::npos)
      << refused.error().to_string();
}

TEST_F(Calibrating, KeptMachineSaysWhereEveryNumberIsFrom) {
  const auto machine = Catalog(Places{.home = "."}).machine("docs/calibration/h200-sxm.toml");
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  for (const machine::Number& number : machine->numbers) {
    EXPECT_TRUE(number.note.starts_with("orrery calibrate: ") ||
                number.note.starts_with("taken over from h200-sxm: "))
        << number.key;
  }
}

/// Mean error of all rows of a table.
double mean_error(const std::string& file, const std::string& machine) {
  const Session session({.home = "."});
  const auto files = session.validate({.files = {file}, .machine = machine});
  EXPECT_TRUE(files.ok()) << files.error().to_string();
  if (!files.ok()) return 0;
  const auto& scores = files->front().scores;
  const auto all = std::find_if(
      scores.begin(), scores.end(), [](const auto& score) { return score.family == "all"; });
  EXPECT_NE(all, scores.end());
  return all == scores.end() ? 0 : all->mean;
}

TEST_F(Calibrating, KeptMachineErrsByAtMostThreeTenthsMoreThanTheShippedOne) {
  const std::string folder = "/work/shared/data/h200_measured/";
  if (!fs::exists(folder + "gemm.csv")) GTEST_SKIP() << "needs tables in " << folder;
  for (const char* table : {"gemm.csv", "attention.csv", "membound.csv"}) {
    EXPECT_LE(mean_error(folder + table, "docs/calibration/h200-sxm.toml"),
              1.3 * mean_error(folder + table, "h200-sxm"))
        << table;
  }
}

TEST_F(Calibrating, MeasurementsThatMakeNoMachineWriteNothing) {
  machine::Chip chip = test::machine("h200-sxm").chip;
  chip.dram.read = BytesPerSecond(9e12);
  gpu_ = calibrate::FakeGpu(chip);
  CalibrateRequest asked = request();
  asked.only = {"dram"};
  EXPECT_FALSE(run(asked).ok());
  EXPECT_FALSE(fs::exists(in("m.toml")));
  EXPECT_FALSE(fs::exists(in("m.md")));
}

}  // namespace
}  // namespace orrery::session
