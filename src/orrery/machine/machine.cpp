// Machines: a machine file's numbers into the typed description, and finding a machine by name.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "orrery/machine/likeness.h"
#include "orrery/machine/mixture.h"
#include "orrery/machine/number_file.h"

namespace orrery::machine {
namespace {

int64_t count(NumberFile& file, std::string_view key) {
  return static_cast<int64_t>(file.number(key, Unit::One, Range::Count));
}

Duration duration(NumberFile& file, std::string_view key) {
  return Duration::from(Seconds(file.number(key, Unit::Seconds, Range::NotNegative)));
}

/// Matrix rates by element type; one of 0 says that the chip does not multiply the type.
std::map<DType, FlopsPerCycle> read_tensor(NumberFile& file) {
  std::map<DType, FlopsPerCycle> tensor;
  const std::vector<std::string> types = file.keys_under("core.tensor");
  for (const auto& type : types) {
    const std::string key = "core.tensor." + type;
    const double rate = file.number(key, Unit::FlopsPerCycle, Range::NotNegative);
    const auto dtype = parse_dtype(type);
    if (!dtype.ok()) {
      file.complain(key, "got no name of an element type, need one such as bf16");
    } else if (rate > 0) {
      tensor[*dtype] = FlopsPerCycle(rate);
    }
  }
  const bool told = std::any_of(types.begin(), types.end(), [&](const std::string& type) {
    return !file.sound("core.tensor." + type);
  });
  if (tensor.empty() && !told) {
    file.complain("core.tensor", "got none, need the matrix rate of at least one element type");
  }
  return tensor;
}

Core read_core(NumberFile& file) {
  Core core;
  core.count = count(file, "core.count");
  core.warp_size = count(file, "core.warp_size");
  core.schedulers = count(file, "core.schedulers");
  core.max_threads = count(file, "core.max_threads");
  core.max_ctas = count(file, "core.max_ctas");
  core.registers = count(file, "core.registers");
  core.register_granularity = count(file, "core.register_granularity");
  core.shared_capacity = Bytes(file.number("core.shared_capacity", Unit::Bytes));
  core.l1 = Bytes(file.number("core.l1", Unit::Bytes));
  core.shared_per_cta = Bytes(file.number("core.shared_per_cta", Unit::Bytes));
  core.shared_reserved =
      Bytes(file.number("core.shared_reserved", Unit::Bytes, Range::NotNegative));
  core.fma_lanes = file.number("core.fma_lanes", Unit::One);
  core.special_lanes = file.number("core.special_lanes", Unit::One);
  core.integer_lanes = file.number("core.integer_lanes", Unit::One);
  core.integer_slots = file.number_or("core.integer_slots", Unit::One, 0, Range::NotNegative);
  core.shared_bandwidth = BytesPerCycle(file.number("core.shared_bandwidth", Unit::BytesPerCycle));
  core.warp_mma = file.number_or("core.warp_mma", Unit::One, 1);
  core.l2_port = BytesPerCycle(file.number("core.l2_port", Unit::BytesPerCycle));
  core.tensor = read_tensor(file);
  return core;
}

Clock read_clock(NumberFile& file) {
  Clock clock;
  clock.max = Hertz(file.number("clock.max", Unit::Hertz));
  clock.base_power = file.number("clock.base_power", Unit::One, Range::NotNegative);
  clock.dram_power = file.number("clock.dram_power", Unit::One, Range::NotNegative);
  clock.tensor_power_burst = file.number("clock.tensor_power_burst", Unit::One, Range::NotNegative);
  clock.tensor_power_steady =
      file.number("clock.tensor_power_steady", Unit::One, Range::NotNegative);
  clock.exponent = file.number("clock.exponent", Unit::One);
  clock.constant_power = file.number_or("clock.constant_power", Unit::One, 1);
  clock.mixed_share = file.number("clock.mixed_share", Unit::One, Range::NotNegative);
  clock.drop_after = duration(file, "clock.drop_after");
  clock.drop_spread = duration(file, "clock.drop_spread");
  for (const auto& type : file.keys_under("clock.tensor_energy")) {
    const std::string key = "clock.tensor_energy." + type;
    const double energy = file.number(key, Unit::One);
    const auto dtype = parse_dtype(type);
    if (dtype.ok()) {
      clock.tensor_energy[*dtype] = energy;
    } else {
      file.complain(key, "got no name of an element type, need one such as bf16");
    }
  }
  return clock;
}

L2 read_l2(NumberFile& file) {
  L2 l2;
  l2.capacity = Bytes(file.number("l2.capacity", Unit::Bytes));
  l2.effective = Bytes(file.number("l2.effective", Unit::Bytes));
  l2.bandwidth = BytesPerCycle(file.number("l2.bandwidth", Unit::BytesPerCycle));
  l2.stream = BytesPerCycle(file.number_or("l2.stream", Unit::BytesPerCycle, l2.bandwidth.value()));
  l2.rewritten = file.number_or("l2.rewritten", Unit::One, 0, Range::NotNegative);
  l2.latency = Cycles(file.number("l2.latency", Unit::Cycles));
  l2.sector = Bytes(file.number("l2.sector", Unit::Bytes));
  l2.line = Bytes(file.number("l2.line", Unit::Bytes));
  return l2;
}

Dram read_dram(NumberFile& file) {
  Dram dram;
  dram.capacity = Bytes(file.number("dram.capacity", Unit::Bytes));
  dram.bandwidth = BytesPerSecond(file.number("dram.bandwidth", Unit::BytesPerSecond));
  dram.read = BytesPerSecond(file.number("dram.read", Unit::BytesPerSecond));
  dram.write = BytesPerSecond(file.number("dram.write", Unit::BytesPerSecond));
  dram.mix = file.number("dram.mix", Unit::One, Range::NotNegative);
  if (dram.mix >= 1) {
    file.complain("dram.mix", fmt::format("got {}, need a share below 1", dram.mix));
  }
  dram.latency = Cycles(file.number("dram.latency", Unit::Cycles));
  return dram;
}

Launch read_launch(NumberFile& file) {
  Launch launch;
  launch.graph_gap = duration(file, "launch.graph_gap");
  launch.graph_gap_other = duration(file, "launch.graph_gap_other");
  launch.graph_start = Duration::from(
      Seconds(file.number_or("launch.graph_start", Unit::Seconds, 0, Range::NotNegative)));
  launch.first_access = duration(file, "launch.first_access");
  launch.cold_access = duration(file, "launch.cold_access");
  launch.host_launch = duration(file, "launch.host_launch");
  launch.host_step = duration(file, "launch.host_step");
  launch.block_interval =
      Cycles(file.number("launch.block_interval", Unit::Cycles, Range::NotNegative));
  launch.barrier = Cycles(file.number("launch.barrier", Unit::Cycles));
  launch.shared_latency = Cycles(file.number("launch.shared_latency", Unit::Cycles));
  launch.dependent_issue = Cycles(file.number("launch.dependent_issue", Unit::Cycles));
  return launch;
}

double exponent(NumberFile& file, std::string_view key) {
  const double p = file.number(key, Unit::One);
  if (p < 1) {
    file.complain(key, fmt::format("got {}, need an exponent of at least 1", p));
  }
  return p;
}

Overlap read_overlap(NumberFile& file) {
  Overlap overlap;
  overlap.pipelined = exponent(file, "overlap.pipelined");
  overlap.unpipelined = exponent(file, "overlap.unpipelined");
  overlap.streaming = exponent(file, "overlap.streaming");
  overlap.memory = exponent(file, "overlap.memory");
  overlap.pipes = exponent(file, "overlap.pipes");
  overlap.write_wait = file.number_or("overlap.write_wait", Unit::One, 0, Range::NotNegative);
  overlap.in_step = file.number_or("overlap.in_step", Unit::One, 0, Range::NotNegative);
  overlap.error = file.number("overlap.error", Unit::One);
  return overlap;
}

Link read_link(NumberFile& file) {
  Link link;
  link.gpus = count(file, "link.gpus");
  link.bandwidth =
      BytesPerSecond(file.number("link.bandwidth", Unit::BytesPerSecond, Range::NotNegative));
  link.achieved =
      BytesPerSecond(file.number("link.achieved", Unit::BytesPerSecond, Range::NotNegative));
  link.crowded =
      BytesPerSecond(file.number_or("link.crowded", Unit::BytesPerSecond, 0, Range::NotNegative));
  const double multicast = file.number("link.multicast", Unit::One, Range::NotNegative);
  if (multicast != 0 && multicast != 1) {
    file.complain("link.multicast", fmt::format("got {}, need 0 or 1", multicast));
  }
  link.multicast = multicast == 1;
  if (file.sound("link.bandwidth") && link.achieved > link.bandwidth) {
    file.complain("link.achieved", "got more than link.bandwidth, need at most that");
  }
  if (link.gpus > 1 && file.sound("link.achieved") && link.achieved.value() <= 0) {
    file.complain("link.achieved", "got 0 in a node of several GPUs, need its rate");
  }
  return link;
}

/// The prefix, and digits with at most one letter behind them: sm_90a, gfx942, gfx90a.
bool is_architecture(std::string_view text, std::string_view prefix) {
  if (!text.starts_with(prefix)) {
    return false;
  }
  text.remove_prefix(prefix.size());
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto low = [](char c) { return c >= 'a' && c <= 'z'; };
  return text.size() >= 2 && text.size() <= 4 && std::all_of(text.begin(), text.end() - 1, digit) &&
         (digit(text.back()) || (low(text.back()) && text.size() > 2));
}

/// What libraries choose their kernels by.
std::string read_architecture(NumberFile& file, Vendor vendor) {
  std::string architecture = file.text("architecture");
  const std::string_view prefix = vendor == Vendor::Nvidia ? "sm_" : "gfx";
  if (vendor != Vendor::Other && file.sound("architecture") && file.sound("vendor") &&
      !is_architecture(architecture, prefix)) {
    file.complain("architecture",
                  fmt::format("got '{}', need one such as {}",
                              architecture,
                              vendor == Vendor::Nvidia ? "sm_90a" : "gfx942"));
  }
  return architecture;
}

Vendor read_vendor(NumberFile& file) {
  const std::string vendor = file.text("vendor");
  if (vendor != "nvidia" && vendor != "amd" && vendor != "other" && !vendor.empty()) {
    file.complain("vendor", fmt::format("got '{}', need nvidia, amd or other", vendor));
  }
  return vendor == "nvidia" ? Vendor::Nvidia : vendor == "amd" ? Vendor::Amd : Vendor::Other;
}

// Writes among reads may cost less, but not so much less that DRAM exceeds its interface.
void check_mixture(NumberFile& file, const Dram& dram) {
  const bool known = std::min(dram.read, dram.write).value() > 0 && dram.mix < 1 &&
                     std::max(dram.read, dram.write) <= dram.bandwidth;
  if (known && fastest_mixture(dram) > dram.bandwidth * (1 + 1e-9)) {
    file.complain("dram.mix",
                  fmt::format("got {:g}, with which a mixture of reads and writes moves {:.4g} "
                              "GB/s, need at most {:.3g} to stay within dram.bandwidth = {:g} GB/s",
                              dram.mix,
                              fastest_mixture(dram).value() / 1e9,
                              std::floor(largest_mix(dram) * 1000) / 1000,
                              dram.bandwidth.value() / 1e9));
  }
}

// Sizes that contradict each other: each is reasonable alone.
void check_relations(NumberFile& file, const Chip& chip) {
  const auto at_most =
      [&](std::string_view key, double small, std::string_view other, double large) {
        if (small > large && file.sound(key) && file.sound(other)) {
          file.complain(key, fmt::format("got {:g}, need at most {} = {:g}", small, other, large));
        }
      };
  at_most("core.shared_per_cta",
          chip.core.shared_per_cta.value(),
          "core.shared_capacity",
          chip.core.shared_capacity.value());
  at_most("core.warp_size",
          static_cast<double>(chip.core.warp_size),
          "core.max_threads",
          static_cast<double>(chip.core.max_threads));
  at_most("l2.sector", chip.l2.sector.value(), "l2.line", chip.l2.line.value());
  at_most("dram.read", chip.dram.read.value(), "dram.bandwidth", chip.dram.bandwidth.value());
  at_most("dram.write", chip.dram.write.value(), "dram.bandwidth", chip.dram.bandwidth.value());
  check_mixture(file, chip.dram);
}

// Letters and digits in lower case: "H200_SXM" and "h200-sxm" are the same name.
std::string folded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != '-' && c != '_') {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

// What a text says before its first table, where names stand.
std::string_view head_of(std::string_view toml) {
  return toml.substr(0, toml.find("\n["));
}

}  // namespace

namespace {

/// Each once: they are tried one after the other.
std::vector<std::string> read_libraries(NumberFile& file) {
  std::vector<std::string> libraries = file.list_or_empty("libraries");
  std::vector<std::string> sorted = libraries;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end()) {
    file.complain("libraries", fmt::format("got '{}' twice, need each once", *twice));
  }
  return libraries;
}

/// Fills in what `file` leaves out, if it says whom it is like; gives that machine's libraries.
Result<std::vector<std::string>> complete(NumberFile& file, const MachineFinder& others) {
  const std::string like = file.text("like");
  if (like.empty()) {
    file.complain("like", "got none, need the name of a machine");
    return std::vector<std::string>{};
  }
  if (!others) {
    file.complain("like", fmt::format("got '{}', need a place to look for it", like));
    return std::vector<std::string>{};
  }
  ORR_TRY(const MachineText text, others(like));
  ORR_TRY(NumberFile other, NumberFile::parse(text.toml, text.origin));
  if (other.has("like")) {
    file.complain("like", fmt::format("got '{}', need a machine that is like no other", like));
    return std::vector<std::string>{};
  }
  derive_missing(file, other, like);
  return other.list_or_empty("libraries");
}

}  // namespace

