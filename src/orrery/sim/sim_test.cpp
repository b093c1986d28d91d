// Events in order, and servers that never work on two things at once.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "orrery/sim/queue.h"
#include "orrery/sim/server.h"

namespace orrery::sim {
namespace {

TEST(Queue, EqualTimesComeInTheOrderOfPushes) {
  Queue<int> queue;
  queue.push(2, 0);
  queue.push(1, 1);
  queue.push(2, 2);
  queue.push(1, 3);
  std::vector<int> order;
  while (!queue.empty()) {
    order.push_back(queue.pop().event);
  }
  EXPECT_EQ(order, (std::vector<int>{1, 3, 0, 2}));
  EXPECT_EQ(queue.pushed(), 4U);
}

TEST(Queue, ReplacingTheTopIsAPopAndAPush) {
  Queue<int> queue;
  for (const int time : {5, 3, 8, 1}) {
    queue.push(time, time);
  }
  EXPECT_EQ(queue.top().event, 1);
  queue.replace_top(6, 6);
  std::vector<int> order;
  while (!queue.empty()) {
    order.push_back(queue.pop().event);
  }
  EXPECT_EQ(order, (std::vector<int>{3, 5, 6, 8}));
}

RC_GTEST_PROP(Queue, PopsAStableSortOfAnyPushes, (const std::vector<uint8_t>& times)) {
  Queue<size_t> queue;
  std::vector<size_t> want(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    queue.push(static_cast<double>(times[i] >> 4U), i);
    want[i] = i;
  }
  std::stable_sort(want.begin(), want.end(), [&](size_t a, size_t b) {
    return times[a] >> 4U < times[b] >> 4U;
  });
  for (const size_t next : want) {
    RC_ASSERT(queue.pop().event == next);
  }
  RC_ASSERT(queue.empty());
}

TEST(Server, WorksOnOneThingAtATime) {
  Server server;
  EXPECT_EQ(server.reserve(0, 10), 10);
  EXPECT_EQ(server.reserve(4, 10), 20);
  EXPECT_EQ(server.reserve(50, 10), 60);
  EXPECT_EQ(server.busy(), 30);
  EXPECT_EQ(server.free_at(), 60);
}

RC_GTEST_PROP(Server, IsNeverBusierThanTheTimeThatPassed, (const std::vector<uint8_t>& gaps)) {
  Server server;
  double now = 0;
  for (const uint8_t gap : gaps) {
    now += gap;
    const double done = server.reserve(now, gap % 7);
    RC_ASSERT(done >= now + gap % 7);
    RC_ASSERT(server.busy() <= server.free_at());
  }
}

}  // namespace
}  // namespace orrery::sim
