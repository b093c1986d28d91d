// Recurrent layers, their convolutions and sparse attention on the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

constexpr int64_t kMostTokens = int64_t{1} << 32;

bool step_of(ArgumentReader& reader) {
  const std::string phase = reader.text("phase");
  reader.require(phase == "decode" || phase == "prefill",
                 fmt::format("phase: got '{}', need prefill or decode", phase));
  return phase == "decode";
}

int64_t tokens_of(ArgumentReader& reader, bool step) {
  const int64_t seq = reader.integer("seq", 1, kMostTokens);
  reader.require(!step || seq == 1,
                 fmt::format("seq: got {} with phase=decode, need 1: one token a sequence", seq));
  return seq;
}

DType type_of(ArgumentReader& reader, std::string_view key) {
  const std::string text = reader.text(key);
  const auto type = parse_dtype(text);
  reader.require(type.ok(), fmt::format("{}: got '{}', need bf16, fp16, fp32 ...", key, text));
  return type.ok() ? *type : DType::F32;
}

library::Call state_mix_call(ArgumentReader& reader) {
  library::StateMixCall call;
  const auto kind = library::parse_state_mix(reader.text("kind"));
  reader.require(
      kind.ok(),
      fmt::format("kind: got '{}', need gated_delta, kimi_delta, lightning, mamba1 or mamba2",
                  reader.text("kind")));
  call.kind = kind.ok() ? *kind : library::StateMix::GatedDelta;
  call.step = step_of(reader);
  call.batch = reader.size("batch");
  call.seq = tokens_of(reader, call.step);
  call.k_heads = reader.size("k_heads");
  call.k_dim = reader.integer("k_dim", 1, 256);
  call.v_heads = reader.size("v_heads");
  call.v_dim = reader.integer("v_dim", 1, 256);
  call.dtype = reader.dtype();
  call.state = type_of(reader, "state_dtype");
  call.fresh_state = reader.flag("fresh_state");
  const std::string backend = reader.text("backend");
  reader.require(backend == "default" || backend == "flydsl",
                 fmt::format("backend: got '{}', need default or flydsl", backend));
  call.backend = backend == "default" ? "" : backend;
  reader.require(
      call.v_heads % call.k_heads == 0,
      fmt::format("v_heads: got {} with k_heads {}, need a multiple", call.v_heads, call.k_heads));
  reader.elements("states", {call.batch, call.v_heads, call.k_dim, call.v_dim});
  reader.elements("v", {call.batch, call.seq, call.v_heads, call.v_dim});
  return call;
}

library::Call conv1d_call(ArgumentReader& reader) {
  library::Conv1dCall call;
  call.step = step_of(reader);
  call.batch = reader.size("batch");
  call.seq = tokens_of(reader, call.step);
  call.channels = reader.size("channels");
  call.taps = reader.integer("taps", 2, 4);
  call.dtype = reader.dtype();
  const std::string backend = reader.text("backend");
  reader.require(backend == "default" || backend == "sglang",
                 fmt::format("backend: got '{}', need default or sglang", backend));
  call.backend = backend == "default" ? "" : backend;
  reader.elements("x", {call.batch, call.seq, call.channels});
  return call;
}

library::Call indexer_call(ArgumentReader& reader) {
  library::IndexerCall call;
  call.batch = reader.size("batch");
  call.seq_q = reader.size("seq_q");
  call.seq_kv = reader.size("seq_kv");
  call.heads = reader.integer("heads", 1, 1024);
  call.head_dim = reader.integer("head_dim", 1, 1024);
  call.topk = reader.size("topk");
  call.compress = reader.integer("compress", 1, 1024);
  call.dtype = reader.dtype();
  reader.elements("scores", {call.batch, call.seq_q, call.seq_kv});
  reader.elements("q", {call.batch, call.seq_q, call.heads, call.head_dim});
  return call;
}

