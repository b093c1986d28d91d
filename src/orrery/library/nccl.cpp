// NCCL: its tuning model, and the bytes, blocks and steps of what it chooses.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nccl.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

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
  double base_us = 0;       // latency of a ring
  double hop_us = 0;        // per step
  double bus_gb_per_s = 0;  // that a ring moves
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
  double nvls_us = 0;     // latency of NVLS in the tuning model, and as assumed
  double nvls_share = 0;  // of the link that NVLS reaches, the same
  int64_t channels = 0;
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

/// Microseconds that the tuning model gives a ring.
double ring_us(const CollectiveCall& call, const Counts& counts, const Tuning& tuning) {
  const auto n = static_cast<double>(call.gpus);
  const auto priced = static_cast<double>(counts.priced);
  const double steps = call.op == "broadcast" ? 1 : priced;
  const double bytes = static_cast<double>(call.bytes) * counts.tuned;
  return tuning.base_us + steps * tuning.hop_us + bytes / (1e3 * tuning.bus_gb_per_s * n / priced);
}

/// Microseconds that the tuning model gives NVLS; infinite where NCCL does not have it.
double nvls_us(const CollectiveCall& call,
               const Counts& counts,
               const Table& table,
               const machine::Link& link) {
  const bool has =
      call.op == "all_reduce" || call.op == "all_gather" || call.op == "reduce_scatter";
  if (!has || !link.multicast || call.gpus <= 2) {  // src/transport/nvls.cc: more than two GPUs
    return std::numeric_limits<double>::infinity();
  }
  const auto n = static_cast<double>(call.gpus);
  const auto channels = static_cast<double>(table.nvls_channels);
  const double bus = table.tuning[2].bus_gb_per_s * table.nvls_share * (channels - 1) / channels;
  const double rate = call.op == "all_reduce" ? 2 * bus * n / static_cast<double>(counts.priced)
                                              : bus * (n - 1) / n;
  return table.nvls_us + static_cast<double>(call.bytes) * counts.tuned / (1e3 * rate);
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
    // once for all: 1 + 1/n of what an all-reduce holds; gather and scatter are the two halves.
    const double all = call.op == "all_gather" ? n : 1;
    counts.sent = call.op == "all_reduce" ? 1 + 1 / n : all;
    counts.moved = 0;  // the link binds
  }
  if (algorithm != Algorithm::Ring) {
    counts.steps = 0;  // within the fixed cost
  }
  return counts;
}

kernel::ProfilePhase blocks_phase(double bytes, const Cost& cost, const char* name) {
  kernel::ProfilePhase phase;
  phase.name = name;
  phase.chain.fixed = Cycles(bytes / cost.block_rate.value());
  return phase;
}

std::string kernel_name(std::string_view op, const Choice& choice) {
  const std::string_view way = choice.algorithm == Algorithm::Ring   ? "RING"
                               : choice.algorithm == Algorithm::Nvls ? "NVLS"
                                                                     : "P2P";
  return fmt::format("ncclDevKernel {} {} {}", op, way, kProtocols[size_t(choice.protocol)]);
}

int64_t channels_of(const Table& table, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::Ring:
      return table.channels;
    case Algorithm::Nvls:
      return table.nvls_channels;
    case Algorithm::PointToPoint:
      return table.point_channels;
  }
  ORR_UNREACHABLE();
}

