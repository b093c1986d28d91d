// All-reduces of serving engines: which way for which size, and its bytes.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/peer_all_reduce.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "orrery/library/counts.h"
#include "orrery/library/launch.h"

namespace orrery::library {
namespace {

using machine::NumberFile;
using machine::Range;
using machine::Unit;

constexpr std::array<int64_t, 3> kGpus = {2, 4, 8};

/// What an engine sets; bytes below which a way is taken, by GPUs.
struct Engine {
  std::string name;
  std::array<Bytes, kGpus.size()> most;
  Bytes multicast;  // above those, where the switch adds
  Duration extra;   // of its kernel
  Duration host;    // of one call outside a CUDA graph
};

struct Table {
  std::vector<Engine> engines;
  std::array<Bytes, kGpus.size()> one_shot;
  double share = 1;  // of the link that reading peers reaches
  double multicast_share = 1;
  double error = 0;
  std::vector<std::pair<std::string, Duration>> barrier;  // by architecture
};

/// Index into what is set by number of GPUs; three are treated as four.
size_t index_of(int64_t gpus) {
  return gpus <= 2 ? 0 : gpus <= 4 ? 1 : 2;
}

struct Way {
  const char* name = nullptr;  // none: NCCL's
  double sent = 0;             // bytes over the link per byte of input
  double share = 1;
  double barriers = 1;
};

Way way_of(const CollectiveCall& call,
           const Engine& engine,
           const Table& table,
           const machine::Link& link) {
  const Bytes bytes(static_cast<double>(call.bytes));
  const size_t index = index_of(call.gpus);
  const auto n = static_cast<double>(call.gpus);
  const bool bridges = call.gpus > 2 && link.crowded.value() > 0;
  if (call.op != "all_reduce" || bridges) {
    return {};
  }
  if (bytes < engine.most[index]) {
    if (bytes < table.one_shot[index]) {
      return {.name = "one shot", .sent = n - 1, .share = table.share};
    }
    return {.name = "two shots", .sent = 2 * (n - 1) / n, .share = table.share, .barriers = 2};
  }
  if (link.multicast && bytes < engine.multicast) {
    return {.name = "multicast", .sent = 1 + 1 / n, .share = table.multicast_share, .barriers = 2};
  }
  return {};
}

class PeerAllReduce final : public Family {
 public:
  explicit PeerAllReduce(Table table) : table_(std::move(table)) {}

  bool serves(const Call& call) const override {
    const auto* collective = std::get_if<CollectiveCall>(&call);
    return collective != nullptr && engine_of(*collective) != nullptr;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& collective = std::get<CollectiveCall>(call);
    const Engine& engine = *engine_of(collective);
    const Way way = way_of(collective, engine, table_, chip.link);
    if (way.name == nullptr) {
      return Candidates{};
    }
    std::vector<kernel::Profile> sequence;
    if (collective.stream) {  // into the buffer that the others may read
      const auto bytes = static_cast<double>(collective.bytes);
      sequence.push_back(copy_node(
          {.read = bytes, .write = bytes}, {.family = "collective", .error = table_.error}, chip));
    }
    sequence.push_back(profile_of(collective, engine, way, chip));
    return Candidates{std::move(sequence)};
  }

  std::vector<Call> handed_on(const Call& call) const override {
    auto collective = std::get<CollectiveCall>(call);
    collective.backend = "nccl";
    return {collective};
  }

 private:
  const Engine* engine_of(const CollectiveCall& call) const {
    for (const Engine& engine : table_.engines) {
      if (engine.name == call.backend) {
        return &engine;
      }
    }
    return nullptr;
  }

  kernel::Profile profile_of(const CollectiveCall& call,
                             const Engine& engine,
                             const Way& way,
                             const machine::Chip& chip) const {
    Duration barrier = table_.barrier.front().second;
    for (const auto& [architecture, time] : table_.barrier) {
      barrier = chip.architecture.rfind(architecture, 0) == 0 ? time : barrier;
    }
    const auto bytes = static_cast<double>(call.bytes);
    kernel::Profile profile;
    profile.kernel = fmt::format("{} all_reduce {}", engine.name, way.name);
    profile.family = "collective";
    profile.threads = 512;
    profile.traffic = streamed(bytes, bytes);
    profile.link = {
        .sent = Bytes(bytes * way.sent), .share = way.share, .hops = way.barriers, .hop = barrier};
    profile.fixed = engine.extra;
    profile.host = call.stream ? engine.host : Duration::zero();
    profile.behaviour.overlap = chip.overlap.streaming;
    profile.behaviour.relative_error = table_.error;
    profile.reasons.push_back(
        fmt::format("{} bytes on {} GPUs: {}", call.bytes, call.gpus, way.name));
    return profile;
  }

  Table table_;
};

Engine read_engine(NumberFile& file, std::string name) {
  const std::string key = fmt::format("peer_all_reduce.{}.", name);
  Engine engine{.name = std::move(name),
                .most = {},
                .multicast = Bytes(file.number(key + "multicast", Unit::Bytes, Range::NotNegative)),
                .extra = duration(file, key + "extra"),
                .host = duration(file, key + "host")};
  for (size_t i = 0; i < kGpus.size(); ++i) {
    engine.most[i] = Bytes(file.number(fmt::format("{}most_{}", key, kGpus[i]), Unit::Bytes));
  }
  return engine;
}

}  // namespace

std::unique_ptr<Family> read_peer_all_reduce(NumberFile& file) {
  Table table;
  for (std::string& name : file.list("peer_all_reduce.backends")) {
    table.engines.push_back(read_engine(file, std::move(name)));
  }
  for (size_t i = 0; i < kGpus.size(); ++i) {
    table.one_shot[i] =
        Bytes(file.number(fmt::format("peer_all_reduce.one_shot_{}", kGpus[i]), Unit::Bytes));
  }
  table.share = file.number("peer_all_reduce.share", Unit::One);
  table.multicast_share = file.number("peer_all_reduce.multicast_share", Unit::One);
  table.error = error_of(file, "peer_all_reduce");
  for (const std::string& architecture : file.keys_under("peer_all_reduce.barrier")) {
    table.barrier.emplace_back(architecture,
                               duration(file, "peer_all_reduce.barrier." + architecture));
  }
  if (table.barrier.empty()) {
    file.complain("peer_all_reduce.barrier", "got no architecture, need one");
    table.barrier.emplace_back("", Duration::zero());
  }
  return std::make_unique<PeerAllReduce>(std::move(table));
}

}  // namespace orrery::library