library::Call sparse_attention_call(ArgumentReader& reader) {
  library::SparseAttentionCall call;
  call.batch = reader.size("batch");
  call.heads = reader.integer("heads", 1, 1024);
  call.seq_q = reader.size("seq_q");
  call.seq_kv = reader.size("seq_kv");
  call.head_dim = reader.integer("head_dim", 1, 1024);
  call.head_dim_v = reader.integer("head_dim_v", 1, 1024);
  call.topk = reader.integer("topk", 0, kMostTokens);
  call.window = reader.integer("window", 0, kMostTokens);
  call.compress = reader.integer("compress", 1, 1024);
  call.dtype = reader.dtype();
  call.kv_dtype = type_of(reader, "kv_dtype");
  reader.elements("q", {call.batch, call.seq_q, call.heads, call.head_dim});
  reader.elements("k", {call.batch, call.seq_kv, call.head_dim});
  return call;
}

std::vector<Operator> recurrent_operators() {
  return {{"state_mix",
           "a recurrent layer between its projections: delta rules, lightning attention, Mamba",
           {{"kind", "", "gated_delta, kimi_delta, lightning, mamba1 or mamba2"},
            {"phase", "prefill", "prefill: a scan over chunks; decode: one token a sequence"},
            {"batch", "1", "sequences"},
            {"seq", "1", "new tokens of a sequence"},
            {"k_heads", "", "heads of q and k; Mamba: groups"},
            {"k_dim", "128", "size of a head of k; Mamba: state size"},
            {"v_heads", "", "heads of v; Mamba 2: heads; Mamba 1: channels"},
            {"v_dim", "128", "size of a head of v; Mamba 1: 1"},
            {"state_dtype", "fp32", "of the states between calls"},
            {"fresh_state", "0", "1: decode writes the states in fp32, elsewhere"},
            {"backend", "default", "default, or flydsl"},
            kDtypeKey},
           state_mix_call},
          {"causal_conv1d",
           "the causal convolution before a recurrent layer, with its activation",
           {{"phase", "prefill", "prefill, or decode: one token a sequence"},
            {"batch", "1", "sequences"},
            {"seq", "1", "new tokens of a sequence"},
            {"channels", "", "channels"},
            {"taps", "4", "tokens that a filter sees, 2 to 4"},
            {"backend", "default", "default, or sglang (built without fast math)"},
            kDtypeKey},
           conv1d_call}};
}

}  // namespace

std::vector<Operator> mixer_operators() {
  std::vector<Operator> all = recurrent_operators();
  all.push_back({"indexer",
                 "scores of sparse attention's index heads, and the keys of the largest",
                 {{"batch", "1", "sequences"},
                  {"heads", "64", "heads of the index"},
                  {"seq_q", "1", "new tokens; 1 is decode"},
                  {"seq_kv", "seq_q", "keys of the index"},
                  {"head_dim", "128", "size of a head"},
                  {"topk", "2048", "keys that are chosen"},
                  {"compress", "1", "tokens that a key stands for"},
                  {"dtype", "fp8", "fp8 or bf16"}},
                 indexer_call});
  all.push_back({"sparse_attention",
                 "attention of each query to keys of its own choice, one latent for all heads",
                 {{"batch", "1", "sequences"},
                  {"heads", "128", "query heads of this GPU"},
                  {"seq_q", "1", "new tokens; 1 is decode"},
                  {"seq_kv", "seq_q", "keys to choose from"},
                  {"head_dim", "576", "size of a key"},
                  {"head_dim_v", "512", "part of it that is the value"},
                  {"topk", "2048", "keys that a query sees; 0: all"},
                  {"window", "0", "last tokens that it sees besides"},
                  {"compress", "1", "tokens that a key stands for"},
                  {"kv_dtype", "dtype", "of the cache: bf16 or fp8"},
                  kDtypeKey},
                 sparse_attention_call});
  return all;
}

}  // namespace orrery::session
