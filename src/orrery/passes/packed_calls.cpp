// One call a group of sequences.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/passes/packed_calls.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "orrery/passes/attention_calls.h"
#include "orrery/passes/mixed_calls.h"

namespace orrery::passes {

namespace {

using graph::OpKind;

/// Sums over the sequences of a group to be.
struct Sum {
  int64_t batch = 0;
  int64_t tokens = 0;
  int64_t keys = 0;

  void add(const Request& request) {
    ++batch;
    tokens += request.tokens;
    keys += request.tokens + request.cached;
  }

  SequenceGroup mean(std::string suffix) const {
    return {std::move(suffix), batch, (tokens + batch - 1) / batch, (keys + batch - 1) / batch};
  }
};

/// Head sizes of latent attention before its keys and values are absorbed.
struct Expanded {
  int64_t heads = 0;
  int64_t key = 0;  // without the rotary part
  int64_t rope = 0;
  int64_t value = 0;
  int64_t rank = 0;
};

/// Read off the products around the attention: queries [h, rank, key] before it, values [h, value,
/// rank] after it.
std::optional<Expanded> expanded_of(const graph::Graph& graph, const graph::Op& op) {
  const auto weight = [&graph](const graph::Op& product) {
    return graph[product.inputs[1]].type.shape;
  };
  const auto producer = [&graph](graph::ValueId value) -> const graph::Op* {
    return graph[value].producer.valid() ? &graph[graph[value].producer] : nullptr;
  };
  const graph::Op* joined = producer(op.inputs[0]);
  const graph::Op* absorbed =
      joined == nullptr || joined->kind != OpKind::Cat ? nullptr : producer(joined->inputs[0]);
  const auto after = std::find_if(graph.ops().begin(), graph.ops().end(), [&op](const auto& each) {
    return each.kind == OpKind::HeadLinear && each.inputs[0] == op.result;
  });
  if (absorbed == nullptr || absorbed->kind != OpKind::HeadLinear || after == graph.ops().end()) {
    return std::nullopt;
  }
  Expanded sizes;
  sizes.heads = weight(*absorbed)[0].fixed;
  sizes.rank = weight(*absorbed)[1].fixed;
  sizes.key = weight(*absorbed)[2].fixed;
  sizes.rope = graph[op.inputs[0]].type.shape[3].fixed - sizes.rank;
  sizes.value = weight(*after)[1].fixed;
  return sizes;
}

/// A call of one size, made one of the group's.
struct Resize {
  const SequenceGroup& group;

  void operator()(library::StateMixCall& call) const {
    call.batch = group.batch;
    call.seq = group.tokens;
    call.step = group.tokens == 1;
  }

  void operator()(library::Conv1dCall& call) const {
    call.batch = group.batch;
    call.seq = group.tokens;
    call.step = group.tokens == 1;
  }

  void operator()(library::IndexerCall& call) const {
    call.batch = group.batch;
    call.seq_q = group.tokens;
    call.seq_kv = group.keys;
  }

  void operator()(library::SparseAttentionCall& call) const {
    call.batch = group.batch;
    call.seq_q = group.tokens;
    call.seq_kv = group.keys;
  }

  template <class Other>
  void operator()(Other& /*other*/) const {
    ORR_UNREACHABLE();
  }
};

/// Latent attention of one new token a sequence.
library::AttentionCall absorbed_call(library::AttentionCall call,
                                     const SequenceGroup& group,
                                     int64_t heads) {
  call.batch = group.batch;
  call.seq_kv = group.keys;
  call.causal = false;
  const bool in_one = call.backend != "efficient";  // a kernel that knows shared heads
  call.heads = in_one ? heads : 1;
  call.seq_q = in_one ? 1 : heads;
  return call;
}

void add_chunk(const Expanded& sizes,
               const SequenceGroup& group,
               DType dtype,
               std::vector<NamedCall>& calls) {
  const int64_t cached = group.keys - group.tokens;
  if (cached > 0) {
    library::GemmCall expand;
    expand.m = group.batch * cached;
    expand.n = sizes.heads * (sizes.key + sizes.value);
    expand.k = sizes.rank;
    expand.input = dtype;
    expand.output = dtype;
    calls.push_back({group.suffix + ".expand", expand});
  }
  library::AttentionCall call;
  call.batch = group.batch;
  call.heads = sizes.heads;
  call.kv_heads = sizes.heads;
  call.seq_q = group.tokens;
  call.seq_kv = group.keys;
  call.head_dim = sizes.key + sizes.rope;
  call.causal = true;
  call.dtype = dtype;
  call.backend = "flash";
  calls.push_back({group.suffix, call});
}

Result<std::vector<NamedCall>> latent_calls(const graph::Graph& graph,
                                            const graph::Op& op,
                                            const Context& context) {
  const std::optional<Expanded> sizes = expanded_of(graph, op);
  if (!sizes) {
    return not_packed(graph, op, "latent attention without its projections");
  }
  const auto call = std::get<library::AttentionCall>(mixed_call(graph, op, context));
  std::vector<NamedCall> calls;
  for (const SequenceGroup& group : groups_of(context.requests)) {
    if (group.tokens == 1) {
      calls.push_back({group.suffix, absorbed_call(call, group, sizes->heads)});
    } else {
      add_chunk(*sizes, group, call.dtype, calls);
    }
  }
  return calls;
}

}  // namespace

std::vector<SequenceGroup> groups_of(const std::vector<Request>& requests) {
  Sum decode;
  Sum all_chunks;
  std::vector<SequenceGroup> chunks;
  for (const Request& request : requests) {
    if (request.tokens == 1) {
      decode.add(request);
      continue;
    }
    all_chunks.add(request);
    const int64_t keys = request.tokens + request.cached;
    const auto same = std::find_if(chunks.begin(), chunks.end(), [&](const SequenceGroup& group) {
      return group.tokens == request.tokens && group.keys == keys;
    });
    if (same != chunks.end()) {
      ++same->batch;
    } else {
      const std::string suffix =
          chunks.empty() ? ".chunk" : fmt::format(".chunk{}", chunks.size() + 1);
      chunks.push_back({suffix, 1, request.tokens, keys});
    }
  }
  if (chunks.size() > kMostChunks) {
    chunks = {all_chunks.mean(".chunk")};
  }
  if (decode.batch > 0) {
    chunks.insert(chunks.begin(), decode.mean(".decode"));
  }
  return chunks;
}

Result<std::vector<NamedCall>> packed_calls(const graph::Graph& graph,
                                            const graph::Op& op,
                                            const Context& context) {
  const library::Call one = mixed_call(graph, op, context);
  if (std::holds_alternative<library::AttentionCall>(one)) {
    return latent_calls(graph, op, context);
  }
  std::vector<NamedCall> calls;
  for (const SequenceGroup& group : groups_of(context.requests)) {
    library::Call call = one;
    std::visit(Resize{group}, call);
    calls.push_back({group.suffix, std::move(call)});
  }
  return calls;
}

}  // namespace orrery::passes
