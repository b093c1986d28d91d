// NCCL: its tuning model, and the bytes, blocks and steps of what it chooses.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace orrery::library {
namespace {

enum class Algorithm { Ring, Nvls, PointToPoint };
enum class Protocol { LL, LL128, Simple };

struct Choice {
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  std::string why;
  bool operator==(const Choice&) const = default;
};

/// What NCCL's tuning model believes of a protocol.
struct Tuning {
  double base_us = 0;      // latency of a ring
  double hop_us = 0;       // per step over NVLink
  double hop_pcie_us = 0;  // and over PCIe; 0: it has none
  double share = 0;        // of the link that a ring moves
};

/// What differs between generations of chips: NCCL's tables have a row for each.
struct Generation {
  double pace = 1;        // of a channel's block, clock for clock
  double hop = 1;         // of a step
  double nvls_share = 0;  // of the link, in the tuning model
  int64_t channels = 0;
};

/// What is measured of a protocol.
struct Cost {
  Duration fixed;            // of a ring, beyond the launch
  Duration hop;              // per step
  Duration fixed_point;      // of sends and receives
  BytesPerCycle block_rate;  // loaded and stored by one channel's block
  double wire = 1;           // bytes on the link per byte of data
};

struct Table {
  Tuning tuning[3];  // by protocol
  Cost cost[3];
  std::vector<std::pair<std::string_view, Generation>> generations;  // by architecture
  double nvls_us = 0;       // latency of NVLS in the tuning model
  double nvls_reached = 1;  // of its share
  double nvls_fill = 0;     // share of the time of the first chunks that nothing overlaps
  Duration nvls_fixed;
  Bytes nvls_chunk;  // of a channel and GPU
  int64_t point_channels = 0;
  int64_t nvls_channels = 0;
  Bytes step;             // slot of a channel's buffer
  double fill = 0;        // share of the blocks' time for the first slot that nothing overlaps
  Bytes point_ll;         // most bytes a channel that a send takes the LL protocol for
  Duration host;          // of one call outside a CUDA graph
  double error = 0;       // half an 80 % interval, relative
  double error_host = 0;  // the same, launched by the host
  double error_unmeasured = 0;  // the same beyond two GPUs
};

constexpr std::array<std::string_view, 3> kProtocols = {"LL", "LL128", "Simple"};
constexpr std::array<std::string_view, 3> kKeys = {"ll", "ll128", "simple"};
constexpr std::array<std::string_view, 4> kGenerations = {"sm_90", "sm_80", "sm_100", "gfx"};

/// Bytes of a collective at one GPU, per byte of its input.
struct Counts {
  double sent = 0;     // over the link
  double moved = 0;    // loaded and stored by the blocks
  double written = 1;  // of the result
  double tuned = 1;    // what the tuning model calls the size
  int64_t steps = 1;   // messages that wait for one another
  int64_t priced = 1;  // steps in the tuning model's bandwidth
};

// A ring of n GPUs in the primitives of NCCL (src/device/all_reduce.h and its like): a send loads 1
// byte and stores 1, a receive that adds loads 2, one that also keeps what it passes on stores 2.
Counts counts_of(std::string_view op, double n) {
  const auto steps = static_cast<int64_t>(n) - 1;
  if (op == "all_reduce") {
    return {.sent = 2 * (n - 1) / n,
            .moved = (8 + 6 * (n - 2)) / n,
            .steps = 2 * steps,
            .priced = 2 * steps};
  }
  if (op == "all_gather") {
    return {.sent = n - 1,
            .moved = 5 + 3 * (n - 2),
            .written = n,
            .tuned = n,
            .steps = steps,
            .priced = steps};
  }
  if (op == "reduce_scatter") {
    return {.sent = (n - 1) / n,
            .moved = (5 + 3 * (n - 2)) / n,
            .written = 1 / n,
            .steps = steps,
            .priced = steps};
  }
  if (op ==
      "broadcast") {  // its chunks pass through all GPUs: the middle ones keep what they pass on
    return {.sent = 1, .moved = n > 2 ? 3.0 : 2.0, .steps = steps, .priced = steps + 1};
  }
  if (op == "all_to_all") {  // its own part is copied, the others are sent and received at once
    return {.sent = (n - 1) / n, .moved = (4 * (n - 1) + 2) / n, .tuned = 1 / n};
  }
  return {.sent = 1, .moved = 2};  // send_recv
}

bool point_to_point(std::string_view op) {
  return op == "all_to_all" || op == "send_recv";
}

/// Bytes per microsecond that a GPU sends: less where more than two meet in host bridges.
double link_rate(const CollectiveCall& call, const machine::Link& link) {
  const bool crowded = call.gpus > 2 && link.crowded.value() > 0;
  return 1e-6 * (crowded ? link.crowded : link.achieved).value();
}

/// Microseconds that the tuning model gives a ring; infinite for a protocol that the link cannot
/// carry (LL128 needs stores of 128 bytes that arrive whole).
double ring_us(const CollectiveCall& call,
               const Counts& counts,
               const Tuning& tuning,
               const machine::Link& link) {
  const double hop = link.crowded.value() > 0 ? tuning.hop_pcie_us : tuning.hop_us;
  if (hop <= 0) {
    return std::numeric_limits<double>::infinity();
  }
  const auto n = static_cast<double>(call.gpus);
  const auto priced = static_cast<double>(counts.priced);
  const double steps = call.op == "broadcast" ? 1 : priced;
  const double bytes = static_cast<double>(call.bytes) * counts.tuned;
  return tuning.base_us + steps * hop + bytes / (link_rate(call, link) * tuning.share * n / priced);
}

/// Microseconds that the tuning model gives NVLS; infinite where NCCL does not have it: the switch
/// adds 16-bit floats, not bytes, and with up to four GPUs rings are taken (published tables).
double nvls_us(const CollectiveCall& call,
               const Counts& counts,
               const Table& table,
               const Generation& generation,
               const machine::Link& link) {
  const bool adds = call.dtype == DType::BF16 || call.dtype == DType::F16;
  if (call.op != "all_reduce" || !adds || !link.multicast || call.gpus <= 4) {
    return std::numeric_limits<double>::infinity();
  }
  const auto n = static_cast<double>(call.gpus);
  const auto channels = static_cast<double>(table.nvls_channels);
  const double bus = link_rate(call, link) * table.tuning[2].share * generation.nvls_share *
                     (channels - 1) / channels;
  const double rate = 2 * bus * n / static_cast<double>(counts.priced);
  return table.nvls_us + static_cast<double>(call.bytes) / rate;
}

Choice point_choice(const CollectiveCall& call, const Counts& counts, const Table& table) {
  const double each = static_cast<double>(call.bytes) * counts.tuned;
  const double most = table.point_ll.value() * static_cast<double>(table.point_channels);
  const bool quick = each <= most;
  return {
      .algorithm = Algorithm::PointToPoint,
      .protocol = quick ? Protocol::LL : Protocol::Simple,
      .why = fmt::format("{:.0f} bytes to a GPU are {} {:.0f}: protocol {} (NCCL src/enqueue.cc)",
                         each,
                         quick ? "at most" : "more than",
                         most,
                         quick ? "LL" : "Simple")};
}

/// A ring's and NVLS's accounts of bytes.
Counts as_run(const CollectiveCall& call, Algorithm algorithm) {
  const auto n = static_cast<double>(call.gpus);
  Counts counts = counts_of(call.op, n);
  if (algorithm == Algorithm::Nvls) {
    // The switch pulls a GPU's whole input once for the sums, and takes its share of the result
    // once for all.
    counts.sent = 1 + 1 / n;
    counts.moved = 0;  // the link binds
  }
  if (algorithm != Algorithm::Ring) {
    counts.steps = 0;  // within the fixed cost
  }
  return counts;
}

kernel::ProfilePhase blocks_phase(double bytes, double rate, const char* name) {
  kernel::ProfilePhase phase;
  phase.name = name;
  phase.chain.fixed = Cycles(bytes / rate);
  return phase;
}

std::string kernel_name(std::string_view op, const Choice& choice) {
  const std::string_view way = choice.algorithm == Algorithm::Ring   ? "RING"
                               : choice.algorithm == Algorithm::Nvls ? "NVLS"
                                                                     : "P2P";
  return fmt::format("ncclDevKernel {} {} {}", op, way, kProtocols[size_t(choice.protocol)]);
}

int64_t channels_of(const Table& table, const Generation& generation, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::Ring:
      return generation.channels;
    case Algorithm::Nvls:
      return table.nvls_channels;
    case Algorithm::PointToPoint:
      return table.point_channels;
  }
  ORR_UNREACHABLE();
}

