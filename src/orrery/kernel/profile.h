// Profiles: everything about a kernel that its running time depends on, counted; no time in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orrery/base/dtype.h"
#include "orrery/base/quantity.h"
#include "orrery/base/result.h"
#include "orrery/kernel/program.h"
#include "orrery/kernel/traversal.h"
#include "orrery/machine/machine.h"

namespace orrery::kernel {

// A profile is the common currency of kernels that we generate and kernels that we only know from
// outside (cuBLAS, cuDNN, PyTorch): `kernel/` derives the profile of a program, `library/` states
// the profile of a library kernel, and `cost/` and `device/` turn profiles into time and read
// nothing else. "Count first, cost second": a profile has bytes, instructions and steps; rates and
// latencies are the machine's.
//
// The picture: a launch has `units` of work (tiles) of one or more kinds, spread over `ctas` thread
// blocks, of which `ctas_per_sm` fit on an SM. A unit runs its phases one after the other; a phase
// is `trips` equal trips:
//
//     bf16 GEMM 4096^3, tile 128x256, 132 persistent CTAs:
//     units 512, phases:  main loop  trips 64  tensor 4.2 MFLOP, shared read 80 KiB, L2 read 48
//     KiB, ring 4
//                         epilogue   trips 1   fma 64 K, issue 8 K, shared 64+64 KiB, L2 write 64
//                         KiB
//
// Within a trip the pipes work side by side: the trip takes as long as the busiest, or as its
// dependent chain if that is longer. Over the launch, DRAM and L2 move their totals meanwhile. What
// limits is the *bound*.

/// Work of one trip of one CTA, by pipe.
struct PipeWork {
  Flops tensor;  // matrix FLOP, padding of tiles included
  DType tensor_type = DType::BF16;
  double tensor_share = 1.0;  // of the machine's tensor rate that the instruction can reach
                              // (wgmma 1; mma.sync 0.62 on Hopper; ...), from the library file
  Instructions issue;         // warp instructions of all kinds
  double fma = 0;             // fp32 lane operations (an FMA is 1)
  double special = 0;         // special-function lane operations (exp2, rcp, rsqrt, tanh)
  double integer = 0;         // integer, logic, compare and select lane operations
  Bytes shared_read;          // by matrix operands and by instructions
  Bytes shared_write;
  Bytes l2_read;  // drawn by this CTA from L2, after multicast, sectors rounded up
  Bytes l2_write;
};

/// What must happen one after the other in a trip (per CTA): it bounds a trip from below, however
/// little work it has.
struct Chain {
  double memory =
      0;  // dependent global accesses (each L2 latency, or DRAM latency when the data are cold)
  double l2 = 0;            // dependent global accesses to what this CTA has touched before (L2
                            // latency, whatever the operands' state)
  double shared = 0;        // dependent shared-memory accesses
  double barriers = 0;      // block-wide barriers
  double instructions = 0;  // dependent arithmetic instructions
  Cycles turn;   // between operands' arrival and the next load's start, where a ring's buffers go
                 // round within one group of warps: nothing hides it, however deep the ring
  Cycles fixed;  // stated by a library file: cycles known by other means (micro-benchmark, machine
                 // code)
};

/// `trips` equal trips. With ring > 1 loads of later trips are in flight meanwhile: `chain.memory`
/// counts once (fill), and at most ring - 1 trips' bytes are in flight (Little's law bounds the
/// rate).
struct ProfilePhase {
  std::string name;
  double trips = 1;
  int64_t ring = 1;
  PipeWork work;
  Chain chain;
  bool in_turn = false;  // the pipes of a trip work one after the other within a group of warps
                         // (softmax between two products); other groups and CTAs fill in meanwhile
};

/// A kind of unit: `count` units with the same phases (a ragged or causal kernel has several kinds,
/// listed in the order in which they are issued: units of the last kind run when the others have
/// ended).
struct UnitKind {
  double count = 0;
  std::vector<ProfilePhase> phases;
};

/// Totals over the launch that caches decide.
struct Traffic {
  Bytes unique_read;  // every input byte once
  Bytes recent_read;  // of it: operands that the kernel before has just written (activations, not
                      // weights)
  Bytes scratch_read =
      {};                // of it: what an earlier kernel of the same call wrote or read: one copy,
                         // in L2 as far as it fits, however many operands a loop rotates among
  Bytes unique_write;    // every output byte once
  Bytes dram_read;       // expected to come from DRAM when the inputs are cold, re-reads beyond L2
                         // included
  Bytes fill_read = {};  // of it: the rest of sectors that are written in part
  Bytes dram_write;
  Bytes l2_read;  // sum over units
  Bytes l2_write;
};

/// Static machine-code counts of one CTA's program text (each loop body once), where the emitter
/// fixes them: on gfx942 (code_counts.h has the rule). On sm_90a only the bytes of shared memory.
struct CodeCounts {
  double matrix_instructions = 0;  // per warp (wave)
  double shared_loads = 0;         // per warp: LDS / ds_read instructions
  double shared_stores = 0;        // per warp: STS / ds_write instructions
  double shared_load_bytes = 0;    // of one lane, by these
  double shared_store_bytes = 0;
  double lane_exchanges = 0;  // per warp: ds_bpermute; through the LDS crossbar, not its memory
  int64_t shared_bytes = 0;   // static + dynamic shared memory of a CTA

