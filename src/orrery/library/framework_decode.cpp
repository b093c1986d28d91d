// Decode kernels of serving frameworks.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/framework_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "orrery/base/dtype.h"
#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"
#include "orrery/library/framework_tiles.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

bool latent(const AttentionCall& call) {
  return call.kv_heads == 1 && call.head_dim > 512;
}

// A key and its value.
double entry_bytes(const AttentionCall& call) {
  const int64_t dims = latent(call) ? call.head_dim : call.head_dim + value_dim(call);
  return static_cast<double>(dims) * element_size(call.kv_dtype.value_or(call.dtype)).value();
}

ProfilePhase phase_of(
    const char* name, double trips, double clocks, double busy, const machine::Core& core) {
  ProfilePhase phase;
  phase.name = name;
  phase.trips = trips;
  phase.chain.fixed = Cycles(clocks);
  phase.work.issue = Instructions(busy * clocks * static_cast<double>(core.schedulers));
  return phase;
}

std::vector<ProfilePhase> phases_of(const AttentionCall& call,
                                    const DecodeShape& shape,
                                    const DecodeTable& table,
                                    const machine::Core& core) {
  const double d = static_cast<double>(call.head_dim + value_dim(call)) / 256;
  const double group = static_cast<double>(call.heads) / static_cast<double>(call.kv_heads);
  const double rows = std::min(group, shape.rows);
  const double unit = table.unit + table.unit_dim * d + table.unit_row * rows * d;
  const double block = table.block + shape.keys * entry_bytes(call) / table.port;
  const double busy = table.slots > 1 || shape.slots > 1 ? table.busy : 0;
  return {phase_of("prologue and epilogue", 1, unit, busy, core),
          phase_of("blocks of keys", shape.blocks, block, busy, core)};
}

kernel::Traffic traffic_of(const AttentionCall& call, const DecodeShape& shape) {
  const double queries = product(call.batch, call.heads, call.head_dim, 2);
  const double outputs = shape.splits > 1
                             ? product(call.batch, call.heads, shape.splits, value_dim(call), 4)
                             : product(call.batch, call.heads, value_dim(call), 2);
  const double cache = cached_bytes(call);
  kernel::Traffic traffic;
  traffic.unique_read = Bytes(queries + cache);
  traffic.recent_read = Bytes(queries);
  traffic.unique_write = Bytes(outputs);
  traffic.dram_read = Bytes(queries + cache);
  traffic.dram_write = Bytes(outputs);
  traffic.l2_read = Bytes(queries + cache * shape.groups);
  traffic.l2_write = Bytes(outputs);
  return traffic;
}

Profile combine(const DecodeTable& table, const DecodeShape& shape) {
  Profile profile;
  profile.kernel = "combine";
  profile.family = "attention";
  profile.behaviour.relative_error = table.error;
  profile.fixed = Duration::from(Seconds(table.combine + table.combine_split * shape.splits));
  profile.reasons.push_back(fmt::format("joins {} splits", shape.splits));
  return profile;
}

// FlashAttention 2 takes the heads of a key head as queries, [batch, key head, group] as
// [batch, group, key head]: a copy of the queries and one of the output, where that moves anything
// (flash_api.cpp, seqlenq_ngroups_swapped).
bool copies_heads(const AttentionCall& call, const DecodeTable& table) {
  return table.rule == "flash2" && call.window == 0 && call.heads > call.kv_heads &&
         call.kv_heads > 1 && call.batch > 1;
}

Profile copy_of(const AttentionCall& call, const DecodeTable& table) {
  const double bytes = product(call.batch, call.heads, call.head_dim, 2);
  Profile profile;
  profile.kernel = "copy_heads";
  profile.family = "attention";
  profile.traffic = streamed(bytes, bytes);
  profile.fixed = Duration::from(Seconds(table.copy));
  profile.behaviour.relative_error = table.error;
  return profile;
}

}  // namespace

double cached_bytes(const AttentionCall& call) {
  const int64_t seen =
      call.window > 0 ? std::min(call.seq_kv, call.window + call.seq_q - 1) : call.seq_kv;
  return product(call.batch, call.kv_heads, seen) * entry_bytes(call);
}

std::vector<Profile> framework_decode(const AttentionCall& call,
                                      std::string_view kernel,
                                      const DecodeTable& table,
                                      const machine::Chip& chip) {
  const DecodeShape shape = decode_shape(call, table, chip);
  Profile profile;
  profile.kernel = std::string(kernel) + "_decode";
  profile.family = "attention";
  profile.threads = 128;
  profile.ctas_per_sm = static_cast<int64_t>(shape.slots);
  profile.fixed = Duration::from(Seconds(table.fixed));
  profile.behaviour.overlap = table.overlap;
  profile.behaviour.relative_error = table.error;
  profile.traffic = traffic_of(call, shape);
  const double units = product(call.batch, call.kv_heads) * shape.groups * shape.splits;
  set_units(profile, {{units, phases_of(call, shape, table, chip.core)}});
  profile.reasons.push_back(fmt::format("{} rows a CTA, blocks of {} keys, {} split{} (rule {})",
                                        shape.rows,
                                        shape.keys,
                                        shape.splits,
                                        shape.splits > 1 ? "s" : "",
                                        table.rule));
  std::vector<Profile> sequence{std::move(profile)};
  if (shape.splits > 1) {
    sequence.push_back(combine(table, shape));
  }
  if (copies_heads(call, table)) {
    sequence.insert(sequence.begin(), copy_of(call, table));
    sequence.push_back(copy_of(call, table));
  }
  return sequence;
}

}  // namespace orrery::library
