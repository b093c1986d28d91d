// Memory: L2 and DRAM of a chip during one launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "orrery/device/recording.h"
#include "orrery/device/tile_cache.h"
#include "orrery/kernel/profile.h"
#include "orrery/machine/machine.h"
#include "orrery/plan/residency.h"
#include "orrery/sim/server.h"

namespace orrery::device {

// Time is in clocks of the SM clock, at which L2 runs too; DRAM's rate in bytes a clock follows
// from the clock that the launch runs at.
//
// A read passes L2, and DRAM as far as L2 does not hold it. Which bytes those are is known from the
// walk over the operands' tiles where the profile has one (kernel::Traversal); otherwise each read
// byte is as likely as any other to come from DRAM, by the profile's totals.
//
// What is written stays in L2 until DRAM has time for it: reads go first. When more waits than L2
// can hold back, reads wait too.

/// Bytes that moved.
struct Moved {
  double l2_read = 0;
  double l2_write = 0;
  double dram_read = 0;
  double dram_write = 0;
};

/// When the bytes of a read are there, but for the latency of the way.
struct Read {
  double done = 0;
  double cold = 0;  // share of it that waits for DRAM's latency
};

class Memory {
 public:
  Memory(const kernel::Profile& profile,
         const machine::Chip& chip,
         const plan::Residency& resident,
         double hertz,
         Recording* recording);

  /// Are the tiles of this launch followed?
  bool follows_tiles() const { return cache_.has_value(); }

  /// Where unit `unit` reads: tiles of its operands at trip 0. Needed for read_tiles.
  struct Place {
    std::vector<int64_t> tiles;  // of each operand
  };

  void place(int64_t unit, Place& place) const;

  /// Trip `trip` reads its tiles, which costs L2 as much as `bytes` do.
  Read read_tiles(double now, const Place& place, int64_t trip, double bytes);

  /// So many bytes of no known tile.
  Read read(double now, double bytes);

  /// Returns when L2 has taken them.
  double write(double now, double bytes);

  /// When L2 and DRAM have nothing left to do.
  double drained() const;

  const Moved& moved() const { return moved_; }

  double l2_busy() const { return std::max(l2_.busy(), lines_.busy()); }

  /// Clocks that DRAM works, what waits included.
  double dram_busy() const;

 private:
  struct Operand {
    double bytes = 0;              // of a tile
    double absent = 1;             // share of a tile that its first read does not find in L2
    int64_t first = 0;             // number of its first tile
    std::vector<int64_t> strides;  // tiles per step along each axis of the order
    int64_t trip_stride = 0;
  };

  void follow(const kernel::Profile& profile,
              const machine::L2& l2,
              const plan::Residency& resident);
  double pass_l2(double now, double bytes, double fresh);
  double reserve_dram_read(double now, double bytes);
  void drain_until(double now);
  double last_writes() const;  // clocks of what DRAM has not seen yet

  const kernel::Traversal& traversal_;
  Recording* recording_;
  double stream_rate_;  // L2, bytes a clock
  double shared_rate_;
  double read_rate_;  // DRAM, bytes a clock
  double write_rate_;
  double mix_;
  double dram_latency_;       // clocks
  double cold_share_ = 1;     // of reads, where tiles are not followed: latency
  double dram_per_read_ = 0;  // bytes from DRAM per byte read from L2
  double fresh_share_ = 1;    // of the read bytes: read for the first time
  double dram_per_write_ = 0;
  double fill_per_write_ = 0;  // bytes read from DRAM per byte written
  double held_back_;           // bytes of writes that L2 can keep from DRAM
  double waiting_ = 0;         // bytes written that DRAM has not seen yet
  double dram_free_ = 0;
  double dram_busy_ = 0;
  int64_t part_trips_ = 0;
  sim::Server l2_;     // all bytes
  sim::Server lines_;  // bytes of lines that nobody else reads at the time
  std::optional<TileCache> cache_;
  std::vector<Operand> operands_;
  Moved moved_;
};

}  // namespace orrery::device
