// Machines: the files we ship are readable, mistakes are all reported by name, and machines are
// found by any spelling.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace orrery::machine {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::filesystem::path folder() {
  return std::filesystem::path(ORRERY_SOURCE_DIR) / "machines";
}

std::vector<MachineText> texts_in(const std::filesystem::path& path) {
  std::vector<MachineText> texts;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() == ".toml" && entry.path().stem() != "TEMPLATE") {
      texts.push_back({entry.path().filename().string(), read(entry.path())});
    }
  }
  std::sort(
      texts.begin(), texts.end(), [](const auto& a, const auto& b) { return a.origin < b.origin; });
  return texts;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// The template as a file that is like no other.
std::string whole_template() {
  return replaced(
      read(folder() / "TEMPLATE.toml"), "\nlike = \"h200-sxm\"\n", "\nlibraries = []\n");
}

std::string error_of(const std::string& toml) {
  const auto machine = parse_machine(toml, "test.toml");
  return machine.ok() ? "no error" : machine.error().to_string();
}

TEST(Machine, EveryFileWeShipIsReadable) {
  const auto texts = texts_in(folder());
  ASSERT_GE(texts.size(), 3U);
  for (const auto& text : texts) {
    const auto machine = parse_machine(text.toml, text.origin);
    ASSERT_TRUE(machine.ok()) << machine.error().to_string();
    EXPECT_EQ(machine->id + ".toml", text.origin);
    EXPECT_GT(machine->numbers.size(), 40U);
  }
}

// GB of a title are GiB; inline ECC takes a sixteenth of GDDR, drivers of NVIDIA a little of HBM.
TEST(Machine, MemoryIsWhatToolsOfTheVendorShow) {
  for (const auto& text : texts_in(folder())) {
    const auto machine = parse_machine(text.toml, text.origin);
    ASSERT_TRUE(machine.ok());
    std::stringstream words(machine->title);
    double titled = 0;
    for (std::string word, before; words >> word; before = word) {
      titled = word == "GB" ? std::stod(before) : titled;
    }
    const double share = machine->chip.dram.capacity.value() / 1073741824.0 / titled;
    EXPECT_GT(share, machine->chip.vendor == Vendor::Amd ? 0.99 : 0.935) << text.origin;
    EXPECT_LE(share, 1) << text.origin;
  }
}

TEST(Machine, FitsAtMostFortyNumbers) {
  for (const auto& text : texts_in(folder())) {
    const auto machine = parse_machine(text.toml, text.origin);
    ASSERT_TRUE(machine.ok());
    const auto fitted = std::count_if(machine->numbers.begin(),
                                      machine->numbers.end(),
                                      [](const Number& n) { return n.source == Source::Fitted; });
    EXPECT_LE(fitted, 40) << text.origin;
  }
}

TEST(Machine, IsFoundByTheNamesOfTablesOfMeasurements) {
  const auto texts = texts_in(folder());
  for (const char* query :
       {"a100_sxm_80gb", "h100_sxm", "h200_sxm", "b200_sxm", "l40s", "rtx_pro_6000_server"}) {
    const auto machine = find(texts, query);
    EXPECT_TRUE(machine.ok()) << query;
  }
}

TEST(Machine, IsFoundWhateverTheSpelling) {
  const auto texts = texts_in(folder());
  for (const char* query : {"h200-sxm", "h200", "H200_SXM", "h200sxm", "H-200"}) {
    const auto machine = find(texts, query);
    ASSERT_TRUE(machine.ok()) << machine.error().to_string();
    EXPECT_EQ(machine->id, "h200-sxm");
    EXPECT_EQ(machine->chip.core.count, 132);
    EXPECT_EQ(machine->chip.core.tensor.at(DType::BF16), FlopsPerCycle(4096.0));
  }
}

TEST(Machine, UnknownNameListsTheKnownOnes) {
  const auto machine = find(texts_in(folder()), "h300");
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().code, ErrorCode::NotFound);
  const std::string& message = machine.error().message;
  EXPECT_TRUE(message.starts_with("[machine.find] unknown machine: got 'h300', need one of: "))
      << message;
  for (const char* known : {"a100-sxm-80gb", "b200", "h100-sxm", "h200-sxm", "mi300x"}) {
    EXPECT_NE(message.find(known), std::string::npos) << message;
  }
  EXPECT_FALSE(find(texts_in(folder()), "").ok());
  EXPECT_FALSE(find(texts_in(folder()), "-_").ok());
}

