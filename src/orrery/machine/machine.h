// Machines: the typed description of a chip and its node, read from machines/*.toml.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/base/dtype.h"

namespace orrery::machine {

// Every number of a machine file has a value, a unit, a source and a date. The typed structs below hold the values
// that models use; `Machine::numbers` keeps each with its provenance for `orrery machines show`. A number the model
// needs and the file lacks is an error that names it; nothing is defaulted silently.

enum class Source { Datasheet, Measured, Derived, Fitted, Assumed };
std::string_view name(Source source);

/// One number of a machine file, as written: `chip.l2.capacity = { value = 50, unit = "MiB", source = ..., date = ... }`.
struct Number {
  std::string key;
  double value = 0;
  std::string unit;
  Source source = Source::Assumed;
  std::string note;  // where exactly: document, file, command
  std::string date;  // YYYY-MM-DD
};

enum class Vendor { Nvidia, Amd, Other };

/// Limits and rates of one SM / CU.
struct Core {
  int64_t count = 0;                 // SMs on the chip
  int64_t warp_size = 0;             // lanes
  int64_t schedulers = 0;            // warp instructions issued per cycle
  int64_t max_threads = 0;           // resident
  int64_t max_ctas = 0;
  int64_t registers = 0;             // 32-bit, per SM
  int64_t register_granularity = 0;  // per thread, allocation step
  Bytes shared_capacity;             // of all resident CTAs
  Bytes shared_per_cta;              // largest of one CTA
  Bytes shared_reserved;             // taken per CTA by the system
  double fma_lanes = 0;              // fp32 FMA per cycle
  double special_lanes = 0;          // special functions per cycle
  BytesPerCycle shared_bandwidth;
  BytesPerCycle l2_port;             // achieved fill rate of one SM from L2
  std::map<DType, FlopsPerCycle> tensor;  // matrix rate by element type
};

/// Clock under load. Two states: burst (first tens of ms after idling) and steady (sustained).
struct Clock {
  Hertz max;                         // boost, unloaded
  double tensor_power_burst = 0;     // see cost/clock.h for the formula these enter
  double tensor_power_steady = 0;
  double base_power = 0;
  double dram_power = 0;
  double exponent = 0;
};

struct L2 {
  Bytes capacity;
  Bytes effective;                   // working set that still hits when reused
  BytesPerCycle bandwidth;           // whole chip, achieved
  Cycles latency;
  Bytes sector;
  Bytes line;
};

struct Dram {
  Bytes capacity;
  BytesPerSecond bandwidth;          // specification
  BytesPerSecond read;               // achieved, pure reads
  BytesPerSecond write;              // achieved, pure writes
  double mix = 0;                    // read/write turnaround benefit, see cost/dram.h
  Cycles latency;                    // beyond L2, at maximum clock
};

/// Fixed costs of launching and synchronising.
struct Launch {
  Duration graph_gap;                // kernel to kernel inside a CUDA graph
  Duration graph_gap_other;          // extra when the next kernel is a different one
  Duration host_launch;              // host time per operator, eager
  Cycles barrier;                    // block barrier
  Cycles shared_latency;
  Cycles dependent_issue;            // per dependent arithmetic instruction
};

struct Link {
  int64_t gpus = 1;                  // in the node
  BytesPerSecond bandwidth;          // per GPU, one direction
};

/// One accelerator.
struct Chip {
  std::string id;                    // "h200-sxm"
  Vendor vendor = Vendor::Nvidia;
  std::string architecture;          // "sm_90a", "gfx942"
  Core core;
  Clock clock;
  L2 l2;
  Dram dram;
  Launch launch;
};

struct Machine {
  std::string id;
  std::vector<std::string> aliases;
  std::string title;                 // "NVIDIA H200 SXM 141 GB"
  std::string libraries;             // which library files apply: "cuda-13", "rocm-7"
  Chip chip;
  Link link;
  std::vector<Number> numbers;       // every number with its provenance, in file order
};

/// Reads a machine file. Errors carry the key and position of every offending number.
Result<Machine> parse_machine(std::string_view toml, std::string_view origin);

/// Does `query` name this machine? Compares without regard to case, '-' and '_', with id and aliases.
bool answers_to(const Machine& machine, std::string_view query);

}  // namespace orrery::machine