Tuning read_tuning(machine::NumberFile& file, std::string_view protocol) {
  const std::string key = fmt::format("nccl.tuning.{}.", protocol);
  return {
      .base_us = 1e6 * file.number(key + "base", machine::Unit::Seconds),
      .hop_us = 1e6 * file.number(key + "hop", machine::Unit::Seconds),
      .hop_pcie_us =
          1e6 * file.number(key + "hop_pcie", machine::Unit::Seconds, machine::Range::NotNegative),
      .share = file.number(key + "share", machine::Unit::One)};
}

Generation read_generation(machine::NumberFile& file, const std::string& key) {
  return {.pace = file.number(key + ".pace", machine::Unit::One),
          .hop = file.number(key + ".hop", machine::Unit::One),
          .nvls_share =
              file.number(key + ".nvls_share", machine::Unit::One, machine::Range::NotNegative),
          .channels = static_cast<int64_t>(
              file.number(key + ".channels", machine::Unit::One, machine::Range::Count))};
}

/// A chip of none of these architectures is taken as the first.
const Generation& generation_of(const Table& table, const machine::Chip& chip) {
  for (const auto& [architecture, generation] : table.generations) {
    if (chip.architecture.rfind(architecture, 0) == 0) {
      return generation;
    }
  }
  return table.generations.front().second;
}

