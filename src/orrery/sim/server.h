// Servers: a resource that works at its own pace on what is queued before it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace orrery::sim {

/// First come, first served, one piece of work at a time. Reserving in the order of events is all
/// it takes: when the work will be done is known at once, and no event is needed for it.
///
///     reserve(0, 10) -> 10     reserve(4, 10) -> 20     reserve(50, 10) -> 60
class Server {
 public:
  /// Queues work that takes `busy`, from `now` on; returns when it is done. `now` never decreases
  /// from call to call.
  double reserve(double now, double busy) {
    free_ = (free_ > now ? free_ : now) + busy;
    busy_ += busy;
    return free_;
  }

  /// When all that was queued is done.
  double free_at() const { return free_; }

  /// Time spent working, queued work included.
  double busy() const { return busy_; }

 private:
  double free_ = 0;
  double busy_ = 0;
};

}  // namespace orrery::sim
