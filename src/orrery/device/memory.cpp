// Memory: queues of L2 and DRAM, and who finds what in L2.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/device/memory.h"

#include <algorithm>
#include <cmath>

namespace orrery::device {
namespace {

constexpr int64_t kMostTiles = 1 << 25;  // followed one by one; beyond, totals are used

// Bytes of all units.
struct Passed {
  double read = 0;
  double written = 0;
};

Passed passed(const kernel::Profile& profile) {
  Passed sum;
  for (const kernel::UnitKind& kind : profile.kinds) {
    for (const kernel::ProfilePhase& phase : kind.phases) {
      sum.read += kind.count * phase.trips * phase.work.l2_read.value();
      sum.written += kind.count * phase.trips * phase.work.l2_write.value();
    }
  }
  return sum;
}

// Trips of the first phase that loops.
int64_t walk_trips(const kernel::Profile& profile) {
  for (const kernel::UnitKind& kind : profile.kinds) {
    for (const kernel::ProfilePhase& phase : kind.phases) {
      if (phase.ring > 1 || phase.trips > 1) {
        return std::max<int64_t>(1, std::llround(std::ceil(phase.trips)));
      }
    }
  }
  return 1;
}

}  // namespace

Memory::Memory(const kernel::Profile& profile,
               const machine::Chip& chip,
               const plan::Residency& resident,
               double hertz,
               Recording* recording)
    : traversal_(profile.traversal),
      recording_(recording),
      stream_rate_(chip.l2.stream.value()),
      shared_rate_(chip.l2.bandwidth.value()),
      mix_(chip.dram.mix),
      dram_latency_(chip.dram.latency.value()),
      held_back_(chip.l2.effective.value() / 2) {
  const double share = profile.behaviour.dram_share > 0 ? profile.behaviour.dram_share : 1;
  read_rate_ = chip.dram.read.value() * share / hertz;
  write_rate_ = chip.dram.write.value() * share / hertz;
  const kernel::Traffic& traffic = profile.traffic;
  const double held = resident.bytes(traffic);
  const double unique = traffic.unique_read.value();
  cold_share_ = unique > 0 ? std::clamp((unique - held) / unique, 0.0, 1.0) : 0;
  const Passed all = passed(profile);
  if (all.read > 0) {
    const double operands = traffic.dram_read.value() - traffic.fill_read.value();
    dram_per_read_ = std::max(0.0, operands - held) / all.read;
    cold_share_ = dram_per_read_ > 0 ? cold_share_ : 0;
    fresh_share_ = std::min(1.0, std::max(unique, traffic.dram_read.value()) / all.read);
  }
  if (all.written > 0) {
    fill_per_write_ = traffic.fill_read.value() / all.written;
    dram_per_write_ = traffic.dram_write.value() * (1 - resident.kept) / all.written;
  }
  follow(profile, chip.l2, resident);
}

// Numbers the tiles: of each operand all trips of one place side by side.
void Memory::follow(const kernel::Profile& profile,
                    const machine::L2& l2,
                    const plan::Residency& resident) {
  const kernel::Traversal& traversal = profile.traversal;
  if (traversal.order.tiles.empty() || traversal.reads.empty() || profile.kinds.size() != 1) {
    return;
  }
  part_trips_ = traversal.parts ? walk_trips(profile) : 0;
  const int64_t parts = traversal.parts ? traversal.order.tiles[*traversal.parts] : 1;
  const int64_t trips = walk_trips(profile) * parts;
  int64_t next = 0;
  for (const kernel::TileOperand& operand : traversal.reads) {
    Operand made;
    made.bytes = operand.tile.value();
    made.absent = 1 - (operand.recent ? resident.recent : resident.other);
    made.first = next;
    made.trip_stride = operand.steps ? 1 : 0;
    made.strides.assign(traversal.order.tiles.size(), 0);
    int64_t stride = operand.steps ? trips : 1;
    for (const size_t axis : operand.axes) {
      made.strides[axis] = stride;
      stride *= traversal.order.tiles[axis];
      if (stride > kMostTiles) {
        operands_.clear();
        return;
      }
    }
    next += stride;
    operands_.push_back(std::move(made));
  }
  if (next <= kMostTiles) {
    cache_.emplace(l2.effective, next);
  }
}

void Memory::place(int64_t unit, Place& place) const {
  const std::vector<int64_t> at = traversal_.order.at(unit);
  place.tiles.resize(operands_.size());
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    int64_t tile = operand.first;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      tile += at[axis] * operand.strides[axis];
    }
    if (traversal_.parts) {
      tile += at[*traversal_.parts] * part_trips_ * operand.trip_stride;
    }
    place.tiles[i] = tile;
  }
}

