// Tiles of a layer of experts: rules as their sources state them.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/moe_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "orrery/base/check.h"

namespace orrery::library {
namespace {

// vllm/model_executor/layers/fused_moe/fused_moe.py, get_default_config.
MoeTile by_tokens(const MoeCall& call) {
  const int64_t tokens = call.tokens;
  if (call.quantisation == Quantisation::Block128) {
    return {tokens <= 64 ? 16 : 64, 128, 128, 2, "vLLM's default for block scales"};
  }
  const int64_t rows = tokens <= 32 ? 16 : tokens <= 96 ? 32 : tokens <= 512 ? 64 : 128;
  const bool deep = tokens <= 64 || call.dtype != DType::BF16;
  return {rows,
          tokens <= 64 ? 64 : 128,
          deep ? 128 : 64,
          tokens <= 512 ? 3 : 2,
          fmt::format("vLLM's default for {} tokens", tokens)};
}

// sglang/srt/layers/moe/fused_moe_triton/fused_moe_triton_config.py, get_default_config; vLLM 0.14.
MoeTile by_experts(const MoeCall& call) {
  if (call.quantisation == Quantisation::Block128) {
    return {64, 128, 128, 2, "SGLang's default for block scales"};
  }
  if (call.tokens <= static_cast<int64_t>(call.rows.size())) {
    return {16, 32, 64, 6, "SGLang's default for no more tokens than experts"};
  }
  return {64, 64, 32, 5, "SGLang's default"};
}

/// "128x256x64": rows, columns, depth. 0 rows if it is not.
MoeTile tile_from(const std::string& text) {
  std::array<int64_t, 3> sizes{};
  const char* at = text.c_str();
  for (size_t i = 0; i < sizes.size(); ++i) {
    char* end = nullptr;
    sizes[i] = std::strtoll(at, &end, 10);
    const char expected = i + 1 < sizes.size() ? 'x' : '\0';
    if (end == at || *end != expected || sizes[i] < 1 || sizes[i] > 1024) {
      return {};
    }
    at = end + 1;
  }
  constexpr int64_t kAlone = 128 * 256;  // accumulators of a larger tile fill an SM's registers
  return {sizes[0],
          sizes[1],
          sizes[2],
          sizes[0] * sizes[1] >= kAlone ? 1 : 2,
          "the least that holds the mean of an expert's rows"};
}

MoeTile by_rows(const MoeCall& call, const std::vector<MoeTile>& tiles) {
  int64_t rows = 0;
  int64_t active = 0;
  for (const int64_t each : call.rows) {
    rows += each;
    active += each > 0 ? 1 : 0;
  }
  const int64_t mean = rows / std::max<int64_t>(1, active);
  for (const MoeTile& tile : tiles) {
    if (tile.rows >= mean) {
      return tile;
    }
  }
  return tiles.back();
}

}  // namespace

MoeTileRules MoeTileRules::read(machine::NumberFile& file) {
  MoeTileRules rules;
  const std::vector<std::string> names = file.list("moe.backends");
  const std::vector<std::string> texts = file.list("moe.rules");
  if (names.size() != texts.size()) {
    file.complain("moe.rules",
                  fmt::format("got {} for {} backends, need one each", texts.size(), names.size()));
    return rules;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    if (texts[i] != "by_tokens" && texts[i] != "by_experts" && texts[i] != "by_rows") {
      file.complain("moe.rules",
                    fmt::format("got '{}', need by_tokens, by_experts or by_rows", texts[i]));
    }
    rules.backends_.emplace_back(names[i],
                                 texts[i] == "by_tokens"    ? Rule::ByTokens
                                 : texts[i] == "by_experts" ? Rule::ByExperts
                                                            : Rule::ByRows);
  }
  for (const std::string& text : file.list_or_empty("moe.tiles")) {
    rules.tiles_.push_back(tile_from(text));
    if (rules.tiles_.back().rows == 0) {
      file.complain("moe.tiles", fmt::format("got '{}', need sizes like 128x256x64", text));
    }
  }
  const bool tries = std::any_of(rules.backends_.begin(), rules.backends_.end(), [](auto& each) {
    return each.second == Rule::ByRows;
  });
  if (tries && rules.tiles_.empty()) {
    file.complain("moe.tiles", "got none, need at least one for by_rows");
  }
  return rules;
}

bool MoeTileRules::knows(std::string_view backend) const {
  return std::any_of(
      backends_.begin(), backends_.end(), [&](const auto& each) { return each.first == backend; });
}

MoeTile MoeTileRules::of(const MoeCall& call) const {
  for (const auto& [name, rule] : backends_) {
    if (name != call.backend) {
      continue;
    }
    switch (rule) {
      case Rule::ByTokens:
        return by_tokens(call);
      case Rule::ByExperts:
        return by_experts(call);
      case Rule::ByRows:
        return by_rows(call, tiles_);
    }
  }
  ORR_UNREACHABLE();
}

}  // namespace orrery::library
