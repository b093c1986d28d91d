// Attention on the command line.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "orrery/session/argument_reader.h"
#include "orrery/session/operators.h"

namespace orrery::session {

namespace {

library::Call attention_call(ArgumentReader& reader) {
  library::AttentionCall call;
  call.batch = reader.size("batch");
  call.heads = reader.size("heads");
  call.kv_heads = reader.size("kv_heads");
  call.seq_q = reader.size("seq_q");
  call.seq_kv = reader.size("seq_kv");
  call.head_dim = reader.integer("head_dim", 1, 1024);
  call.causal = reader.flag("causal");
  call.backend = reader.text("backend");
  call.dtype = reader.dtype();
  reader.elements("q", {call.batch, call.heads, call.seq_q, call.head_dim});
  reader.elements("k", {call.batch, call.kv_heads, call.seq_kv, call.head_dim});
  reader.require(
      call.heads % call.kv_heads == 0,
      fmt::format("heads: got {} with kv_heads {}, need a multiple", call.heads, call.kv_heads));
  reader.require(call.backend == "cudnn" || call.backend == "flash",
                 fmt::format("backend: got '{}', need cudnn or flash", call.backend));
  return call;
}

}  // namespace

std::vector<Operator> attention_operators() {
  return {{"attention",
           "scaled dot-product attention",
           {{"batch", "", "sequences"},
            {"heads", "", "query heads"},
            {"kv_heads", "heads", "key and value heads"},
            {"seq_q", "", "new tokens; 1 is decode"},
            {"seq_kv", "seq_q", "tokens attended to"},
            {"head_dim", "128", "size of a head"},
            {"causal", "0", "1: token i sees keys up to its own"},
            {"backend", "cudnn", "cudnn or flash"},
            kDtypeKey},
           attention_call}};
}

}  // namespace orrery::session
