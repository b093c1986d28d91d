// The index of sparse attention: scores of all keys, then the positions of the largest.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/library/counts.h"
#include "orrery/library/launch.h"
#include "orrery/library/sparse_attention.h"
#include "orrery/library/sparse_counts.h"

namespace orrery::library {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

struct IndexTable {
  double tensor_share = 1;
  double issue_per_score = 0;   // of a warp, for 32 products of a head and a key
  double issue_per_choice = 0;  // of a warp, for 32 scores, all passes
  double passes = 1;            // over a row of scores
  double error = 0;
};

// deep_gemm/impls/sm90_fp8_mqa_logits.cuh, sm90_fp8_paged_mqa_logits.cuh: a block of 256 keys
// against the heads of as many queries as make 128 rows (64 in decode, one query); relu, weights
// and the sum over heads in registers. Blocks are persistent, keys go through a ring of 3.
constexpr double kKeys = 256;

Profile scores(const IndexerCall& call, const IndexTable& table, const machine::Chip& chip) {
  const Seen seen = seen_keys(call.seq_q, call.seq_kv, call.compress, call.topk);
  const auto batch = static_cast<double>(call.batch);
  const auto heads = static_cast<double>(call.heads);
  const auto depth = static_cast<double>(call.head_dim);
  const double size = element_size(call.dtype).value();
  const double key = depth * size + 4;  // and a scale
  const bool decode = call.seq_q == 1;
  const double queries = decode ? 1 : std::max(1.0, std::floor(128 / heads));
  const double rows = std::max(64.0, queries * heads);
  const double blocks = std::max(1.0, batch * seen.all / queries / kKeys);
  ProfilePhase phase;
  phase.name = "keys";
  phase.ring = 3;
  phase.work.tensor = Flops(2 * rows * kKeys * depth);
  phase.work.tensor_type = chip.core.tensor.contains(call.dtype) ? call.dtype : DType::BF16;
  phase.work.tensor_share = table.tensor_share;
  phase.work.issue = Instructions(rows * kKeys / 32 * table.issue_per_score);
  phase.work.l2_read = Bytes(kKeys * key);
  phase.work.l2_write = Bytes(queries * kKeys * 4);
  phase.chain.memory = 1;
  Profile profile;
  profile.kernel = decode ? "fp8_paged_mqa_logits" : "fp8_mqa_logits";
  profile.family = "indexer";
  profile.threads = 384;
  profile.ctas_per_sm = 1;
  set_units(profile, {{std::ceil(blocks), {phase}}});
  profile.ctas = std::min(profile.units, chip.core.count);
  const double keys = batch * static_cast<double>(call.seq_kv) * key;
  const double query = product(call.batch, call.seq_q) * heads * (depth * size + 4);
  profile.traffic = streamed(keys + query, batch * seen.all * 4);
  profile.traffic.recent_read = Bytes(query);
  profile.traffic.l2_read = Bytes(blocks * kKeys * key + query);
  profile.behaviour.relative_error = table.error;
  profile.reasons = {"index heads against all keys that a query sees (DeepGEMM)"};
  return profile;
}

// cpp/tensorrt_llm/kernels/indexerTopK.cu: a block of 512 threads a row; histograms of ever lower
// bits of the scores, then the positions.
Profile choice(const IndexerCall& call, const IndexTable& table, const machine::Chip& chip) {
  const Seen seen = seen_keys(call.seq_q, call.seq_kv, call.compress, call.topk);
  const double rows = product(call.batch, call.seq_q);
  const double each = std::max(1.0, seen.all / static_cast<double>(call.seq_q));
  const auto chosen = static_cast<double>(call.topk);
  const double bytes = rows * each * 4;
  Profile profile =
      profile_of({.kernel = "topKPerRow",
                  .family = "indexer",
                  .blocks = rows,
                  .threads = 512,
                  .registers = 40,
                  .shared = 32768,
                  .phases = {phase({.name = "pass",
                                    .trips = table.passes,
                                    .warps = 16,
                                    .slots = each / 512 * table.issue_per_choice / table.passes,
                                    .l2_read = each * 4,
                                    .l2_write = chosen * 4 / table.passes,
                                    .memory = 2,
                                    .shared = 8,
                                    .barriers = 6,
                                    .instructions = 60},
                                   chip)},
                  .moved = {.scratch = bytes, .write = rows * chosen * 4},
                  .error = table.error},
                 chip);
  profile.traffic.l2_read = Bytes(bytes * table.passes);
  profile.reasons = {"the largest scores of each row by radix selection (TensorRT-LLM)"};
  return profile;
}

class Indexer final : public Family {
 public:
  explicit Indexer(IndexTable table) : table_(table) {}

  bool serves(const Call& call) const override { return std::holds_alternative<IndexerCall>(call); }

  Result<Candidates> candidates(const Call& call, const machine::Chip& chip) const override {
    const auto& index = std::get<IndexerCall>(call);
    if (index.dtype != DType::F8E4M3 && index.dtype != DType::BF16) {
      return make_error(ErrorCode::Unsupported,
                        "[library.indexer] dtype: got {}, need fp8 or bf16",
                        name(index.dtype));
    }
    return Candidates{{scores(index, table_, chip), choice(index, table_, chip)}};
  }

 private:
  IndexTable table_;
};

}  // namespace

std::unique_ptr<Family> read_indexer(machine::NumberFile& file) {
  IndexTable table;
  table.tensor_share = one(file, "indexer.tensor_share");
  table.issue_per_score = one(file, "indexer.issue_per_score");
  table.issue_per_choice = one(file, "indexer.issue_per_choice");
  table.passes = one(file, "indexer.passes");
  table.error = error_of(file, "indexer");
  return std::make_unique<Indexer>(table);
}

}  // namespace orrery::library