Cost read_cost(machine::NumberFile& file, std::string_view protocol) {
  const std::string key = fmt::format("nccl.{}.", protocol);
  const auto duration = [&](const char* name) {
    return Duration::from(Seconds(file.number(key + name, machine::Unit::Seconds)));
  };
  return {
      .fixed = duration("fixed"),
      .hop = duration("hop"),
      .fixed_point = duration("fixed_point"),
      .block_rate = BytesPerCycle(file.number(key + "block_rate", machine::Unit::BytesPerCycle)),
      .wire = file.number(key + "wire", machine::Unit::One)};
}

Result<void> check(const CollectiveCall& call, const machine::Chip& chip) {
  constexpr std::array<std::string_view, 6> kOperators = {
      "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_recv"};
  if (std::find(kOperators.begin(), kOperators.end(), call.op) == kOperators.end()) {
    return make_error(ErrorCode::Unsupported,
                      "[library.nccl] operator: got '{}', need one of {}",
                      call.op,
                      fmt::join(kOperators, ", "));
  }
  if (call.gpus < 2) {
    return make_error(
        ErrorCode::InvalidInput, "[library.nccl] {}: got 1 GPU, need 2 or more", call.op);
  }
  if (call.gpus > chip.link.gpus) {
    return make_error(ErrorCode::Unsupported,
                      "[library.nccl] {}: got {} GPUs, need at most the {} of a node of {}",
                      call.op,
                      call.gpus,
                      chip.link.gpus,
                      chip.id);
  }
  return {};
}

