// Machines: the typed description of a chip and its node, read from machines/*.toml.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/quantity.h"
#include "orrery/base/result.h"

namespace orrery::machine {

// Every number of a machine file has a value, a unit, a source and a date. The typed structs below
// hold the values that models use; `Machine::numbers` keeps each with its provenance for `orrery
// machines show`. A number the model needs and the file lacks is an error that names it; nothing is
// defaulted silently.

enum class Source { Datasheet, Measured, Derived, Fitted, Assumed };
std::string_view name(Source source);

/// One number of a machine file, as written: `l2.capacity = { value = 50, unit = "MiB", source =
/// "datasheet", note = "...", date = 2026-08-21 }`.
struct Number {
  std::string key;
  double value = 0;
  std::string unit;
  Source source = Source::Assumed;
  std::string note;  // where exactly: document, file, command
  std::string date;  // YYYY-MM-DD

  bool operator==(const Number&) const = default;
};

enum class Vendor { Nvidia, Amd, Other };

/// Limits and rates of one SM / CU.
struct Core {
  int64_t count = 0;        // SMs on the chip
  int64_t warp_size = 0;    // lanes
  int64_t schedulers = 0;   // warp instructions issued per cycle
  int64_t max_threads = 0;  // resident
  int64_t max_ctas = 0;
  int64_t registers = 0;             // 32-bit, per SM
  int64_t register_granularity = 0;  // per thread, allocation step
  Bytes shared_capacity;             // of all resident CTAs
  Bytes shared_per_cta;              // largest of one CTA
  Bytes shared_reserved;             // taken per CTA by the system
  Bytes l1;                  // first-level cache of one SM where nothing takes shared memory
  double fma_lanes = 0;      // fp32 FMA per cycle
  double special_lanes = 0;  // special functions per cycle
  double integer_lanes = 0;  // integer, logic, compare and select per cycle
  double integer_slots = 0;  // extra issue slots of an instruction for these lanes
  BytesPerCycle shared_bandwidth;
  BytesPerCycle l2_port;                  // achieved fill rate of one SM from L2
  std::map<DType, FlopsPerCycle> tensor;  // matrix rate by element type
  double warp_mma =
      1;  // share of it that mma.sync reaches, where newer instructions exist beside it
};

/// Clock under load. Two states: burst (first tens of ms after idling) and steady (sustained);
/// plan/clock.h has the formula that the powers enter. They are relative to the power at which the
/// clock begins to fall.
struct Clock {
  Hertz max;                      // boost, unloaded
  double base_power = 0;          // of an idle chip
  double dram_power = 0;          // of DRAM at full rate
  double tensor_power_burst = 0;  // of the tensor pipes at full rate
  double tensor_power_steady = 0;
  std::map<DType, double> tensor_energy;  // of an element type's products, relative to bf16's; 1
                                          // for types not listed
  double constant_power = 1;              // of products of constants, relative to random data's
  double exponent = 0;                    // power grows as this power of the clock
  double mixed_share = 0;  // of the steady state where nothing is known of the measuring window
  Duration drop_after;     // from the begin of a load to the drop from burst to steady, mean
  Duration drop_spread;    // and standard deviation
};

struct L2 {
  Bytes capacity;
  Bytes effective;          // working set that still hits when reused
  BytesPerCycle bandwidth;  // whole chip, achieved, where several SMs read the same lines
  BytesPerCycle stream;     // the same where every line is read or written once
  double rewritten = 0;     // share of a result that L2 still holds when the same buffer is written
                            // again, and that DRAM so never sees
  Cycles latency;           // of a dependent access inside a kernel
  Bytes sector;
  Bytes line;
};

struct Dram {
  Bytes capacity;
  BytesPerSecond bandwidth;  // specification
  BytesPerSecond read;       // achieved, pure reads
  BytesPerSecond write;      // achieved, pure writes
  double mix = 0;  // share of the write time saved when all else is reads, see cost/dram.h
  Cycles latency;  // of a dependent access, beyond L2's
};

/// The share of `bytes` in use again and again that is still in L2 at the next use: a knee rather
/// than a step, 1 / (1 + (bytes / effective)^8), since L2 hashes addresses over its slices.
double resident_share(double bytes, const L2& l2);

/// Fixed costs of launching and synchronising.
struct Launch {
  Duration graph_gap;        // kernel to kernel inside a CUDA graph
  Duration graph_gap_other;  // extra when the next kernel is a different one
  Duration graph_start;      // of replaying a graph after another, beyond that
  Duration first_access;     // from the start of a kernel to its first operands from L2
  Duration cold_access;      // extra when they come from DRAM (translation misses included)
  Duration host_launch;      // host time per kernel of an eager program, framework included
  Duration host_step;        // host time of an eager step beside its launches
  Cycles block_interval;     // least time between the starts of two blocks, whole chip; 0: no limit
  Cycles barrier;            // block barrier
  Cycles shared_latency;
  Cycles dependent_issue;  // per dependent arithmetic instruction
};

/// How well work that could overlap does overlap: exponents p of (x^p + y^p)^(1/p), 1 = one after
/// the other, large = side by side. The mechanism (fill and drain of pipelines, queues) is not
/// resolved further.
struct Overlap {
  double pipelined = 1;    // core and memory work of a kernel that prefetches (rings)
  double unpipelined = 1;  // of one that does not
  double streaming = 1;    // of one that only streams, in many small independent CTAs
  double memory = 1;       // L2 and DRAM traffic
  double pipes = 1;        // the pipes of one SM within a trip
  double write_wait = 0;   // share of the time of writes that CTAs which do not prefetch wait for
  double in_step = 0;      // share of a round's shorter work that CTAs in step do not overlap
  double error = 0;        // half an 80 % interval of a kernel that states none, relative
};

/// How an accelerator reaches the others of its node.
struct Link {
  int64_t gpus = 1;          // in the node
  BytesPerSecond bandwidth;  // per GPU, one direction, specification
  BytesPerSecond achieved;   // of long messages, one direction
  BytesPerSecond crowded;    // the same where more than two GPUs exchange over host bridges (PCIe);
                             // 0: they meet in a switch
  bool multicast = false;    // the switch copies and adds (NVLink SHARP)
};

/// One accelerator.
struct Chip {
  std::string id;  // "h200-sxm"
  Vendor vendor = Vendor::Nvidia;
  std::string architecture;  // "sm_90a", "gfx942"
  Core core;
  Clock clock;
  L2 l2;
  Dram dram;
  Launch launch;
  Overlap overlap;
  Link link;
};

struct Machine {
  std::string id;
  std::vector<std::string> aliases;
  std::string title;                   // "NVIDIA H200 SXM 141 GB"
  std::vector<std::string> libraries;  // ids of the library files that apply: "cublas-13" ...
  Chip chip;
  std::string like;             // whose numbers stand in for those left out; empty: none
  std::vector<Number> numbers;  // every number with its provenance, in file order
};

/// Most bytes of a machine's or a library's file; the largest of the tree has 22 KB.
constexpr size_t kMostNumberFile = size_t{1} << 20;

/// The text of a machine file and where it came from.
struct MachineText {
  std::string origin;
  std::string toml;
};

/// Finds the text of another machine by id or alias.
using MachineFinder = std::function<Result<MachineText>(std::string_view query)>;

/// Reads a machine file. Errors carry the key and position of every offending number; `origin`
/// names the file in them. A file that says `like = "other"` may leave numbers and libraries out:
/// they are derived from that machine's (likeness.h), which `others` finds and which must be
/// complete itself.
Result<Machine> parse_machine(std::string_view toml,
                              std::string_view origin,
                              const MachineFinder& others = {});

/// What a machine is called.
struct Names {
  std::string id;
  std::vector<std::string> aliases;

  /// Compares without regard to case, '-' and '_'.
  bool answer_to(std::string_view query) const;
};

/// The names in a machine file, whether or not the rest of it is right; none if it is not TOML.
/// Reads no further than it has to.
Names names_of(std::string_view toml);

/// Does `query` name this machine, by id or alias?
bool answers_to(const Machine& machine, std::string_view query);

/// The machine among `texts` that `query` names. Errors: none does (the known names are listed),
/// two do, or its own text is bad; a bad text of another machine does not matter.
Result<Machine> find(const std::vector<MachineText>& texts, std::string_view query);

}  // namespace orrery::machine
