// FlashAttention 2, backward: copies of strided gradients, dO . O, the loop over queries for each
// block of keys, and the conversion of dQ.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/flash_backward.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "orrery/library/attention_counts.h"
#include "orrery/library/counts.h"
#include "orrery/library/flash_block.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;
using machine::NumberFile;
using machine::Unit;

struct BackwardTable {
  FlashBlock block;
  double alone = 1;
  double wait = 0;
  double unit = 0;
  double mask = 0;
  double copy_issue = 0;
  double overlap = 0;
  double error = 0;
};

// flash_bwd_launch_template.h, run_mha_bwd_hdim32 .. 256 with 227 KB of shared memory: the tile and
// how the eight warps lie on the products S and dP, dK and dV, dQ (along queries, keys, queries).
struct Tile {
  int64_t queries = 0;
  int64_t keys = 0;
  int64_t warps_s = 0;
  int64_t warps_dkv = 0;
  int64_t warps_dq = 0;
};

Tile tile_of(int64_t head_dim) {
  if (head_dim <= 64) {
    return {128, 128, 4, 4, 4};
  }
  if (head_dim <= 96) {
    return {64, 128, 2, 4, 4};
  }
  if (head_dim <= 128) {
    return {64, 128, 2, 4, 2};
  }
  return {64, 64, 4, 2, 2};
}

constexpr int64_t kWarps = 8;

// Operands that eight warps, `along` of them along the rows, read of a product rows x columns over
// `depth`.
double product_reads(int64_t rows, int64_t columns, int64_t depth, int64_t along) {
  const double tile = static_cast<double>(rows) / static_cast<double>(along) +
                      static_cast<double>(columns) * static_cast<double>(along) / kWarps;
  return kWarps * tile * static_cast<double>(depth) * kAttentionElement;
}

ProfilePhase main_loop(const AttentionCall& call,
                       const Tile& tile,
                       const BackwardTable& table,
                       const machine::Core& core) {
  const double scores = product(tile.queries, tile.keys);
  const int64_t d = call.head_dim;
  ProfilePhase phase;
  phase.name = "main loop";
  phase.ring = 2;
  phase.work = block_work(
      {.rows = static_cast<double>(tile.queries),
       .keys = static_cast<double>(tile.keys),
       .tensor = Flops(10 * scores * static_cast<double>(d)),  // five products
       .operands = Bytes(2 * product_reads(tile.queries, tile.keys, d, tile.warps_s) +
                         2 * product_reads(tile.keys, d, tile.queries, tile.warps_dkv) +
                         product_reads(tile.queries, d, tile.keys, tile.warps_dq)),
       .loaded = Bytes(2 * kAttentionElement * (product(tile.queries, d) + scores)),  // P, dS too
       .rescaled = product(tile.queries, d)},  // dQ goes out by atomic additions
      table.block,
      call.dtype,
      core);
  phase.work.l2_read = Bytes(2 * kAttentionElement * product(tile.queries, d));
  phase.work.l2_write = Bytes(product(tile.queries, d, 4));  // dQ is added up in L2
  phase.chain.fixed =
      Cycles(table.alone * shared_cycles(phase.work, table.block.pipe_overlap, core));
  return phase;
}

// A block of keys meets all queries, or with a causal mask those from its first key on: the blocks
// of a head get shorter in issue order.
std::vector<TileGroup> key_blocks(const AttentionCall& call, const Tile& tile) {
  const int64_t all = ceil_div(call.seq_q, tile.queries);
  const int64_t count = ceil_div(call.seq_kv, tile.keys);
  if (!call.causal) {
    return {{static_cast<double>(count), {static_cast<double>(all), 0}}};
  }
  constexpr int64_t kMost = 8;
  const int64_t groups = std::min(count, kMost);
  const int64_t offset = call.seq_kv - call.seq_q;
  const auto left = [&](int64_t block) {
    const int64_t first = std::max<int64_t>(0, block * tile.keys - offset) / tile.queries;
    return static_cast<double>(std::max<int64_t>(0, all - first));
  };
  const auto diagonal = static_cast<double>(ceil_div(tile.keys, tile.queries));
  std::vector<TileGroup> result;
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t first = whole(product(count, group) / static_cast<double>(groups));
    const int64_t last = whole(product(count, group + 1) / static_cast<double>(groups));
    const double mean = 0.5 * (left(first) + left(last - 1));
    result.push_back({static_cast<double>(last - first), {mean, std::min(mean, diagonal)}});
  }
  return result;
}

