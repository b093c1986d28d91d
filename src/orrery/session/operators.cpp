// The operators of the command line, and the reader of their arguments.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/session/operators.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "orrery/base/text.h"

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

/// Reads arguments of one operator and collects what is wrong.
class Reader {
 public:
  Reader(const Operator& op, std::span<const std::string> arguments) : op_(op) {
    for (const std::string& argument : arguments) {
      take(argument);
    }
    for (const Key& key : op.keys) {
      if (key.preset.empty() && !values_.contains(key.name)) {
        wrong_.push_back(fmt::format("{}: got none, need {}", key.name, key.meaning));
      }
    }
  }

  /// The text of a key: as given, or its preset, which may name another key.
  std::string text(std::string_view name) const {
    const auto given = values_.find(name);
    if (given != values_.end()) {
      return given->second;
    }
    for (const Key& key : op_.keys) {
      if (key.name == name) {
        const bool other = std::any_of(op_.keys.begin(), op_.keys.end(), [&key](const Key& each) {
          return each.name == key.preset;
        });
        return other ? text(key.preset) : std::string(key.preset);
      }
    }
    return "";
  }

  int64_t integer(std::string_view name, int64_t least, int64_t most) {
    const std::string written = text(name);
    if (written.empty()) {
      return least;  // reported as missing
    }
    int64_t value = 0;
    const char* end = written.data() + written.size();
    const auto read = std::from_chars(written.data(), end, value);
    if (read.ec != std::errc{} || read.ptr != end || value < least || value > most) {
      wrong_.push_back(fmt::format("{}: got '{}', need {} to {}", name, written, least, most));
      return least;
    }
    return value;
  }

  int64_t size(std::string_view name) { return integer(name, 1, int64_t{1} << 32); }

  bool flag(std::string_view name) { return integer(name, 0, 1) == 1; }

  DType dtype() {
    const std::string written = text("dtype");
    const Result<DType> type = parse_dtype(written);
    if (!type.ok()) {
      wrong_.push_back(fmt::format("dtype: got '{}', need bf16, fp16, fp32, tf32 or fp8", written));
      return DType::BF16;
    }
    return *type;
  }

  /// A tensor of so many elements has to stay below 2^48, a thousand times what memories hold.
  void elements(std::string_view what, std::initializer_list<int64_t> extents) {
    double product = 1;
    for (const int64_t extent : extents) {
      product *= static_cast<double>(extent);
    }
    constexpr double kMost = 281474976710656.0;
    if (product > kMost) {
      wrong_.push_back(fmt::format("{}: got {:.3g} elements, need at most 2^48", what, product));
    }
  }

  void require(bool holds, std::string message) {
    if (!holds) {
      wrong_.push_back(std::move(message));
    }
  }

  Result<void> finish() const {
    if (wrong_.empty()) {
      return {};
    }
    return make_error(
        ErrorCode::InvalidInput, "[session.operators] {}: {}", op_.name, join(wrong_, "; "));
  }

 private:
  void take(const std::string& argument) {
    const size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals);
    std::vector<std::string> names;
    for (const Key& each : op_.keys) {
      names.emplace_back(each.name);
    }
    if (equals == std::string::npos || key.empty()) {
      wrong_.push_back(fmt::format("got '{}', need key=value", argument));
    } else if (std::find(names.begin(), names.end(), key) == names.end()) {
      wrong_.push_back(fmt::format(
          "{}: not an argument, need {}{}", key, join(names, ", "), did_you_mean(key, names)));
    } else if (!values_.emplace(key, argument.substr(equals + 1)).second) {
      wrong_.push_back(fmt::format("{}: given twice", key));
    } else if (equals + 1 == argument.size()) {
      wrong_.push_back(fmt::format("{}: got nothing after '='", key));
    }
  }

  const Operator& op_;
  std::map<std::string, std::string, std::less<>> values_;
  std::vector<std::string> wrong_;
};

/// Products are written in the input's type, but fp8 ones as bf16 and tf32 ones as fp32.
DType output_of(DType input) {
  const bool eight_bit = input == DType::F8E4M3 || input == DType::F8E5M2;
  return eight_bit ? DType::BF16 : input == DType::TF32 ? DType::F32 : input;
}

library::Call gemm_call(Reader& reader) {
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

library::Call attention_call(Reader& reader) {
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

library::Call rows_call(Reader& reader, std::string_view name) {
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
  static const std::vector<Operator> all = {
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
  return all;
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
  Reader reader(*op, arguments);
  library::Call call = name == "gemm"        ? gemm_call(reader)
                       : name == "attention" ? attention_call(reader)
                                             : rows_call(reader, name);
  ORR_TRY_VOID(reader.finish());
  return call;
}

}  // namespace orrery::session