  bool operator==(const CodeCounts&) const = default;
};

/// What a kernel of a collective exchanges with other GPUs: nothing, for the kernels of one GPU.
/// Its blocks (one a channel) are units like any other's; the link works beside them.
struct LinkWork {
  Bytes sent;        // by one GPU, flags of the protocol included
  double share = 1;  // of the link's achieved rate that this way of sending reaches
  double hops =
      0;         // messages that wait for one another, from the first sender to the last receiver
  Duration hop;  // each, stated by a library file
};

/// What is known of a kernel beyond its counts, stated by a library file; 0 leaves it to the
/// machine file.
struct Behaviour {
  double overlap = 0;       // exponent p of core work with memory traffic, (x^p + y^p)^(1/p)
  double pipe_overlap = 0;  // the same of the pipes within a trip
  double dram_share = 1;    // of the achieved DRAM bandwidth that its accesses reach
  bool residents = false;  // CTAs wait for their own loads; only what is resident together overlaps
                           // (cost/residents.h)
  int64_t streams = 1;     // of such: parts of a CTA that proceed on their own (warps that meet at
                           // no barrier for a while)
  bool single_pass = false;   // of such: each CTA reads once, computes, writes, ends
  Cycles restart = {};        // that a round of CTAs after the first takes to start and to reach
                              // its first operands, beyond a dependent access
  double start_share = 1;     // of the interval between starts of blocks that its blocks need
  double relative_error = 0;  // half an 80 % interval, relative
};

/// How the warps of a CTA share its units.
enum class Roles : uint8_t {
  One,          // all load and compute: a unit begins when the one before has ended
  Cooperative,  // a producer loads ahead, over the ends of units; the others compute a unit
                // together
  PingPong,     // a producer, and two groups of consumers, each with units of its own
};

/// A kernel, counted.
struct Profile {
  std::string kernel;  // its name, as a profiler would show it
  std::string family;  // "gemm", "attention", "row_norm", "pointwise" ...
  int64_t units = 0;   // tiles of work
  int64_t ctas = 0;    // launched
  int64_t cluster = 1;
  int64_t threads = 0;      // per CTA
  int64_t ctas_per_sm = 1;  // resident at once: registers, shared memory, threads
  int64_t usable_sms = 0;   // SMs that the grid can use (clusters of 8 leave some idle); 0: all
  Roles roles = Roles::One;
  std::vector<UnitKind> kinds;
  double rounds = 0;  // the list of kinds is issued so often, each time with count / rounds of each
                      // (ragged attention: the tiles of one head after those of another); 0: once
  Traffic traffic;
  Traversal traversal;               // of launches with one kind of unit, where it is known
  bool programmatic_launch = false;  // overlaps its start with the end of the kernel before
  double extra_nodes = 0;            // memset or copy nodes that come with it
  LinkWork link;
  Duration fixed;  // host- or device-side fixed cost of a library kernel, beyond a bare launch
  Duration
      host;  // of launching this one call from a stream; 0: from a graph, or the plan counts it
  CodeCounts code;
  Behaviour behaviour;
  std::vector<std::string> reasons;  // why this kernel: selection rule, with source
};

/// The profile of a program, for extents, on a chip (its SM count, occupancy limits and cache sizes
/// enter). Errors: an extent missing, a CTA that does not fit.
Result<Profile> derive_profile(const Program& program,
                               const Extents& extents,
                               const machine::Chip& chip);

}  // namespace orrery::kernel
