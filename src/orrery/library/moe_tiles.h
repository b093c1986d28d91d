// Tiles of the products of a layer of experts: the rule of each engine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orrery/library/call.h"
#include "orrery/machine/number_file.h"

namespace orrery::library {

struct MoeTile {
  int64_t rows = 0;     // of an expert: BLOCK_M
  int64_t columns = 0;  // output features
  int64_t depth = 0;
  int64_t resident = 1;  // blocks on an SM
  std::string why = {};
};

/// Which tile each backend of a file takes. A file lists backends, a rule for each, and tiles:
///
///     by_tokens   Triton as vLLM configures it since 0.15: rows by tokens, wider for more
///     by_experts  Triton as SGLang does, and vLLM before: 16 rows up to as many tokens as experts
///                 held, else 64
///     by_rows     of the tiles that the file lists the first that holds the mean of the rows of an
///                 expert that has any, as TensorRT-LLM's generated kernels are picked; an
///                 autotuner comes to about the same
class MoeTileRules {
 public:
  static MoeTileRules read(machine::NumberFile& file);

  bool knows(std::string_view backend) const;
  /// The tile of a call whose backend is known.
  MoeTile of(const MoeCall& call) const;

 private:
  enum class Rule { ByTokens, ByExperts, ByRows };

  std::vector<std::pair<std::string, Rule>> backends_;
  std::vector<MoeTile> tiles_;
};

}  // namespace orrery::library