Table read_table(machine::NumberFile& file) {
  Table table;
  for (size_t i = 0; i < kKeys.size(); ++i) {
    table.tuning[i] = read_tuning(file, kKeys[i]);
    table.cost[i] = read_cost(file, kKeys[i]);
  }
  const auto count = [&](const char* key) {
    return static_cast<int64_t>(file.number(key, machine::Unit::One, machine::Range::Count));
  };
  for (const std::string_view architecture : kGenerations) {
    const std::string key = fmt::format("nccl.{}", architecture);
    if (file.has(key + ".channels")) {
      table.generations.push_back({architecture, read_generation(file, key)});
    }
  }
  if (table.generations.empty()) {
    file.complain("nccl.sm_90.channels",
                  "got none, need it or that of another generation of chips");
    table.generations.push_back({kGenerations[0], Generation{}});
  }
  table.nvls_us = 1e6 * file.number("nccl.nvls.latency", machine::Unit::Seconds);
  table.nvls_fixed =
      Duration::from(Seconds(file.number("nccl.nvls.fixed", machine::Unit::Seconds)));
  table.nvls_reached = file.number("nccl.nvls.reached", machine::Unit::One);
  table.nvls_fill = file.number("nccl.nvls.fill", machine::Unit::One);
  table.nvls_chunk = Bytes(file.number("nccl.nvls.chunk", machine::Unit::Bytes));
  table.nvls_channels = count("nccl.nvls.channels");
  table.point_channels = count("nccl.point_channels");
  table.point_ll = Bytes(file.number("nccl.point_ll", machine::Unit::Bytes));
  table.step = Bytes(file.number("nccl.step", machine::Unit::Bytes));
  table.fill = file.number("nccl.fill", machine::Unit::One, machine::Range::NotNegative);
  table.host = Duration::from(Seconds(file.number("nccl.host", machine::Unit::Seconds)));
  table.error = file.number("nccl.error", machine::Unit::One);
  table.error_host = file.number("nccl.error_host", machine::Unit::One);
  table.error_unmeasured = file.number("nccl.error_unmeasured", machine::Unit::One);
  return table;
}

Choice choose(const CollectiveCall& call,
              const Table& table,
              const Generation& generation,
              const machine::Link& link) {
  const Counts counts = counts_of(call.op, static_cast<double>(call.gpus));
  if (point_to_point(call.op)) {
    return point_choice(call, counts, table);
  }
  Choice choice;
  double least = std::numeric_limits<double>::infinity();
  std::string others;
  const auto offer = [&](Algorithm algorithm, Protocol protocol, double us) {
    if (!(us < 1e300)) {
      return;
    }
    others += fmt::format("{}{} {} {:.1f} us",
                          others.empty() ? "" : ", ",
                          algorithm == Algorithm::Ring ? "ring" : "NVLS",
                          kProtocols[static_cast<size_t>(protocol)],
                          us);
    if (us < least) {
      least = us;
      choice.algorithm = algorithm;
      choice.protocol = protocol;
    }
  };
  for (const auto protocol : {Protocol::LL, Protocol::LL128, Protocol::Simple}) {
    offer(Algorithm::Ring,
          protocol,
          ring_us(call, counts, table.tuning[static_cast<size_t>(protocol)], link));
  }
  if (const double us = nvls_us(call, counts, table, generation, link); us < 1e300) {
    offer(Algorithm::Nvls, Protocol::Simple, us);
  }
  choice.why = fmt::format("least in NCCL's tuning model (src/graph/tuning.cc): {}", others);
  return choice;
}

/// What the blocks do.
kernel::UnitKind blocks_of(const CollectiveCall& call,
                           const Choice& choice,
                           double blocks,
                           const Table& table,
                           const Generation& generation) {
  const Cost& cost = table.cost[static_cast<size_t>(choice.protocol)];
  const Counts counts = as_run(call, choice.algorithm);
  const double rate = cost.block_rate.value() * generation.pace;
  const double each = static_cast<double>(call.bytes) * counts.moved / blocks;
  kernel::UnitKind kind{blocks, {}};
  if (choice.protocol == Protocol::Simple) {
    const double sent = static_cast<double>(call.bytes) * counts.sent / blocks;
    const double slot = std::min(1.0, table.step.value() / sent);
    kind.phases.push_back(blocks_phase(table.fill * slot * each, rate, "first slots"));
  }
  kind.phases.push_back(blocks_phase(each, rate, "blocks"));
  return kind;
}