Tuning read_tuning(machine::NumberFile& file, std::string_view protocol) {
  const std::string key = fmt::format("nccl.tuning.{}.", protocol);
  return {.base_us = 1e6 * file.number(key + "base", machine::Unit::Seconds),
          .hop_us = 1e6 * file.number(key + "hop", machine::Unit::Seconds),
          .bus_gb_per_s = 1e-9 * file.number(key + "bus", machine::Unit::BytesPerSecond)};
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
  table.nvls_us = 1e6 * file.number("nccl.nvls.latency", machine::Unit::Seconds);
  table.nvls_share = file.number("nccl.nvls.share", machine::Unit::One);
  table.nvls_channels = count("nccl.nvls.channels");
  table.channels = count("nccl.channels");
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

Choice choose(const CollectiveCall& call, const Table& table, const machine::Link& link) {
  const Counts counts = counts_of(call.op, static_cast<double>(call.gpus));
  if (point_to_point(call.op)) {
    return point_choice(call, counts, table);
  }
  Choice choice;
  double least = std::numeric_limits<double>::infinity();
  std::string others;
  const auto offer = [&](Algorithm algorithm, Protocol protocol, double us) {
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
          ring_us(call, counts, table.tuning[static_cast<size_t>(protocol)]));
  }
  if (const double us = nvls_us(call, counts, table, link); us < 1e300) {
    offer(Algorithm::Nvls, Protocol::Simple, us);
  }
  choice.why = fmt::format("least in NCCL's tuning model (src/graph/tuning.cc): {}", others);
  return choice;
}

/// What the blocks and the link do.
void add_work(kernel::Profile& profile,
              const CollectiveCall& call,
              const Choice& choice,
              const Table& table) {
  const Cost& cost = table.cost[static_cast<size_t>(choice.protocol)];
  const Counts counts = as_run(call, choice.algorithm);
  const auto bytes = static_cast<double>(call.bytes);
  const auto blocks = static_cast<double>(profile.units);
  const double each = bytes * counts.moved / blocks;
  std::vector<kernel::ProfilePhase> phases;
  if (choice.protocol == Protocol::Simple) {
    const double slot = std::min(1.0, table.step.value() / (bytes * counts.sent / blocks));
    phases.push_back(blocks_phase(table.fill * slot * each, cost, "first slots"));
  }
  phases.push_back(blocks_phase(each, cost, "blocks"));
  profile.kinds.push_back({blocks, std::move(phases)});
  profile.traffic.unique_read = profile.traffic.recent_read = profile.traffic.dram_read =
      Bytes(bytes);
  profile.traffic.unique_write = profile.traffic.dram_write = Bytes(bytes * counts.written);
  profile.link = {.sent = Bytes(bytes * counts.sent * cost.wire),
                  .share = choice.algorithm == Algorithm::Nvls ? table.nvls_share : 1,
                  .hops = static_cast<double>(counts.steps),
                  .hop = cost.hop};
  profile.reasons.push_back(
      fmt::format("{} channels, a block each; {:.3g} bytes sent and {:.3g} loaded or "
                  "stored per byte of input",
                  profile.units,
                  counts.sent * cost.wire,
                  counts.moved));
}

/// Before the first message.
Duration fixed_of(const Choice& choice, const Table& table) {
  const Cost& cost = table.cost[static_cast<size_t>(choice.protocol)];
  switch (choice.algorithm) {
    case Algorithm::Ring:
      return cost.fixed;
    case Algorithm::Nvls:
      return Duration::from(Seconds(table.nvls_us * 1e-6));
    case Algorithm::PointToPoint:
      return cost.fixed_point;
  }
  ORR_UNREACHABLE();
}

Result<kernel::Profile> profile_of(const CollectiveCall& call,
                                   const Table& table,
                                   const machine::Chip& chip) {
  ORR_TRY_VOID(check(call, chip));
  const Choice choice = choose(call, table, chip.link);
  kernel::Profile profile;
  profile.kernel = kernel_name(call.op, choice);
  profile.family = "collective";
  profile.units = profile.ctas = channels_of(table, choice.algorithm);
  profile.threads = 512;  // NCCL_SIMPLE_MAX_NTHREADS, src/include/device.h
  profile.reasons = {choice.why};
  add_work(profile, call, choice, table);
  profile.fixed = fixed_of(choice, table);
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
    return std::holds_alternative<CollectiveCall>(call);
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
