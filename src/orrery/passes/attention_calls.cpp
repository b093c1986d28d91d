// From an attention operator to its call.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/attention_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace orrery::passes {

namespace {

/// Whether a sequence of the mixed step is longer than a window or a chunk.
bool limits_keys(const graph::Attributes& attributes, const std::vector<Request>& requests) {
  return std::any_of(requests.begin(), requests.end(), [&](const Request& request) {
    const int64_t keys = request.tokens + request.cached;
    return (attributes.window > 0 && keys > attributes.window) ||
           (attributes.chunk > 0 && keys > attributes.chunk);
  });
}

/// The sequences of a mixed step: the variable-length entry of FlashAttention 2.
void pack(library::AttentionCall& call, const std::vector<Request>& requests) {
  call.batch = static_cast<int64_t>(requests.size());
  call.backend = "flash";
  call.causal = true;
  call.seq_q = 0;
  call.seq_kv = 0;
  for (const Request& request : requests) {
    call.lengths.push_back(request.tokens);
    call.key_lengths.push_back(request.tokens + request.cached);
    call.seq_q = std::max(call.seq_q, call.lengths.back());
    call.seq_kv = std::max(call.seq_kv, call.key_lengths.back());
  }
}

/// Queries of one chunk are a sequence of their own.
void cut_into_chunks(library::AttentionCall& call, int64_t chunk) {
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

Result<library::AttentionCall> attention_call(const graph::Graph& graph,
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
  // Of the framework's kernels one takes larger heads (sdp_utils.cpp, check_head_dim_size).
  constexpr int64_t kMostHead = 256;
  call.backend = call.head_dim > kMostHead ? "efficient" : "";
  if (context.requests.empty()) {
    limit_keys(call, op.attributes);
    return call;
  }
  if (call.head_dim_v != 0) {
    return not_packed(graph, op, "values of another size than keys");
  }
  if (limits_keys(op.attributes, context.requests)) {
    return not_packed(graph, op, "a window or chunks");
  }
  pack(call, context.requests);
  return call;
}

std::vector<std::string> attention_notes(const graph::Graph& graph, const graph::Op& op) {
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
  if (cache != queries) {
    notes.push_back(
        fmt::format("attention: its {} cache is timed as {}; serving engines' kernels for it are "
                    "`attention backend=vllm kv_dtype=...`",
                    name(cache),
                    name(queries)));
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