TEST(Machine, AFileOfOnesOwnNeedsNothingElse) {
  const auto path = std::filesystem::temp_directory_path() / "orrery_machine_test";
  std::filesystem::create_directories(path);
  std::ofstream(path / "my-chip.toml") << replaced(whole_template(), "value = 100,", "value = 7,");
  const auto machine = find(texts_in(path), "MY_CHIP");
  std::filesystem::remove_all(path);
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  EXPECT_EQ(machine->chip.core.count, 7);
  EXPECT_EQ(machine->chip.vendor, Vendor::Nvidia);
}

TEST(Machine, TheTemplateServesUnchanged) {
  auto texts = texts_in(folder());
  texts.push_back({"my-chip.toml", read(folder() / "TEMPLATE.toml")});
  const auto machine = find(texts, "my-chip");
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  EXPECT_FALSE(machine->libraries.empty());
  EXPECT_EQ(machine->chip.core.count, 100);
}

TEST(Machine, AFileWithoutMostNumbersHearsOfLike) {
  const std::string error = error_of("id = \"few\"\ntitle = \"Few\"\nvendor = \"nvidia\"\n");
  EXPECT_NE(error.find("with like = \"h200-sxm\" (or another machine) a file needs no more than "
                       "core.count, clock.max"),
            std::string::npos)
      << error;
}

TEST(Machine, TwoFilesOfOneNameAreRefused) {
  const std::string text = whole_template();
  const auto machine = find({{"a.toml", text}, {"b.toml", text}}, "my-chip");
  ASSERT_FALSE(machine.ok());
  EXPECT_NE(machine.error().message.find("a.toml and b.toml"), std::string::npos);
}

TEST(Machine, ReportsEveryMistakeAtOnce) {
  std::string text = whole_template();
  text = replaced(
      text, "capacity = { value = 32, unit = \"MiB\"", "capacity = { value = -32, unit = \"MiB\"");
  text = replaced(text,
                  "effective = { value = 24, unit = \"MiB\"",
                  "effective = { value = nan, unit = \"MiB\"");
  text = replaced(
      text, "sector = { value = 32, unit = \"B\"", "sector = { value = 32, unit = \"clk\"");
  text = replaced(text, "mix = { value = 0.2,", "mixx = { value = 0.2,");
  text = replaced(text,
                  "barrier = { value = 30, unit = \"clk\", source = \"assumed\"",
                  "barrier = { value = 30, unit = \"clk\", source = \"hearsay\"");
  text = replaced(
      text,
      "host_launch = { value = 18.5, unit = \"us\", source = \"assumed\", date = 2026-11-30 }",
      "host_launch = { value = 18.5, unit = \"us\", source = \"assumed\" }");
  text = replaced(text, "gpus = { value = 1,", "gpus = { value = 1.5,");
  const std::string error = error_of(text);
  for (const char* part : {"\n  l2.capacity: ",
                           "got -32, need 9.53674e-07 to 9.53674e+11 MiB",
                           "\n  l2.effective: ",
                           "need a finite number",
                           "\n  l2.sector: ",
                           "got unit 'clk', need one of: B, KB, MB, GB, KiB, MiB, GiB",
                           "\n  dram.mixx: ",
                           "need another; did you mean 'dram.mix'? (test.toml:95)",
                           "\n  launch.barrier: ",
                           "got source 'hearsay'",
                           "\n  launch.host_launch: ",
                           "got no date, need date = YYYY-MM-DD (test.toml:",
                           "\n  link.gpus: ",
                           "got 1.5, need a whole number, 1 to 1e+09"}) {
    EXPECT_NE(error.find(part), std::string::npos) << part << "\n" << error;
  }
}

TEST(Machine, RefusesAKeyWrittenTwiceWithItsLine) {
  const std::string text =
      whole_template() +
      "gpus = { value = 2, unit = \"1\", source = \"assumed\", date = 2026-11-30 }\n";
  const auto machine = parse_machine(text, "test.toml");
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().code, ErrorCode::ParseError);
  EXPECT_NE(machine.error().message.find("gpus"), std::string::npos) << machine.error().message;
}

