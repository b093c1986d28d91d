// From an attention operator to its call.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/attention_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "orrery/passes/packed_calls.h"

namespace orrery::passes {

namespace {

// Of the framework's kernels one takes larger heads (sdp_utils.cpp, check_head_dim_size).
constexpr int64_t kMostHead = 256;

/// Some tokens of a sequence, and the keys that the last of them sees.
struct Piece {
  int64_t tokens = 0;
  int64_t keys = 0;
};

/// A request as kernels for packed sequences see it: without keys that lie before all windows, and
/// cut where chunks end.
void add_pieces(const Request& request,
                const graph::Attributes& attributes,
                std::vector<Piece>& pieces) {
  const int64_t cached =
      attributes.window > 0 ? std::min(request.cached, attributes.window - 1) : request.cached;
  if (attributes.chunk == 0) {
    pieces.push_back({request.tokens, request.tokens + cached});
    return;
  }
  int64_t at = request.cached;  // position of the next token
  const int64_t end = request.cached + request.tokens;
  while (at < end) {
    const int64_t chunk = at / attributes.chunk * attributes.chunk;
    const int64_t last = std::min(end, chunk + attributes.chunk);
    pieces.push_back({last - at, last - chunk});
    at = last;
  }
}

/// The sequences of a mixed step: the variable-length entry of FlashAttention 2.
void pack(library::AttentionCall& call,
          const graph::Attributes& attributes,
          const std::vector<Request>& requests) {
  std::vector<Piece> pieces;
  for (const Request& request : requests) {
    add_pieces(request, attributes, pieces);
  }
  call.batch = static_cast<int64_t>(pieces.size());
  call.backend = "flash";
  call.causal = true;
  call.seq_q = 0;
  call.seq_kv = 0;
  for (const Piece& piece : pieces) {
    call.lengths.push_back(piece.tokens);
    call.key_lengths.push_back(piece.keys);
    call.seq_q = std::max(call.seq_q, piece.tokens);
    call.seq_kv = std::max(call.seq_kv, piece.keys);
  }
  if (attributes.window > 0 && call.seq_q > 1) {  // a single token sees all that is left
    call.window = std::max<int64_t>(attributes.window - 1, 1);
  }
}

/// Queries of one chunk are a sequence of their own.
void cut_into_chunks(library::AttentionCall& call, int64_t chunk) {
  call.backend = "flash";  // of the framework's kernels the one for packed sequences
  const int64_t rest = call.seq_kv % chunk;
  for (int64_t i = 0; i < call.batch; ++i) {
    const auto whole = static_cast<size_t>(call.seq_kv / chunk);
    call.lengths.insert(call.lengths.end(), whole, chunk);
    if (rest > 0) {
      call.lengths.push_back(rest);
    }
  }
}

/// Windows and chunks. A single query reads the newest keys of its window, or of its chunk: as
/// many as a shorter context has.
void limit_keys(library::AttentionCall& call, const graph::Attributes& attributes) {
  if (call.seq_q == 1) {
    if (attributes.window > 0) {
      call.seq_kv = std::min(call.seq_kv, attributes.window);
    }
    if (attributes.chunk > 0) {
      call.seq_kv = (call.seq_kv - 1) % attributes.chunk + 1;
    }
    return;
  }
  if (attributes.window > 0) {
    call.window = std::max<int64_t>(attributes.window - 1, 1);
  }
  if (attributes.chunk > 0 && call.seq_kv > attributes.chunk) {
    cut_into_chunks(call, attributes.chunk);
  }
}

}  // namespace

namespace {

/// Sets the cache's type and whose kernel reads it. Values of another size than keys, which engines
/// have in prompts of latent attention, stay with the framework.
void by_engine(library::AttentionCall& call, DType cache, const Context& context) {
  const bool small = cache != call.dtype;
  if (small) {
    call.kv_dtype = cache;
  }
  const std::string backend =
      attention_backend(context.engine, small, context.architecture, call.seq_q == 1);
  if (!backend.empty() && call.head_dim_v == 0 && call.lengths.empty()) {
    call.backend = backend;
  }
}

library::AttentionCall attention_call(const graph::Graph& graph,
                                      const graph::Op& op,
                                      const Context& context) {
  const auto sizes = [&](size_t input) {
    return context.sizes(graph[op.inputs[input]].type.shape);
  };
  const std::vector<int64_t> q = sizes(0);
  const std::vector<int64_t> k = sizes(1);
  const int64_t value_dim = sizes(2)[3];
  library::AttentionCall call;
  call.batch = q[0];
  call.heads = q[1];
  call.kv_heads = k[1];
  call.seq_q = q[2];
  call.seq_kv = k[2];
  call.head_dim = q[3];
  call.head_dim_v = value_dim == call.head_dim ? 0 : value_dim;
  call.causal = op.attributes.causal;
  call.dtype = graph[op.result].type.dtype;
  call.backend = call.head_dim > kMostHead ? "efficient" : "";
  if (context.requests.empty()) {
    limit_keys(call, op.attributes);
    by_engine(call, graph[op.inputs[1]].type.dtype, context);
    return call;
  }
  call.head_dim_v = 0;  // kernels for packed sequences read values as wide as keys: padded ones
  pack(call, op.attributes, context.requests);
  return call;
}

}  // namespace

std::vector<NamedCall> attention_calls(const graph::Graph& graph,
                                       const graph::Op& op,
                                       const Context& context) {
  const library::AttentionCall one = attention_call(graph, op, context);
  const bool packed = one.head_dim <= kMostHead && context.engine == Engine::PyTorch;
  if (context.requests.empty() || packed) {
    return {{"", one}};
  }
  std::vector<NamedCall> calls;
  for (const SequenceGroup& group : groups_of(context.requests)) {
    library::AttentionCall call = one;
    call.batch = group.batch;
    call.seq_q = group.tokens;
    const int64_t window = op.attributes.window;
    call.seq_kv = window > 0 ? std::min(group.keys, group.tokens + window - 1) : group.keys;
    call.causal = group.tokens > 1;
    call.window = 0;
    call.lengths.clear();
    call.key_lengths.clear();
    call.backend = "efficient";
    by_engine(call, graph[op.inputs[1]].type.dtype, context);
    calls.push_back({group.suffix, std::move(call)});
  }
  return calls;
}

std::vector<std::string> attention_notes(const graph::Graph& graph,
                                         const graph::Op& op,
                                         const Context& context) {
  std::vector<std::string> notes;
  if (op.attributes.soft_cap > 0) {
    notes.emplace_back("attention: the soft cap of its scores is not timed");
  }
  if (op.attributes.biased) {
    notes.emplace_back("attention: the bias of its scores is not timed");
  }
  if (op.kind == graph::OpKind::Attention && op.inputs.size() > 3) {
    notes.emplace_back("attention: its sinks are not timed");
  }
  const DType cache = graph[op.inputs[1]].type.dtype;
  const DType queries = graph[op.inputs[0]].type.dtype;
  const bool packed = !context.requests.empty() && op.kind == graph::OpKind::Attention;
  if (packed && cache != queries) {
    notes.push_back(fmt::format(
        "attention: its {} cache is timed as {} in a mixed step", name(cache), name(queries)));
  }
  return notes;
}

Error not_packed(const graph::Graph& graph, const graph::Op& op, std::string_view what) {
  return make_error(ErrorCode::Unsupported,
                    "[passes.attention] {}: got {} in a mixed step, need attention to all keys "
                    "(only that has kernels for packed sequences here)",
                    graph[op.result].name,
                    what);
}

}  // namespace orrery::passes
