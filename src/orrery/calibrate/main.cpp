// Scores a machine and a library file against measured tables: one CSV line per case, for
// tools/fit.py.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "orrery/cost/estimate.h"
#include "orrery/library/library.h"
#include "orrery/machine/machine.h"

namespace {

using namespace orrery;

using Row = std::map<std::string, std::string>;

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::vector<Row> read_csv(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto header = split(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const auto cells = split(line);
    Row row;
    for (size_t i = 0; i < header.size() && i < cells.size(); ++i) {
      row[header[i]] = cells[i];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

int64_t number(const Row& row, const std::string& key) {
  return std::stoll(row.at(key));
}

struct Scorer {
  const library::Library& library;
  const cost::ClosedForm& estimator;
  std::string only_kernel;  // part of a candidate's name, or empty

  Result<plan::Estimate> time(const library::Call& call,
                              const plan::Conditions& conditions,
                              std::string* kernel) const {
    ORR_TRY(auto candidates, library.candidates(call, estimator.machine().chip));
    if (!only_kernel.empty()) {
      std::erase_if(candidates, [&](const auto& c) { return c.front().kernel != only_kernel; });
      if (candidates.empty()) {
        return make_error(ErrorCode::NotFound, "no candidate is {}", only_kernel);
      }
    }
    const plan::Choice choice = plan::choose(candidates, estimator, conditions);
    if (kernel != nullptr) {
      *kernel = candidates[choice.index].front().kernel;
    }
    return choice.estimate;
  }
};

// The measuring loops rotate among sets of operands of 320 MiB in all, at most `most`.
plan::Conditions loop_conditions(double bytes, int64_t most, bool rotates_output) {
  const auto sets =
      static_cast<int64_t>(std::min(static_cast<double>(most), std::ceil(320.0 * 1048576 / bytes)));
  return {.weights = plan::CacheState::Warm,
          .activations = plan::CacheState::Warm,
          .input_sets = std::max<int64_t>(1, sets),
          .output_sets = rotates_output ? std::max<int64_t>(1, sets) : 1};
}

// One measured case.
struct Case {
  std::string family;
  std::string name;
  double measured = 0;   // us
  double kernel_us = 0;  // of the kernels alone
};

void print(const char* table,
           const Case& row,
           const Result<plan::Estimate>& estimate,
           const std::string& kernel) {
  fmt::print("{},{},{},{},{},", table, row.family, row.name, row.measured, row.kernel_us);
  if (!estimate.ok()) {
    fmt::print(",,,,{}\n", estimate.error().message.substr(0, 60));
    return;
  }
  fmt::print("{},{},{},{},{}\n",
             estimate->time.microseconds(),
             estimate->low.microseconds(),
             estimate->high.microseconds(),
             plan::name(estimate->bound),
             kernel);
}

void gemm(const std::string& data, Scorer scorer, bool given) {
  for (const auto& row : read_csv(data + "/gemm.csv")) {
    const std::string& type = row.at("dtype");
    const auto dtype = parse_dtype(type == "fp8" ? "f8e4m3" : type);
    library::GemmCall call{number(row, "batch"),
                           number(row, "m"),
                           number(row, "n"),
                           number(row, "k"),
                           *dtype,
                           type == "fp8" ? DType::BF16 : *dtype};
    const double in = element_size(call.input).value();
    const double out = element_size(call.output).value();
    const double bytes = static_cast<double>(call.batch) *
                         (in * static_cast<double>(call.m * call.k + call.n * call.k) +
                          out * static_cast<double>(call.m * call.n));
    if (given) {
      std::string name = row.at("kernels");
      const auto at = name.find("nvjet_sm90_");
      if (at == std::string::npos) {
        continue;
      }
      name = name.substr(at + 11);
      name = name.substr(name.find('_') + 1);
      name = name.substr(0, name.find('|'));
      const auto mid = std::min(name.find("_h_bz"), name.find("_v_bz"));
      scorer.only_kernel = "nvjet_" + name.substr(0, mid) + name.substr(mid + 5);
    }
    std::string kernel;
    const auto estimate =
        scorer.time(call, loop_conditions(bytes, 48, call.batch == 1 && type != "fp8"), &kernel);
    print("gemm",
          {fmt::format("{}{}", type, call.batch > 1 ? "-batched" : ""),
           fmt::format("{} {} {} {} {}", type, call.batch, call.m, call.n, call.k),
           std::stod(row.at("latency_us")),
           std::stod(row.at("kernel_us"))},
          estimate,
          kernel);
  }
}

void attention(const std::string& data, const Scorer& scorer) {
  for (const auto& row : read_csv(data + "/attention.csv")) {
    library::AttentionCall call{number(row, "batch"),
                                number(row, "heads"),
                                number(row, "kv_heads"),
                                number(row, "seq_q"),
                                number(row, "seq_kv"),
                                number(row, "head_dim"),
                                row.at("causal") == "1",
                                DType::BF16,
                                row.at("backend")};
    const double bytes = 4.0 * static_cast<double>(call.batch * call.head_dim) *
                         static_cast<double>(call.heads * call.seq_q + call.kv_heads * call.seq_kv);
    std::string kernel;
    const auto estimate = scorer.time(call, loop_conditions(bytes, 24, false), &kernel);
    const char* kind = call.seq_q == 1             ? "decode"
                       : call.seq_q != call.seq_kv ? "chunked"
                       : call.causal               ? "causal"
                                                   : "full";
    print("attention",
          {fmt::format("{}-{}", call.backend, kind),
           fmt::format("{} {} {} {} {} {} {} {}",
                       call.backend,
                       call.batch,
                       call.heads,
                       call.kv_heads,
                       call.seq_q,
                       call.seq_kv,
                       call.head_dim,
                       call.causal ? 1 : 0),
           std::stod(row.at("latency_us")),
           std::stod(row.at("kernel_us"))},
          estimate,
          kernel);
  }
}

void rows(const std::string& data, const Scorer& scorer, const char* file, int64_t most) {
  for (const auto& row : read_csv(data + "/" + file + ".csv")) {
    library::RowsCall call{row.at("op"),
                           number(row, "rows"),
                           number(row, "cols"),
                           *parse_dtype(row.at("dtype")),
                           false};
    const std::string& op = call.op;
    const bool rotates = std::string_view(file) == "membound" &&
                         (op == "copy" || op == "add" || op == "mul" || op == "gelu" ||
                          op == "silu" || op == "exp" || op == "fill");
    const double bytes =
        3 * static_cast<double>(call.rows * call.cols) * element_size(call.dtype).value();
    std::string kernel;
    const auto estimate = scorer.time(call, loop_conditions(bytes, most, rotates), &kernel);
    print(file,
          {call.op,
           fmt::format("{} {} {} {}", call.op, row.at("dtype"), call.rows, call.cols),
           std::stod(row.at("latency_us")),
           std::stod(row.at("kernel_us"))},
          estimate,
          kernel);
  }
}

struct Decoder {
  int64_t hidden, intermediate, heads, kv_heads, head_dim, vocab;
};

// One pass of a plain decoder in a CUDA graph: the kernels that PyTorch launches for it.
struct DecoderPass {
  const Scorer& scorer;
  Decoder model;
  int64_t layers, batch, seq, context;
  bool decode;
  std::map<std::string, double> parts;
  std::string error;

  double add(const std::string& part, double times, const library::Call& call, bool cold = true) {
    plan::Conditions conditions{.weights = cold ? plan::CacheState::Cold : plan::CacheState::Warm,
                                .activations = plan::CacheState::Warm,
                                .follows_other = true};
    const auto estimate = scorer.time(call, conditions, nullptr);
    if (!estimate.ok()) {
      error = estimate.error().message;
      return 0;
    }
    parts[part] += times * estimate->time.microseconds();
    return times * estimate->time.microseconds();
  }

  double rows(const std::string& part, double times, const library::RowsCall& call) {
    return add(part, times, call);
  }

  double gemm(double times, int64_t m, int64_t n, int64_t k) {
    return add("gemm", times, library::GemmCall{1, m, n, k, DType::BF16, DType::BF16});
  }

  double total() {
    const auto l = static_cast<double>(layers);
    const int64_t t = batch * seq;
    double us = rows("embedding", 1, {"embedding", t, model.hidden, DType::BF16, false});
    us += rows("norm", 2 * l, {"rms_norm", t, model.hidden, DType::BF16, false});
    us += gemm(l, t, (model.heads + 2 * model.kv_heads) * model.head_dim, model.hidden);
    for (const int64_t h : {model.heads, model.kv_heads}) {
      const int64_t r = t * h;
      us += rows("rotary", 2 * l, {"broadcast_mul", r, model.head_dim, DType::BF16, true});
      us += rows("rotary", l, {"neg", r, model.head_dim / 2, DType::BF16, true});
      us += rows("rotary", l, {"cat", r, model.head_dim, DType::BF16, true});
      us += rows("rotary", l, {"add", r, model.head_dim, DType::BF16, !decode});
    }
    if (decode) {
      us += rows("cache", 2 * l, {"copy", t * model.kv_heads, model.head_dim, DType::BF16, true});
    }
    us += add("attention",
              l,
              library::AttentionCall{batch,
                                     model.heads,
                                     model.kv_heads,
                                     seq,
                                     context,
                                     model.head_dim,
                                     !decode,
                                     DType::BF16,
                                     ""});
    us += gemm(l, t, model.hidden, model.heads * model.head_dim);
    us += rows("add", 2 * l, {"add", t, model.hidden, DType::BF16, false});
    us += gemm(l, t, 2 * model.intermediate, model.hidden);
    us += rows("silu", l, {"silu", t, model.intermediate, DType::BF16, t > 1});
    us += rows("mul", l, {"mul", t, model.intermediate, DType::BF16, t > 1});
    us += gemm(l, t, model.hidden, model.intermediate);
    us += rows("norm", 1, {"rms_norm", batch, model.hidden, DType::BF16, false});
    us += gemm(1, batch, model.vocab, model.hidden);
    return us;
  }
};

void models(const std::string& data, const Scorer& scorer) {
  const std::map<std::string, Decoder> known = {{"llama3-8b", {4096, 14336, 32, 8, 128, 128256}},
                                                {"llama3-70b", {8192, 28672, 64, 8, 128, 128256}},
                                                {"llama3.2-1b", {2048, 8192, 32, 8, 64, 128256}},
                                                {"qwen2.5-7b", {3584, 18944, 28, 4, 128, 152064}},
                                                {"qwen2.5-32b", {5120, 27648, 40, 8, 128, 152064}},
                                                {"mistral-7b", {4096, 14336, 32, 8, 128, 32768}},
                                                {"llama2-13b", {5120, 13824, 40, 40, 128, 32000}}};
  for (const auto& row : read_csv(data + "/models.csv")) {
    std::string name = row.at("model");
    if (const auto cut = name.rfind('-'); name.ends_with("L")) {
      name = name.substr(0, cut);
    }
    const auto at = known.find(name);
    if (row.at("mode") != "eager_graph" || at == known.end()) {
      continue;
    }
    DecoderPass pass{scorer,
                     at->second,
                     number(row, "layers"),
                     number(row, "batch"),
                     number(row, "seq_q"),
                     number(row, "context"),
                     row.at("phase") == "decode",
                     {},
                     {}};
    const double us = pass.total();
    std::string parts = pass.error;
    for (const auto& [part, time] : pass.parts) {
      parts += fmt::format("{}={:.0f} ", part, time);
    }
    plan::Estimate estimate;
    estimate.time = Duration::from(Seconds(us * 1e-6));
    print("models",
          {row.at("phase"),
           fmt::format("{} {} {} {} {}",
                       row.at("model"),
                       row.at("phase"),
                       row.at("batch"),
                       row.at("seq_q"),
                       row.at("context")),
           std::stod(row.at("latency_us")),
           0},
          estimate,
          parts);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::cerr << "usage: " << argv[0]
              << " DATA_FOLDER MACHINE.toml LIBRARY.toml TABLE...   tables: gemm gemm-given "
                 "attention membound membound2 models\n";
    return 2;
  }
  const auto machine = orrery::machine::parse_machine(read_file(argv[2]), argv[2]);
  const auto library = orrery::library::Library::parse(read_file(argv[3]), argv[3]);
  if (!machine.ok() || !library.ok()) {
    std::cerr << (machine.ok() ? library.error().to_string() : machine.error().to_string()) << "\n";
    return 2;
  }
  const orrery::cost::ClosedForm estimator(*machine);
  const Scorer scorer{*library, estimator, {}};
  const std::string data = argv[1];
  for (int i = 4; i < argc; ++i) {
    const std::string table = argv[i];
    if (table == "gemm" || table == "gemm-given") {
      gemm(data, scorer, table == "gemm-given");
    } else if (table == "attention") {
      attention(data, scorer);
    } else if (table == "membound") {
      rows(data, scorer, "membound", 48);
    } else if (table == "membound2") {
      rows(data, scorer, "membound2", 16);
    } else if (table == "models") {
      models(data, scorer);
    } else {
      std::cerr << "unknown table " << table << "\n";
      return 2;
    }
  }
  return 0;
}