Result<Machine> parse_machine(std::string_view toml,
                              std::string_view origin,
                              const MachineFinder& others) {
  ORR_TRY(auto file, NumberFile::parse(toml, origin));
  Machine machine;
  machine.id = file.text("id");
  if (file.has("id") && folded(machine.id).empty()) {
    file.complain("id", "got none, need a name");
  }
  machine.aliases = file.list_or_empty("aliases");
  machine.title = file.text("title");
  machine.libraries = read_libraries(file);
  if (file.has("like")) {
    machine.like = file.text_or("like", "");
    ORR_TRY(std::vector<std::string> theirs, complete(file, others));
    if (!file.has("libraries")) {
      machine.libraries = std::move(theirs);
    }
  }
  machine.chip.id = machine.id;
  machine.chip.vendor = read_vendor(file);
  machine.chip.architecture = read_architecture(file, machine.chip.vendor);
  machine.chip.core = read_core(file);
  machine.chip.clock = read_clock(file);
  machine.chip.l2 = read_l2(file);
  machine.chip.dram = read_dram(file);
  machine.chip.launch = read_launch(file);
  machine.chip.overlap = read_overlap(file);
  machine.chip.link = read_link(file);
  check_relations(file, machine.chip);
  if (!file.has("like") && file.missing() > 5) {
    file.advise(
        "with like = \"h200-sxm\" (or another machine) a file needs no more than " +
        fmt::format("{}, core.tensor; the rest is derived", fmt::join(own_numbers(), ", ")));
  }
  ORR_TRY_VOID(file.finish("machine.parse"));
  machine.numbers = file.numbers();
  return machine;
}

