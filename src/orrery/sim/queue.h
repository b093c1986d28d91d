// The event queue: earliest first, equal times in the order in which they were pushed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orrery::sim {

// A heap with four children a node: half as deep as a binary one, and the children of a node lie in
// one or two cache lines. The sequence number makes the order total, so that the same pushes give
// the same pops on every machine.

/// Times are doubles in a unit of the caller's choice and never NaN. `Event` is small and trivially
/// copied.
template <class Event>
class Queue {
 public:
  struct Entry {
    double time = 0;
    uint64_t sequence = 0;
    Event event = {};

    bool before(const Entry& other) const {
      return time < other.time || (time == other.time && sequence < other.sequence);
    }
  };

  bool empty() const { return heap_.empty(); }

  size_t size() const { return heap_.size(); }

  /// Pushes since construction: the number of events that were or will be popped.
  uint64_t pushed() const { return sequence_; }

  /// The earliest entry; the queue is not empty.
  const Entry& top() const { return heap_.front(); }

  void push(double time, Event event) {
    heap_.push_back({time, sequence_++, event});
    rise(heap_.size() - 1);
  }

  /// Takes the earliest entry out; the queue is not empty.
  Entry pop() {
    const Entry first = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) {
      sink(last);
    }
    return first;
  }

  /// Replaces the earliest entry by another: a pop and a push in one.
  void replace_top(double time, Event event) { sink({time, sequence_++, event}); }

 private:
  static constexpr size_t kChildren = 4;

  void rise(size_t at) {
    const Entry entry = heap_[at];
    while (at > 0) {
      const size_t parent = (at - 1) / kChildren;
      if (!entry.before(heap_[parent])) {
        break;
      }
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = entry;
  }

  // Puts `entry` where the top was.
  void sink(const Entry& entry) {
    const size_t size = heap_.size();
    size_t at = 0;
    while (true) {
      const size_t first = at * kChildren + 1;
      if (first >= size) {
        break;
      }
      const size_t end = first + kChildren < size ? first + kChildren : size;
      size_t least = first;
      for (size_t child = first + 1; child < end; ++child) {
        least = heap_[child].before(heap_[least]) ? child : least;
      }
      if (!heap_[least].before(entry)) {
        break;
      }
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = entry;
  }

  std::vector<Entry> heap_;
  uint64_t sequence_ = 0;
};

}  // namespace orrery::sim