Read Memory::read_tiles(double now, const Place& place, int64_t trip, double bytes) {
  double fresh = 0;  // bytes that L2 moves for the first time in this launch
  double all = 0;
  double ready = now;
  double missed = 0;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const Operand& operand = operands_[i];
    if (operand.trip_stride == 0 && trip > 0) {
      continue;
    }
    const int64_t tile = place.tiles[i] + trip * operand.trip_stride;
    const TileCache::Found found = cache_->touch(tile, operand.bytes);
    all += operand.bytes;
    if (found == TileCache::Found::Held) {
      ready = std::max(ready, cache_->ready(tile));
      continue;
    }
    fresh += operand.bytes;
    const double absent = found == TileCache::Found::Never ? operand.absent : 1;
    const double from_dram = operand.bytes * absent;
    missed += from_dram;
    const double done = from_dram > 0 ? reserve_dram_read(now, from_dram) : now;
    cache_->set_ready(tile, from_dram > 0 ? done + dram_latency_ : done);
    ready = std::max(ready, done);
  }
  moved_.l2_read += bytes;
  const double l2 = pass_l2(now, bytes, std::min(fresh, bytes));
  return {std::max(ready, l2), all > 0 ? missed / all : 0};
}

Read Memory::read(double now, double bytes) {
  if (!(bytes > 0)) {
    return {now, cold_share_};
  }
  moved_.l2_read += bytes;
  const double from_dram = bytes * dram_per_read_;
  const double l2 = pass_l2(now, bytes, bytes * fresh_share_);
  const double dram = from_dram > 0 ? reserve_dram_read(now, from_dram) : now;
  return {std::max(l2, dram), cold_share_};
}

double Memory::write(double now, double bytes) {
  moved_.l2_write += bytes;
  const double to_dram = bytes * dram_per_write_;
  if (fill_per_write_ > 0) {
    reserve_dram_read(now, bytes * fill_per_write_);  // nobody waits for it
  }
  drain_until(now);
  moved_.dram_write += to_dram;
  waiting_ += to_dram;
  if (cache_) {
    cache_->pass(bytes);
  }
  return pass_l2(now, bytes, bytes);
}

double Memory::pass_l2(double now, double bytes, double fresh) {
  const double lines = fresh > 0 ? lines_.reserve(now, fresh / stream_rate_) : now;
  const double busy = bytes / shared_rate_;
  const double done = l2_.reserve(now, busy);
  if (recording_ != nullptr) {
    recording_->l2.add(done - busy, done, bytes);
  }
  return std::max(lines, done);
}

// DRAM writes what waits while no read wants it.
void Memory::drain_until(double now) {
  if (waiting_ > 0 && now > dram_free_) {
    const double written = std::min(waiting_, (now - dram_free_) * write_rate_);
    const double busy = written / write_rate_;
    waiting_ -= written;
    dram_free_ += busy;
    dram_busy_ += busy;
    if (recording_ != nullptr) {
      recording_->dram_write.add(dram_free_ - busy, dram_free_, written);
    }
  }
}

double Memory::reserve_dram_read(double now, double bytes) {
  drain_until(now);
  moved_.dram_read += bytes;
  double busy = bytes / read_rate_;
  if (waiting_ > held_back_) {
    // Reads among writes: DRAM saves a part of the writes' time (machine::Dram::mix).
    const double forced = std::min(waiting_ - held_back_, bytes);
    const double reads = bytes / (bytes + forced);
    busy += forced / write_rate_ * (1 - mix_ * reads);
    waiting_ -= forced;
    if (recording_ != nullptr) {
      const double begin = std::max(dram_free_, now);
      recording_->dram_write.add(begin, begin + busy, forced);
    }
  }
  dram_free_ = std::max(dram_free_, now) + busy;
  dram_busy_ += busy;
  if (recording_ != nullptr) {
    recording_->dram_read.add(dram_free_ - busy, dram_free_, bytes);
  }
  return dram_free_;
}

double Memory::last_writes() const {
  const double all = moved_.dram_read + moved_.dram_write;
  const double reads = all > 0 ? moved_.dram_read / all : 0;
  return waiting_ / write_rate_ * (1 - mix_ * reads);
}

double Memory::dram_busy() const {
  return dram_busy_ + last_writes();
}

double Memory::drained() const {
  return std::max({dram_free_ + last_writes(), l2_.free_at(), lines_.free_at()});
}

}  // namespace orrery::device
