// Rows of counters.csv: single kernels under a profiler, each with cold caches.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "orrery/base/text.h"
#include "orrery/device/simulator.h"
#include "orrery/plan/timing.h"
#include "orrery/validate/cases.h"

namespace orrery::validate {

namespace {

bool of_cudnn(std::string_view kernel) {
  return kernel.find("cudnn") != std::string_view::npos;
}

std::string_view operator_of(const Fields& row) {
  const std::string_view op = row.text("op");
  return op.substr(0, op.find(' '));
}

/// The sizes of "gemm m=64 n=4096 k=14336".
Result<std::map<std::string, int64_t, std::less<>>> sizes_of(const Fields& row) {
  constexpr double kMost = 4294967296;
  std::map<std::string, int64_t, std::less<>> sizes;
  std::string_view text = row.text("op");
  while (text.find(' ') != std::string_view::npos) {
    text.remove_prefix(text.find(' ') + 1);
    const std::string_view word = text.substr(0, text.find(' '));
    const size_t equals = word.find('=');
    const auto value =
        equals == std::string_view::npos ? std::nullopt : parse_double(word.substr(equals + 1));
    if (!value || !(*value >= 0 && *value <= kMost) || std::floor(*value) != *value) {
      return make_error(
          ErrorCode::InvalidInput, "[validate.counters] op: got '{}', need NAME=SIZE", word);
    }
    sizes[std::string(word.substr(0, equals))] = static_cast<int64_t>(*value);
  }
  return sizes;
}

/// The rows of one call stand together, one per kernel, in order; both attention libraries' calls
/// have the same text.
struct Place {
  size_t first = 0;  // row of the call's first kernel
  size_t index = 0;  // of this row among them
};

Place place_of(const Fields& row) {
  const Table& table = row.table();
  const size_t op = *table.column("op");
  const size_t kernel = *table.column("kernel");
  const auto& own = table.rows[row.index()];
  Place place{row.index(), 0};
  while (place.first > 0 && table.rows[place.first - 1][op] == own[op] &&
         of_cudnn(table.rows[place.first - 1][kernel]) == of_cudnn(own[kernel])) {
    --place.first;
    ++place.index;
  }
  return place;
}

Result<library::Call> call_of(const Fields& row, const Setup& setup, const Place& place) {
  ORR_TRY(const auto sizes, sizes_of(row));
  const auto size = [&](std::string_view name) {
    const auto found = sizes.find(name);
    return found != sizes.end() ? found->second : 0;
  };
  const std::string op(operator_of(row));
  if (op == "gemm") {
    library::GemmCall call{.m = size("m"), .n = size("n"), .k = size("k")};
    if (setup.given_kernel) {
      call.kernel = nvjet_name(Fields(row.table(), place.first).text("kernel"));
    }
    return call;
  }
  if (op == "attention") {
    library::AttentionCall call{.batch = size("b"),
                                .heads = size("h"),
                                .kv_heads = size("kv"),
                                .seq_q = size("sq"),
                                .seq_kv = size("skv"),
                                .head_dim = size("d"),
                                .causal = size("causal") == 1,
                                .backend = {}};
    if (setup.given_kernel) {
      call.backend = of_cudnn(row.text("kernel")) ? "cudnn" : "flash";
    }
    return call;
  }
  return library::RowsCall{.op = op, .rows = size("rows"), .cols = size("cols")};
}

/// What a profile and an estimate of it say without a simulation.
std::vector<device::Counter> counted(const kernel::Profile& profile,
                                     const plan::Estimate& time,
                                     const machine::Chip& chip) {
  const double sector = std::max(1.0, chip.l2.sector.value());
  const double read = profile.traffic.dram_read.value();
  const double l2 = profile.traffic.l2_read.value() + profile.traffic.l2_write.value();
  double tensor = 0;  // clocks of an SM
  for (const kernel::UnitKind& kind : profile.kinds) {
    for (const kernel::ProfilePhase& phase : kind.phases) {
      const auto rate = chip.core.tensor.find(phase.work.tensor_type);
      if (rate != chip.core.tensor.end() && phase.work.tensor.value() > 0) {
        tensor += kind.count * phase.trips * phase.work.tensor.value() / rate->second.value();
      }
    }
  }
  const double sms = static_cast<double>(chip.core.count);
  const double clocks = time.time.seconds().value() * chip.clock.max.value();
  return {{"dram__bytes_read.sum", read, "B"},
          {"dram__bytes_write.sum", std::max(0.0, time.dram.value() - read), "B"},
          {"gpu__time_duration.sum", time.time.microseconds() * 1e3, "ns"},
          {"launch__block_size", static_cast<double>(profile.threads), ""},
          {"launch__cluster_size", static_cast<double>(profile.cluster), ""},
          {"launch__grid_size", static_cast<double>(profile.ctas), ""},
          {"launch__occupancy_per_sm", static_cast<double>(profile.ctas_per_sm), ""},
          {"lts__t_sector_hit_rate.pct", l2 > 0 ? 100 * (1 - std::min(1.0, read / l2)) : 0, "%"},
          {"lts__t_sectors_op_read.sum", profile.traffic.l2_read.value() / sector, ""},
          {"lts__t_sectors_op_write.sum", profile.traffic.l2_write.value() / sector, ""},
          {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
           clocks > 0 ? 100 * std::min(1.0, tensor / sms / clocks) : 0,
           "%"}};
}

struct Kernel {
  kernel::Profile profile;
  plan::Conditions conditions;
};

/// The kernel of a row, and how it ran: after an idle time, its caches emptied.
Result<Kernel> kernel_of(const Fields& row, const Setup& setup) {
  const Place place = place_of(row);
  ORR_TRY(const library::Call call, call_of(row, setup, place));
  plan::Conditions conditions;
  conditions.clock = setup.clock.value_or(plan::ClockState::Burst);
  conditions.weights = setup.cache.value_or(plan::CacheState::Cold);
  conditions.activations = conditions.weights;
  conditions.kernel_only = true;
  ORR_TRY(const plan::StepTime time,
          plan::time_call(call, conditions, setup.library, setup.estimator));
  if (place.index >= time.kernels->size()) {
    return make_error(ErrorCode::NotFound,
                      "[validate.counters] {}: got {} kernels, need the one at place {}",
                      library::to_text(call),
                      time.kernels->size(),
                      place.index + 1);
  }
  return Kernel{(*time.kernels)[place.index], conditions};
}

}  // namespace

std::string counters_family(const Fields& row) {
  const std::string_view op = operator_of(row);
  return op == "gemm" || op == "attention" ? std::string(op) : "rows";
}

Result<plan::Estimate> predict_counters_row(const Fields& row, const Setup& setup) {
  ORR_TRY(const Kernel kernel, kernel_of(row, setup));
  return setup.estimator.time(kernel.profile, kernel.conditions);
}

Result<std::vector<device::Counter>> predict_counters(const Fields& row, const Setup& setup) {
  ORR_TRY(const Kernel kernel, kernel_of(row, setup));
  const machine::Chip& chip = setup.estimator.machine().chip;
  if (const auto* simulator = dynamic_cast<const device::Simulator*>(&setup.estimator)) {
    const device::Simulation run = simulator->simulate(kernel.profile, kernel.conditions);
    return device::counters(run, kernel.profile, chip);
  }
  return counted(kernel.profile, setup.estimator.time(kernel.profile, kernel.conditions), chip);
}

}  // namespace orrery::validate