// Each alone would turn a prediction into nonsense: "forever", or nothing at all.
TEST(Machine, RefusesNumbersThatNoHardwareHas) {
  const std::string good = whole_template();
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"max = { value = ", "max = { value = 1e-300"},
           {"max = { value = ", "max = { value = 1e300"},
           {"count = { value = ", "count = { value = 1e15"},
           {"graph_gap = { value = ", "graph_gap = { value = 1e30"},
           {"l2_port = { value = ", "l2_port = { value = 1e-9"}}) {
    const size_t at = good.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    const size_t end = good.find(',', at);
    const auto machine = parse_machine(good.substr(0, at) + to + good.substr(end), "test.toml");
    ASSERT_FALSE(machine.ok()) << to;
    EXPECT_NE(machine.error().message.find(", need "), std::string::npos);
    EXPECT_NE(machine.error().message.find(" to "), std::string::npos);
  }
}

TEST(Machine, ANodeOfSeveralGpusNeedsTheRateOfItsLinks) {
  const std::string error =
      error_of(replaced(whole_template(), "gpus = { value = 1", "gpus = { value = 8"));
  EXPECT_NE(error.find("link.achieved"), std::string::npos) << error;
}

TEST(Machine, RefusesNumbersThatContradictEachOther) {
  std::string text = whole_template();
  text = replaced(text, "read = { value = 1800", "read = { value = 2100");
  text = replaced(text, "shared_per_cta = { value = 96", "shared_per_cta = { value = 129");
  const std::string error = error_of(text);
  EXPECT_NE(error.find("dram.read"), std::string::npos) << error;
  EXPECT_NE(error.find("core.shared_per_cta"), std::string::npos) << error;
}

// What once gave an L40S copies at 914 GB/s.
TEST(Machine, RefusesAMixtureBeyondTheDataSheet) {
  std::string text = whole_template();
  text = replaced(text, "read = { value = 1800", "read = { value = 1960");
  text = replaced(text, "write = { value = 1500", "write = { value = 1955");
  const std::string error = error_of(text);
  EXPECT_NE(error.find("got 0.2, with which a mixture of reads and writes moves 2061 GB/s, need at "
                       "most 0.084 to stay within dram.bandwidth = 2000 GB/s"),
            std::string::npos)
      << error;
  EXPECT_EQ(error_of(replaced(text, "mix = { value = 0.2", "mix = { value = 0.084")), "no error");
}

TEST(Machine, BadTextNeverCrashes) {
  const std::string good = whole_template();
  for (size_t cut = 0; cut < good.size(); cut += 97) {
    EXPECT_FALSE(parse_machine(good.substr(0, cut), "cut.toml").ok() && cut + 97 < good.size());
  }
  for (const char* text : {"",
                           "id",
                           "id = 5",
                           "id = []",
                           "core = 3",
                           "[core]\ncount = {}",
                           "\xff\xfe",
                           "[[core]]\nx=1",
                           "core = { value = \"x\", unit = 1 }",
                           "aliases = [1, 2]"}) {
    EXPECT_FALSE(parse_machine(text, "bad.toml").ok()) << text;
  }
}

// A chip that states what its datasheet says and is like the H200 in all else.
std::string relative(const std::string& more = "") {
  const auto number =
      [](const std::string& key, const std::string& value, const std::string& unit) {
        return key + " = { value = " + value + ", unit = \"" + unit +
               "\", source = \"datasheet\", date = 2026-11-30 }\n";
      };
  return "id = \"relative\"\ntitle = \"A relative\"\nvendor = \"nvidia\"\n"
         "architecture = \"sm_90a\"\nlike = \"h200-sxm\"\n" +
         more + number("core.count", "66", "1") + number("core.tensor.bf16", "4096", "FLOP/clk") +
         number("clock.max", "1500", "MHz") + number("l2.capacity", "30", "MB") +
         number("dram.capacity", "80", "GB") + number("dram.bandwidth", "2400", "GB/s") +
         number("link.gpus", "8", "1") + number("link.bandwidth", "225", "GB/s") +
         number("link.multicast", "1", "1");
}

Result<Machine> parse_relative(const std::string& toml) {
  return parse_machine(toml, "relative.toml", [](std::string_view id) -> Result<MachineText> {
    const std::string name = std::string(id) + ".toml";
    return MachineText{name, read(folder() / name)};
  });
}

const Number& number_of(const Machine& machine, std::string_view key) {
  return *std::find_if(machine.numbers.begin(), machine.numbers.end(), [&](const Number& each) {
    return each.key == key;
  });
}