double resident_share(double bytes, const L2& l2) {
  const double ratio = bytes / l2.effective.value();
  const double square = ratio * ratio;
  const double fourth = square * square;
  return 1 / (1 + fourth * fourth);
}

Names names_of(std::string_view toml) {
  auto file = NumberFile::parse(head_of(toml), "");
  if (!file.ok()) {  // "[" stood inside of something
    file = NumberFile::parse(toml, "");
  }
  return file.ok() ? Names{file->text_or("id", ""), file->list_or_empty("aliases")} : Names{};
}

bool Names::answer_to(std::string_view query) const {
  const std::string wanted = folded(query);
  return !wanted.empty() && (folded(id) == wanted ||
                             std::any_of(aliases.begin(), aliases.end(), [&](const auto& each) {
                               return folded(each) == wanted;
                             }));
}

bool answers_to(const Machine& machine, std::string_view query) {
  return Names{machine.id, machine.aliases}.answer_to(query);
}

namespace {

Result<MachineText> find_text(const std::vector<MachineText>& texts, std::string_view query) {
  const MachineText* found = nullptr;
  std::vector<std::string> known;
  for (const auto& text : texts) {
    const Names names = names_of(text.toml);
    if (!names.id.empty()) {
      known.push_back(names.id);
    }
    if (!names.answer_to(query)) {
      continue;
    }
    if (found != nullptr) {
      return make_error(ErrorCode::InvalidInput,
                        "[machine.find] two machines answer to '{}': got {} and {}, need one",
                        query,
                        found->origin,
                        text.origin);
    }
    found = &text;
  }
  if (found == nullptr) {
    return make_error(ErrorCode::NotFound,
                      "[machine.find] unknown machine: got '{}', need one of: {}",
                      query,
                      fmt::join(known, ", "));
  }
  return *found;
}

}  // namespace

Result<Machine> find(const std::vector<MachineText>& texts, std::string_view query) {
  ORR_TRY(const MachineText found, find_text(texts, query));
  return parse_machine(found.toml, found.origin, [&texts](std::string_view other) {
    return find_text(texts, other);
  });
}

}  // namespace orrery::machine