/// What the blocks and the link do.
void add_work(kernel::Profile& profile,
              const CollectiveCall& call,
              const Choice& choice,
              const Table& table,
              const machine::Chip& chip) {
  const Generation& generation = generation_of(table, chip);
  const Cost& cost = table.cost[static_cast<size_t>(choice.protocol)];
  const Counts counts = as_run(call, choice.algorithm);
  const auto bytes = static_cast<double>(call.bytes);
  profile.kinds.push_back(
      blocks_of(call, choice, static_cast<double>(profile.units), table, generation));
  profile.traffic.unique_read = profile.traffic.recent_read = profile.traffic.dram_read =
      Bytes(bytes);
  profile.traffic.unique_write = profile.traffic.dram_write = Bytes(bytes * counts.written);
  const double reached =
      choice.algorithm == Algorithm::Nvls ? generation.nvls_share * table.nvls_reached : 1;
  profile.link = {.sent = Bytes(bytes * counts.sent * cost.wire),
                  .share = reached * 1e6 * link_rate(call, chip.link) / chip.link.achieved.value(),
                  .hops = static_cast<double>(counts.steps),
                  .hop = Duration::from(Seconds(cost.hop.seconds().value() * generation.hop))};
  profile.reasons.push_back(
      fmt::format("{} channels, a block each; {:.3g} bytes sent and {:.3g} loaded or "
                  "stored per byte of input",
                  profile.units,
                  counts.sent * cost.wire,
                  counts.moved));
}

/// Before the first message. NVLS: and of the first chunks of all channels for all GPUs, which
/// later ones overlap only partly.
Duration fixed_of(const CollectiveCall& call,
                  const Choice& choice,
                  const Table& table,
                  const machine::Chip& chip) {
  const Cost& cost = table.cost[static_cast<size_t>(choice.protocol)];
  switch (choice.algorithm) {
    case Algorithm::Ring:
      return cost.fixed;
    case Algorithm::Nvls: {
      const auto n = static_cast<double>(call.gpus);
      const double first =
          std::min(static_cast<double>(call.bytes),
                   table.nvls_chunk.value() * n * static_cast<double>(table.nvls_channels));
      const double rate =
          link_rate(call, chip.link) * table.nvls_reached * generation_of(table, chip).nvls_share;
      return table.nvls_fixed +
             Duration::from(Seconds(1e-6 * table.nvls_fill * first * (1 + 1 / n) / rate));
    }
    case Algorithm::PointToPoint:
      return cost.fixed_point;
  }
  ORR_UNREACHABLE();
}

Result<kernel::Profile> profile_of(const CollectiveCall& call,
                                   const Table& table,
                                   const machine::Chip& chip) {
  ORR_TRY_VOID(check(call, chip));
  const Generation& generation = generation_of(table, chip);
  const Choice choice = choose(call, table, generation, chip.link);
  kernel::Profile profile;
  profile.kernel = kernel_name(call.op, choice);
  profile.family = "collective";
  profile.units = profile.ctas = channels_of(table, generation, choice.algorithm);
  profile.threads = 512;  // NCCL_SIMPLE_MAX_NTHREADS, src/include/device.h
  profile.reasons = {choice.why};
  add_work(profile, call, choice, table, chip);
  profile.fixed = fixed_of(call, choice, table, chip);
  profile.host = call.stream ? table.host : Duration::zero();
  profile.behaviour.overlap = chip.overlap.streaming;
  profile.behaviour.relative_error = call.gpus > 2 ? table.error_unmeasured
                                     : call.stream ? table.error_host
                                                   : table.error;
  return profile;
}

class Nccl final : public Family {
 public:
  explicit Nccl(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* collective = std::get_if<CollectiveCall>(&call);
    return collective != nullptr && (collective->backend.empty() || collective->backend == "nccl");
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    ORR_TRY(kernel::Profile profile, profile_of(std::get<CollectiveCall>(call), table_, chip));
    return Candidates{{std::move(profile)}};
  }

 private:
  Table table_;
};

}  // namespace

std::unique_ptr<Family> read_nccl(machine::NumberFile& file) {
  return std::make_unique<Nccl>(read_table(file));
}

}  // namespace orrery::library