TEST(Machine, LeftOutNumbersAreDerivedFromARelative) {
  const auto h200 = find(texts_in(folder()), "h200");
  const auto machine = parse_relative(relative());
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  EXPECT_EQ(machine->like, "h200-sxm");
  EXPECT_EQ(machine->libraries, h200->libraries);
  // Half the bandwidth, half the SMs; cycles and times as they are.
  EXPECT_DOUBLE_EQ(machine->chip.dram.read.value(), h200->chip.dram.read.value() / 2);
  EXPECT_DOUBLE_EQ(machine->chip.l2.bandwidth.value(), h200->chip.l2.bandwidth.value() / 2);
  EXPECT_EQ(machine->chip.launch.graph_gap, h200->chip.launch.graph_gap);
  const Number& read = number_of(*machine, "dram.read");
  EXPECT_EQ(read.source, Source::Derived);
  EXPECT_EQ(read.note, "dram.read of h200-sxm, grown by 0.5 with dram.bandwidth");
  EXPECT_EQ(number_of(*machine, "launch.barrier").note, "as h200-sxm");
}

TEST(Machine, ARelativesNumbersGiveWayToOnesOwn) {
  const auto machine = parse_relative(relative(
      "dram.read = { value = 2, unit = \"TB/s\", source = \"measured\", date = 2026-11-30 }\n"
      "libraries = [\"nccl-2\"]\n"));
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  EXPECT_DOUBLE_EQ(machine->chip.dram.read.value(), 2e12);
  EXPECT_EQ(machine->libraries, std::vector<std::string>{"nccl-2"});
}

// A relative with GDDR that reads and writes at nearly its bandwidth cannot save what HBM saves.
TEST(Machine, ADerivedMixtureStaysWithinTheBandwidth) {
  const std::string rates =
      "dram.read = { value = 2350, unit = \"GB/s\", source = \"measured\", date = 2026-11-30 }\n"
      "dram.write = { value = 2350, unit = \"GB/s\", source = \"measured\", date = 2026-11-30 }\n";
  const auto machine = parse_relative(relative(rates));
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  EXPECT_NEAR(machine->chip.dram.mix, 4 * (1 - 2350.0 / 2400), 1e-9);
  EXPECT_EQ(number_of(*machine, "dram.mix").note,
            "dram.mix of h200-sxm, less so that no mixture exceeds dram.bandwidth");
}

TEST(Machine, WhatTellsAChipFromItsRelativeMustBeStated) {
  const std::string text = replaced(relative(), "dram.bandwidth", "dram.bandwith");
  const auto machine = parse_relative(text);
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().message,
            "[machine.parse] dram.bandwith: got an unknown key, need another; did you mean "
            "'dram.bandwidth'? (relative.toml:11)");
}

std::string without(const std::string& text, const std::string& part) {
  std::string kept;
  std::stringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    kept += line.find(part) == std::string::npos ? line + "\n" : "";
  }
  return kept;
}

// What would be derived from a number that is missing is no mistake of its own.
TEST(Machine, OnlyWhatCannotBeDerivedIsMissing) {
  const auto machine = parse_relative(without(without(relative(), "link."), "l2.capacity"));
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.error().message,
            "[machine.parse] relative.toml: got 4 mistakes, need none:\n"
            "  l2.capacity: got none, need one\n"
            "  link.gpus: got none, need one\n"
            "  link.bandwidth: got none, need one\n"
            "  link.multicast: got none, need one");
  const auto one = parse_relative(without(relative(), "dram.bandwidth"));
  ASSERT_FALSE(one.ok());
  EXPECT_EQ(one.error().message,
            "[machine.parse] dram.bandwidth: got none, need one (relative.toml)");
  const auto few = parse_relative(without(without(relative(), "dram.bandwidth"), "core.count"));
  ASSERT_FALSE(few.ok());
  EXPECT_EQ(few.error().message,
            "[machine.parse] relative.toml: got 2 mistakes, need none:\n"
            "  core.count: got none, need one\n"
            "  dram.bandwidth: got none, need one");
}

