// Attention on the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "orrery/base/text.h"
#include "orrery/library/framework_attention.h"
#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

constexpr int64_t kMostLength = int64_t{1} << 32;

// Keys of packed sequences: as many as a sequence has queries, or more of a cache before them.
void read_key_lengths(ArgumentReader& reader, library::AttentionCall& call) {
  if (reader.text("key_lengths") == "none") {
    return;
  }
  call.key_lengths = reader.integers("key_lengths", 1, kMostLength);
  bool fit = call.key_lengths.size() == call.lengths.size();
  for (size_t i = 0; fit && i < call.lengths.size(); ++i) {
    fit = call.key_lengths[i] >= call.lengths[i];
    call.seq_kv = std::max(call.seq_kv, call.key_lengths[i]);
  }
  reader.require(fit,
                 fmt::format("key_lengths: got {} numbers for {} lengths, need as many, each at "
                             "least its length",
                             call.key_lengths.size(),
                             call.lengths.size()));
}

void read_lengths(ArgumentReader& reader, library::AttentionCall& call) {
  if (reader.text("lengths") == "none") {
    reader.require(reader.text("key_lengths") == "none",
                   "key_lengths: got some without lengths, need both");
    call.batch = reader.size("batch");
    call.seq_q = reader.size("seq_q");
    call.seq_kv = reader.size("seq_kv");
    return;
  }
  reader.excludes("lengths", {"batch", "seq_q", "seq_kv"});
  call.lengths = reader.integers("lengths", 1, kMostLength);
  call.batch = std::max<int64_t>(1, static_cast<int64_t>(call.lengths.size()));
  call.seq_q =
      call.lengths.empty() ? 1 : *std::max_element(call.lengths.begin(), call.lengths.end());
  call.seq_kv = call.seq_q;
  read_key_lengths(reader, call);
}

// A cache of another type than the queries.
void read_cache(ArgumentReader& reader, library::AttentionCall& call) {
  const std::string text = reader.text("kv_dtype");
  if (text == "dtype") {
    return;
  }
  const Result<DType> type = parse_dtype(text);
  reader.require(type.ok(), fmt::format("kv_dtype: got '{}', need an element type", text));
  if (type.ok() && *type != call.dtype) {
    call.kv_dtype = *type;
    reader.require(library::parse_backend(call.backend).known,
                   fmt::format("kv_dtype: got {} with backend {}, need a serving framework's: {}",
                               text,
                               call.backend,
                               orrery::join(library::framework_backends(), ", ")));
  }
}

void check(ArgumentReader& reader, const library::AttentionCall& call) {
  reader.elements("q", {call.batch, call.heads, call.seq_q, call.head_dim});
  reader.elements("k", {call.batch, call.kv_heads, call.seq_kv, call.head_dim});
  reader.require(
      call.heads % call.kv_heads == 0,
      fmt::format("heads: got {} with kv_heads {}, need a multiple", call.heads, call.kv_heads));
  reader.require(
      call.causal || call.window == 0,
      fmt::format("window: got {} with causal=0, need causal=1: a query sees keys before "
                  "its own",
                  call.window));
  reader.require(call.backend == "cudnn" || call.backend == "flash" ||
                     call.backend == "efficient" || library::parse_backend(call.backend).known,
                 fmt::format("backend: got '{}', need cudnn, flash, efficient, {}",
                             call.backend,
                             orrery::join(library::framework_backends(), ", ")));
}

library::Call attention_call(ArgumentReader& reader) {
  library::AttentionCall call;
  read_lengths(reader, call);
  call.heads = reader.size("heads");
  call.kv_heads = reader.size("kv_heads");
  call.head_dim = reader.integer("head_dim", 1, 1024);
  call.head_dim_v = reader.integer("head_dim_v", 1, 1024);
  call.values_in_keys = reader.flag("values_in_keys");
  reader.require(!call.values_in_keys || call.head_dim_v <= call.head_dim,
                 fmt::format("values_in_keys: got head_dim_v {} of {}, need at most as much",
                             call.head_dim_v,
                             call.head_dim));
  call.causal = reader.flag("causal");
  call.window = reader.integer("window", 0, kMostLength);
  const std::string direction = reader.text("direction");
  call.backward = direction == "backward";
  reader.require(direction == "forward" || call.backward,
                 fmt::format("direction: got '{}', need forward or backward", direction));
  call.backend = reader.text("backend");
  if (call.backend == "default") {  // cuDNN has no backward pass, packed lengths or windows here
    const bool flash = call.backward || !call.lengths.empty() || call.window > 0;
    call.backend = call.head_dim > 256 ? "efficient" : flash ? "flash" : "cudnn";
  }
  call.dtype = reader.dtype();
  read_cache(reader, call);
  check(reader, call);
  return call;
}