Profile gradients(const AttentionCall& call,
                  const BackwardTable& table,
                  const machine::Chip& chip) {
  const Tile tile = tile_of(call.head_dim);
  const double copies = product(call.batch, call.heads);
  const ProfilePhase block = main_loop(call, tile, table, chip.core);
  Profile profile;
  profile.kernel = "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel";
  profile.threads = 32 * kWarps;
  profile.ctas_per_sm = 1;  // 255 registers a thread, 144 KB
  std::vector<kernel::UnitKind> kinds;
  double loaded = 0;
  for (const auto& group : key_blocks(call, tile)) {
    ProfilePhase rest;
    rest.name = "prologue, masks, epilogue";
    rest.chain.fixed = Cycles(table.unit * static_cast<double>(call.head_dim) / 128 +
                              group.mean.masked * table.mask * product(tile.queries, tile.keys) /
                                  static_cast<double>(chip.core.schedulers));
    ProfilePhase wait;
    wait.name = "first operands";
    wait.chain.fixed = Cycles(table.wait);
    kinds.push_back(unit_of(group.tiles * copies, group.mean.blocks, wait, block, rest));
    loaded += group.tiles * copies * group.mean.blocks;
  }
  set_units(profile, std::move(kinds));
  profile.rounds = copies;
  const double keys = cache_bytes(call);
  profile.traffic = streamed(2 * query_bytes(call) + keys, keys);
  profile.traffic.l2_read = Bytes(keys + loaded * block.work.l2_read.value());
  profile.traffic.l2_write = Bytes(keys + loaded * block.work.l2_write.value());
  profile.behaviour.overlap = table.overlap;
  profile.behaviour.pipe_overlap = table.block.pipe_overlap;
  profile.reasons.push_back("one CTA of eight warps a block of keys (flash_bwd_launch_template.h)");
  return profile;
}

// Walks its operands once.
Profile streaming(std::string kernel, double tiles, int64_t threads, double read, double written) {
  Profile profile;
  profile.kernel = std::move(kernel);
  profile.threads = threads;
  profile.ctas_per_sm = std::max<int64_t>(1, 1024 / threads);
  ProfilePhase phase;
  phase.name = "rows";
  phase.chain.memory = 1;
  set_units(profile, {{tiles, {phase}}});
  profile.traffic = streamed(read, written);
  return profile;
}

// elementwise_kernel<128, 4>: the gradient of a transposed output is made contiguous.
Profile copy(double elements, const BackwardTable& table) {
  constexpr double kElements = 512;  // of a CTA
  Profile profile = streaming("elementwise_kernel<128, 4> copy",
                              std::ceil(elements / kElements),
                              128,
                              elements * kAttentionElement,
                              elements * kAttentionElement);
  profile.ctas_per_sm = 16;
  profile.kinds[0].phases[0].work.issue = Instructions(kElements * table.copy_issue);
  return profile;
}

std::vector<Profile> backward(const AttentionCall& call,
                              const BackwardTable& table,
                              const machine::Chip& chip) {
  const double elements = query_bytes(call) / kAttentionElement;
  const double tiles =
      product(call.batch, call.heads, ceil_div(call.seq_q, tile_of(call.head_dim).queries));
  std::vector<Profile> sequence;
  sequence.push_back(copy(elements, table));
  sequence.push_back(copy(elements, table));
  // dO and O give a number a row; the sum of dQ in fp32 is set to zero.
  sequence.push_back(
      streaming("flash_bwd_dot_do_o_kernel", tiles, 256, 4 * elements, 4 * elements));
  sequence.push_back(gradients(call, table, chip));
  sequence.push_back(
      streaming("flash_bwd_convert_dq_kernel", tiles, 256, 4 * elements, 2 * elements));
  for (auto& profile : sequence) {
    profile.family = "attention";
    profile.behaviour.relative_error = table.error;
  }
  return sequence;
}

class FlashBackward final : public Family {
 public:
  explicit FlashBackward(BackwardTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    const auto* attention = std::get_if<AttentionCall>(&call);
    return attention != nullptr && attention->backward;
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& attention = std::get<AttentionCall>(call);
    ORR_TRY_VOID(check_attention(attention, chip));
    const bool plain = attention.window == 0 && attention.lengths.empty() &&
                       value_dim(attention) == attention.head_dim;
    if (attention.head_dim > 256 || !plain || attention.backend == "cudnn") {
      return make_error(
          ErrorCode::Unsupported,
          "[library.attention] backward: got head_dim {} with backend '{}', need flash "
          "with head_dim up to 256 and no window or lengths",
          attention.head_dim,
          attention.backend);
    }
    return Candidates{backward(attention, table_, chip)};
  }

 private:
  BackwardTable table_;
};

// As forward, but a score is worth two: P and dS are both computed, converted and stored.
FlashBlock backward_block(NumberFile& file) {
  FlashBlock block = read_flash_block(file, "flash");
  block.issue_per_score *= 2;
  return block;
}

}  // namespace

std::unique_ptr<Family> read_flash_backward(NumberFile& file) {
  return std::make_unique<FlashBackward>(
      BackwardTable{.block = backward_block(file),
                    .alone = one(file, "flash_backward.alone"),
                    .wait = cycles(file, "flash.wait"),
                    .unit = cycles(file, "flash_backward.unit"),
                    .mask = one(file, "flash.mask"),
                    .copy_issue = one(file, "flash_backward.copy_issue"),
                    .overlap = file.number("flash_backward.overlap", Unit::One),
                    .error = error_of(file, "flash_backward")});
}

}  // namespace orrery::library
