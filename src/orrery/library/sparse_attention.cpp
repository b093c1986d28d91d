// Attention to chosen keys: FlashMLA's sparse prefill and decode.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/sparse_attention.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/library/counts.h"
#include "orrery/library/launch.h"
#include "orrery/library/sparse_counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

struct SparseTable {
  double prefill_share = 1;  // of the tensor rate
  double decode_share = 1;   // of it where keys have to be converted from fp8
  double issue_per_score = 0;
  double error = 0;
};

// csrc/sm90/prefill/sparse, csrc/sm90/decode/sparse_fp8: a block has 64 heads of one query and
// walks its keys 64 at a time; each is gathered by its position.
constexpr double kHeads = 64;
constexpr double kKeys = 64;

// Bytes of a key in the cache. fp8: the value's part quantised with a scale per 128, the rest in
// bf16 (656 bytes of 576, FlashMLA README; 584 of 512, whose last 64 stay in bf16).
double key_bytes(const SparseAttentionCall& call) {
  const auto dim = static_cast<double>(call.head_dim);
  if (element_size(call.kv_dtype).value() != 1) {
    return dim * element_size(call.kv_dtype).value();
  }
  const double rotary = dim > static_cast<double>(call.head_dim_v)
                            ? dim - static_cast<double>(call.head_dim_v)
                            : std::min(64.0, dim);
  const double scaled = dim - rotary;
  return scaled + scaled / 128 * 4 + rotary * 2;
}

struct Work {
  double queries = 0;  // of all sequences
  double groups = 1;   // of 64 heads
  double keys = 0;     // of one query, on average
  double splits = 1;   // blocks that share the keys of a query
};

Work work_of(const SparseAttentionCall& call, const machine::Chip& chip) {
  const Seen seen = seen_keys(call.seq_q, call.seq_kv, call.compress, call.topk);
  Work work;
  work.queries = product(call.batch, call.seq_q);
  work.groups = std::ceil(static_cast<double>(call.heads) / kHeads);
  work.keys = seen.chosen / static_cast<double>(call.seq_q) + static_cast<double>(call.window);
  work.keys = std::max(1.0, work.keys);
  if (call.seq_q == 1) {  // decode: the SMs share out all keys
    const double blocks = work.queries * work.groups;
    const double room = std::floor(static_cast<double>(chip.core.count) / blocks);
    work.splits = std::clamp(room, 1.0, std::ceil(work.keys / kKeys));
  }
  return work;
}

Profile attend(const SparseAttentionCall& call, const Work& work, const SparseTable& table) {
  const double key = key_bytes(call);
  const auto dim = static_cast<double>(call.head_dim);
  const auto value = static_cast<double>(call.head_dim_v);
  const double size = element_size(call.dtype).value();
  const bool converts = element_size(call.kv_dtype).value() < size;
  ProfilePhase phase;
  phase.name = "keys";
  phase.trips = std::ceil(work.keys / work.splits / kKeys);
  phase.ring = 2;
  phase.work.tensor = Flops(2 * kHeads * kKeys * (dim + value));
  phase.work.tensor_type = DType::BF16;
  phase.work.tensor_share = converts ? table.decode_share : table.prefill_share;
  phase.work.issue = Instructions(kHeads * kKeys / 32 * table.issue_per_score);
  phase.work.special = kHeads * kKeys;
  phase.work.l2_read = Bytes(kKeys * (key + 4));
  phase.chain.memory = 2;  // the position, then the key
  ProfilePhase ends;
  ends.name = "epilogue";
  ends.work.l2_read = Bytes(kHeads * dim * size);
  ends.work.l2_write = Bytes(kHeads * value * (work.splits > 1 ? 4 : size));
  ends.chain.memory = 1;
  Profile profile;
  profile.kernel = call.seq_q == 1 ? "flash_fwd_splitkv_mla_sparse" : "sparse_attn_fwd";
  profile.family = "attention";
  profile.threads = 384;
  profile.ctas_per_sm = 1;
  const double blocks = work.queries * work.groups * work.splits;
  set_units(profile, {{blocks, {phase, ends}}});
  const auto cached = static_cast<double>(call.seq_kv) + static_cast<double>(call.window);
  const double unique = static_cast<double>(call.batch) *
                        std::min(cached, static_cast<double>(call.seq_q) * work.keys) * key;
  const double own = work.queries * static_cast<double>(call.heads);
  const double positions = work.queries * work.keys * 4;
  const double written = own * value * (work.splits > 1 ? 4 * work.splits : size);
  profile.traffic = streamed(unique + own * dim * size + positions, written);
  profile.traffic.recent_read = Bytes(own * dim * size + positions);
  profile.traffic.l2_read = Bytes(blocks * phase.trips * phase.work.l2_read.value());
  profile.behaviour.relative_error = table.error;
  profile.reasons = {"64 heads of a query, 64 chosen keys at a time (FlashMLA)"};
  return profile;
}

Profile combine(const SparseAttentionCall& call,
                const Work& work,
                const SparseTable& table,
                const machine::Chip& chip) {
  const double rows = work.queries * static_cast<double>(call.heads);
  const auto value = static_cast<double>(call.head_dim_v);
  const double read = work.splits * value * 4;
  const double write = value * element_size(call.dtype).value();
  return profile_of({.kernel = "flash_fwd_mla_combine",
                     .family = "attention",
                     .blocks = rows / 8,
                     .threads = 256,
                     .phases = {phase({.name = "rows",
                                       .warps = 8,
                                       .slots = 60 + 10 * work.splits,
                                       .l2_read = 8 * read,
                                       .l2_write = 8 * write,
                                       .memory = 2},
                                      chip)},
                     .moved = {.scratch = rows * read, .write = rows * write},
                     .error = table.error},
                    chip);
}

class SparseAttention final : public Family {
 public:
  explicit SparseAttention(SparseTable table) : table_(table) {}

  bool serves(const Call& call) const override {
    return std::holds_alternative<SparseAttentionCall>(call);
  }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& sparse = std::get<SparseAttentionCall>(call);
    if (element_size(sparse.dtype).value() != 2) {
      return make_error(ErrorCode::Unsupported,
                        "[library.sparse_attention] dtype: got {}, need bf16 or fp16",
                        name(sparse.dtype));
    }
    const Work work = work_of(sparse, chip);
    std::vector<Profile> sequence = {attend(sparse, work, table_)};
    if (work.splits > 1) {
      sequence.push_back(combine(sparse, work, table_, chip));
    }
    return Candidates{std::move(sequence)};
  }

 private:
  SparseTable table_;
};

}  // namespace

std::unique_ptr<Family> read_sparse_attention(machine::NumberFile& file) {
  SparseTable table;
  table.prefill_share = one(file, "sparse_attention.prefill_share");
  table.decode_share = one(file, "sparse_attention.decode_share");
  table.issue_per_score = one(file, "sparse_attention.issue_per_score");
  table.error = error_of(file, "sparse_attention");
  return std::make_unique<SparseAttention>(table);
}

}  // namespace orrery::library
