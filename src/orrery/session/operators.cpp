// The operators of the command line, and the reader of their arguments.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/operators.h"

#include <algorithm>

#include "orrery/base/text.h"
#include "orrery/session/argument_reader.h"

namespace orrery::session {

namespace {

constexpr Key kDtype{"dtype", "bf16", "bf16, fp16, fp32, tf32, fp8 ..."};

Operator gemm() {
  return {"gemm",
          "C[m, n] = A[m, k] B[n, k]^T, a linear layer",
          {{"m", "", "rows of A: tokens"},
           {"n", "", "rows of B: output features"},
           {"k", "", "columns of both: input features"},
           {"batch", "1", "independent products"},
           kDtype}};
}

Operator attention() {
  return {"attention",
          "scaled dot-product attention",
          {{"batch", "", "sequences"},
           {"heads", "", "query heads"},
           {"kv_heads", "heads", "key and value heads"},
           {"seq_q", "", "new tokens; 1 is decode"},
           {"seq_kv", "seq_q", "tokens attended to"},
           {"head_dim", "128", "size of a head"},
           {"causal", "0", "1: token i sees keys up to its own"},
           {"backend", "cudnn", "cudnn or flash"},
           kDtype}};
}

Operator rows(std::string_view name, std::string_view summary) {
  return {name,
          summary,
          {{"rows", "", "rows"},
           {"cols", "", "columns"},
           {"strided", "0", "1: an operand is not dense, or broadcast"},
           kDtype}};
}

/// Products are written in the input's type, but fp8 ones as bf16 and tf32 ones as fp32.
DType output_of(DType input) {
  const bool eight_bit = input == DType::F8E4M3 || input == DType::F8E5M2;
  return eight_bit ? DType::BF16 : input == DType::TF32 ? DType::F32 : input;
}

library::Call gemm_call(ArgumentReader& reader) {
  library::GemmCall call;
  call.batch = reader.size("batch");
  call.m = reader.size("m");
  call.n = reader.size("n");
  call.k = reader.size("k");
  call.input = reader.dtype();
  call.output = output_of(call.input);
  reader.elements("A", {call.batch, call.m, call.k});
  reader.elements("B", {call.batch, call.n, call.k});
  reader.elements("C", {call.batch, call.m, call.n});
  return call;
}

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

library::Call rows_call(ArgumentReader& reader, std::string_view name) {
  library::RowsCall call;
  call.op = name;
  call.rows = reader.size("rows");
  call.cols = reader.size("cols");
  call.strided = reader.flag("strided");
  call.dtype = reader.dtype();
  reader.elements("rows x cols", {call.rows, call.cols});
  return call;
}

}  // namespace

const std::vector<Operator>& operators() {
  static const std::vector<Operator> kAll = {
      gemm(),
      attention(),
      rows("rms_norm", "root mean square normalisation of each row"),
      rows("layer_norm", "layer normalisation of each row"),
      rows("softmax", "softmax of each row"),
      rows("embedding", "rows gathered from a table"),
      rows("add", "sum of two operands"),
      rows("mul", "product of two operands"),
      rows("neg", "negation"),
      rows("exp", "exponential"),
      rows("silu", "x / (1 + exp(-x))"),
      rows("gelu", "x Phi(x)"),
      rows("copy", "a copy"),
      rows("cat", "two operands joined; rows x cols of the result"),
      rows("cast_fp32", "conversion to fp32"),
  };
  return kAll;
}

const Operator* find_operator(std::string_view name) {
  const auto& all = operators();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const Operator& op) { return op.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<library::Call> parse_call(std::string_view name, std::span<const std::string> arguments) {
  const Operator* op = find_operator(name);
  if (op == nullptr) {
    std::vector<std::string> names;
    for (const Operator& each : operators()) {
      names.emplace_back(each.name);
    }
    return make_error(ErrorCode::NotFound,
                      "[session.operators] operator: got '{}', need one of {}{}",
                      name,
                      join(names, ", "),
                      did_you_mean(name, names));
  }
  ArgumentReader reader(*op, arguments);
  library::Call call = name == "gemm"        ? gemm_call(reader)
                       : name == "attention" ? attention_call(reader)
                                             : rows_call(reader, name);
  ORR_TRY_VOID(reader.finish());
  return call;
}

}  // namespace orrery::session