// A framework's own kernel of latent attention: absorbed for one new token, else in the form that
// it takes on the machine.
void read_framework(ArgumentReader& reader, library::AttentionCall& call, bool absorbed) {
  const std::string backend = reader.text("backend");
  if (backend == "default") {
    return;
  }
  const library::BackendName asked = library::parse_backend(backend);
  reader.require(!asked.framework.empty() && asked.kernel.empty(),
                 fmt::format("backend: got '{}', need default, sglang, vllm or trtllm", backend));
  call.backend = backend + "-mla";
  if (absorbed) {  // heads were rows of one head
    call.heads = call.seq_q;
    call.seq_q = 1;
  }
  read_cache(reader, call);
}

// Multi-head latent attention as DeepSeek V2 and V3 have it: heads of 128 + 64 (rotary) and values
// of 128; absorbed, all heads share one latent of 512 + 64, and their queries are its rows.
library::Call mla_call(ArgumentReader& reader) {
  constexpr int64_t kNope = 128;
  constexpr int64_t kRope = 64;
  constexpr int64_t kLatent = 512;
  library::AttentionCall call;
  call.batch = reader.size("batch");
  call.heads = reader.size("heads");
  call.seq_q = reader.size("seq_q");
  call.seq_kv = reader.size("seq_kv");
  call.causal = reader.flag("causal");
  call.dtype = reader.dtype();
  const std::string form = reader.text("form");
  const bool absorbed = form == "absorbed" || (form == "auto" && call.seq_q == 1);
  reader.require(absorbed || form == "auto" || form == "expanded",
                 fmt::format("form: got '{}', need auto, absorbed or expanded", form));
  if (absorbed) {
    call.seq_q *= call.heads;
    call.heads = 1;
    call.kv_heads = 1;
    call.head_dim = kLatent + kRope;
    call.head_dim_v = kLatent;
    call.values_in_keys = true;
    call.causal = false;  // rows of one position see the same keys
    call.backend = "efficient";
  } else {
    call.kv_heads = call.heads;
    call.head_dim = kNope + kRope;
    call.head_dim_v = kNope;
    call.backend = "cudnn";
  }
  read_framework(reader, call, absorbed);
  reader.elements("q", {call.batch, call.heads, call.seq_q, call.head_dim});
  reader.elements("k", {call.batch, call.kv_heads, call.seq_kv, call.head_dim});
  return call;
}

}  // namespace

std::vector<Operator> attention_operators() {
  return {{"attention",
           "scaled dot-product attention",
           {{"batch", "1", "sequences"},
            {"heads", "", "query heads"},
            {"kv_heads", "heads", "key and value heads"},
            {"seq_q", "1", "new tokens; 1 is decode"},
            {"seq_kv", "seq_q", "tokens attended to"},
            {"lengths", "none", "packed sequences of these lengths: 512,100,64", true},
            {"key_lengths", "none", "their keys, cached ones included: 1536,100,2048", true},
            {"head_dim", "128", "size of a head"},
            {"head_dim_v", "head_dim", "size of a head of the values"},
            {"values_in_keys", "0", "1: a value is the first head_dim_v numbers of its key"},
            {"causal", "0", "1: token i sees keys up to its own"},
            {"window", "0", "keys before its own that a token sees; 0: all"},
            {"direction", "forward", "forward or backward"},
            {"backend",
             "default",
             "cudnn, flash, efficient; a framework: sglang, vllm, trtllm; its kernel: flash3, "
             "vllm-flash2 ..."},
            {"kv_dtype", "dtype", "element type of the cache of keys and values (frameworks)"},
            kDtypeKey},
           attention_call},
          {"mla",
           "multi-head latent attention, heads of 192 / 128 or absorbed 576 / 512",
           {{"batch", "", "sequences"},
            {"heads", "", "query heads of this GPU"},
            {"seq_q", "1", "new tokens; 1 is decode"},
            {"seq_kv", "seq_q", "tokens attended to"},
            {"causal", "0", "1: token i sees keys up to its own"},
            {"form", "auto", "expanded, absorbed; auto: absorbed for one new token"},
            {"backend", "default", "PyTorch's, or a framework's kernel: sglang, vllm, trtllm"},
            {"kv_dtype", "dtype", "element type of the cache (frameworks)"},
            kDtypeKey},
           mla_call}};
}

}  // namespace orrery::session
