// Tuning: a family's configurations ranked by predicted time, and the best one's source.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/result.h"
#include "orrery/kernel/profile.h"
#include "orrery/kernel/program.h"
#include "orrery/plan/estimate.h"
#include "orrery/session/operators.h"

namespace orrery::session {

struct TuneRequest {
  std::string op;  // of tuned_operators()
  std::vector<std::string> arguments;
  std::string machine;
  int64_t top = 10;
  std::string state = "mixed";
  std::string target = {};  // of the source: cuda, hip, cpu, text; empty: none
};

/// One configuration: one program, or two where a second one combines the partial results of the
/// first.
struct Tuned {
  std::string name;
  std::vector<kernel::Program> programs;
  std::vector<kernel::Profile> kernels;
  plan::Estimate estimate;  // of all its kernels, one after the other
};

/// The source of one program of the best configuration.
struct TunedSource {
  std::string entry;
  std::string code;
};

struct Tuning {
  std::string call;     // as the command line takes it
  std::string machine;  // id
  std::string machine_title;
  std::string clock;
  size_t tried = 0;
  std::vector<Tuned> best;           // fastest first; ties in the family's order
  std::vector<TunedSource> sources;  // of best[0], if a target was asked for
};

/// What can be tuned, with its arguments.
const std::vector<Operator>& tuned_operators();

std::string to_text(const Tuning& tuning);
/// Schema: docs/reference/json.md.
std::string to_json(const Tuning& tuning);

}  // namespace orrery::session