// A file that lists bf16 alone once lost fp8 and its weights were widened.
TEST(Machine, LeftOutElementTypesKeepTheRelativesRatios) {
  const auto h200 = find(texts_in(folder()), "h200");
  const auto machine = parse_relative(replaced(relative(), "value = 4096", "value = 1024"));
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  ASSERT_EQ(machine->chip.core.tensor.size(), h200->chip.core.tensor.size());
  for (const auto& [type, rate] : h200->chip.core.tensor) {
    EXPECT_EQ(machine->chip.core.tensor.at(type), rate * 0.25) << orrery::name(type);
  }
  const Number& fp8 = number_of(*machine, "core.tensor.f8e4m3");
  EXPECT_EQ(fp8.source, Source::Derived);
  EXPECT_EQ(fp8.note, "core.tensor.f8e4m3 of h200-sxm, grown by 0.25 with core.tensor.bf16");
  const auto other = parse_relative(replaced(relative(), "core.tensor.bf16", "core.tensor.i8"));
  ASSERT_TRUE(other.ok()) << other.error().to_string();
  EXPECT_EQ(other->chip.core.tensor.at(DType::BF16), FlopsPerCycle(2048));
}

TEST(Machine, AnElementTypeOfRateZeroIsNotThere) {
  const std::string none =
      " = { value = 0, unit = \"FLOP/clk\", source = \"datasheet\", date = 2026-11-30 }\n";
  const auto machine = parse_relative(relative("core.tensor.f8e4m3" + none));
  ASSERT_TRUE(machine.ok()) << machine.error().to_string();
  EXPECT_FALSE(machine->chip.core.tensor.contains(DType::F8E4M3));
  EXPECT_TRUE(machine->chip.core.tensor.contains(DType::F8E5M2));
  const auto nothing = parse_relative(without(relative(), "core.tensor"));
  ASSERT_FALSE(nothing.ok());
  EXPECT_NE(
      nothing.error().message.find("core.tensor: got none, need the matrix rate of at least one"),
      std::string::npos);
}

TEST(Machine, RelativesAreFoundAndNotChained) {
  EXPECT_NE(error_of(relative()).find("need a place to look for it"), std::string::npos);
  const auto chained =
      parse_machine(relative(), "relative.toml", [](std::string_view) -> Result<MachineText> {
        return MachineText{"other.toml", relative()};
      });
  ASSERT_FALSE(chained.ok());
  EXPECT_NE(chained.error().message.find("need a machine that is like no other"),
            std::string::npos);
  const auto lost = find({{"relative.toml", relative()}}, "relative");
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, ErrorCode::NotFound);
}

TEST(Machine, AnArchitectureHasAFormThatItsVendorHas) {
  const auto named = [](const std::string& vendor, const std::string& architecture) {
    return parse_relative(replaced(replaced(relative(), "sm_90a", architecture), "nvidia", vendor));
  };
  for (const char* name : {"sm_80", "sm_90a", "sm_103f", "sm_120a"}) {
    EXPECT_TRUE(named("nvidia", name).ok()) << name;
  }
  for (const char* name : {"gfx90a", "gfx942", "gfx1100"}) {
    EXPECT_TRUE(named("amd", name).ok()) << name;
  }
  EXPECT_TRUE(named("other", "tpu-v5").ok());
  for (const char* name : {"", "sm_", "sm_1", "sm_1a", "sm_abc", "sm_99999", "sm90", "gfx942"}) {
    const auto machine = named("nvidia", name);
    ASSERT_FALSE(machine.ok()) << name;
    EXPECT_NE(machine.error().message.find("need one such as sm_90a"), std::string::npos)
        << machine.error().message;
  }
  EXPECT_FALSE(named("amd", "sm_90a").ok());
}

TEST(Machine, ALibraryThatIsNamedTwiceIsRefused) {
  const auto machine = parse_relative(relative("libraries = [\"a\", \"b\", \"a\"]\n"));
  ASSERT_FALSE(machine.ok());
  EXPECT_NE(machine.error().message.find("libraries: got 'a' twice, need each once"),
            std::string::npos);
}

TEST(Machine, OfManyMistakesTheFirstAreShown) {
  std::string text = relative();
  for (int i = 0; i < 20000; ++i) {
    text += "[t" + std::to_string(i) + "]\nv = \"a\"\n";
  }
  const auto machine = parse_relative(text);
  ASSERT_FALSE(machine.ok());
  EXPECT_LT(machine.error().message.size(), 10000U);
  EXPECT_NE(machine.error().message.find("got 20000 mistakes, need none"), std::string::npos);
  EXPECT_NE(machine.error().message.find("\n  and 19900 more"), std::string::npos);
}

}  // namespace
}  // namespace orrery::machine
