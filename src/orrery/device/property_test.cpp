// What holds of any launch on any chip: nothing is busier than time allows, bytes are conserved,
// every group ends, faster hardware is not slower, and a run repeats itself.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "orrery/device/execution.h"
#include "test/support/tree.h"

namespace orrery::device {
namespace {

using kernel::Profile;
using kernel::ProfilePhase;

double any(double least, double most) {
  return least + (most - least) * *rc::gen::inRange(0, 1001) / 1000.0;
}

int64_t whole(int64_t least, int64_t most) {
  return *rc::gen::inRange<int64_t>(least, most + 1);
}

ProfilePhase any_phase() {
  ProfilePhase phase;
  phase.name = "phase";
  phase.trips = any(0, 12);
  phase.ring = whole(1, 6);
  phase.in_turn = whole(0, 1) == 1;
  phase.work.tensor = Flops(any(0, 1e6));
  phase.work.issue = Instructions(any(0, 1000));
  phase.work.special = any(0, 3000);
  phase.work.shared_read = Bytes(any(0, 60000));
  phase.work.l2_read = Bytes(any(0, 60000));
  phase.work.l2_write = Bytes(any(0, 30000));
  phase.chain.memory = static_cast<double>(whole(0, 2));
  phase.chain.fixed = Cycles(any(0, 500));
  return phase;
}

Profile any_profile() {
  Profile profile;
  profile.kernel = "any";
  profile.threads = 128;
  profile.ctas_per_sm = whole(1, 4);
  profile.roles = static_cast<kernel::Roles>(whole(0, 2));
  profile.rounds = static_cast<double>(whole(0, 3));
  profile.behaviour.streams = whole(1, 3);
  double units = 0;
  for (int64_t kind = whole(1, 3); kind > 0; --kind) {
    kernel::UnitKind made{static_cast<double>(whole(1, 200)), {}};
    for (int64_t phase = whole(1, 3); phase > 0; --phase) {
      made.phases.push_back(any_phase());
      const double trips = made.count * made.phases.back().trips;
      profile.traffic.l2_read += trips * made.phases.back().work.l2_read;
      profile.traffic.l2_write += trips * made.phases.back().work.l2_write;
    }
    units += made.count;
    profile.kinds.push_back(std::move(made));
  }
  profile.units = static_cast<int64_t>(units);
  profile.ctas = whole(1, profile.units);
  profile.traffic.unique_read = any(0.1, 1) * profile.traffic.l2_read;
  profile.traffic.dram_read = any(0, 1) * profile.traffic.l2_read;
  profile.traffic.dram_write = any(0, 1) * profile.traffic.l2_write;
  return profile;
}

const machine::Chip& chip() {
  static const machine::Chip kChip = test::machine("h200-sxm").chip;
  return kChip;
}

constexpr double kHertz = 1.98e9;

Run run(const Profile& profile, const machine::Chip& on) {
  return execute(profile, on, {}, kHertz);
}

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::max({1.0, a, b});
}

RC_GTEST_PROP(Execution, NothingIsBusierThanTimeAllows, ()) {
  const Profile profile = any_profile();
  const Run seen = run(profile, chip());
  const double most = seen.clocks * (1 + 1e-9) + 1e-6;
  for (const SmBusy& sm : seen.sms) {
    for (const double busy : sm.pipes) {
      RC_ASSERT(busy <= most);
    }
    RC_ASSERT(sm.port <= most);
  }
  RC_ASSERT(seen.l2_busy <= most);
  RC_ASSERT(seen.dram_busy <= most);
  const double slots = static_cast<double>(steps_of(profile, chip()).groups_per_sm) *
                       static_cast<double>(chip().core.count);
  RC_ASSERT(seen.lived <= slots * seen.clocks * (1 + 1e-9) + 1e-6);
}

RC_GTEST_PROP(Execution, BytesAreConserved, ()) {
  const Profile profile = any_profile();
  const Run seen = run(profile, chip());
  RC_ASSERT(close(seen.moved.l2_read, profile.traffic.l2_read.value()));
  RC_ASSERT(close(seen.moved.l2_write, profile.traffic.l2_write.value()));
  RC_ASSERT(close(seen.moved.dram_read, profile.traffic.dram_read.value()));
  RC_ASSERT(close(seen.moved.dram_write, profile.traffic.dram_write.value()));
}

RC_GTEST_PROP(Execution, PipesDoAllTheWork, ()) {
  const Profile profile = any_profile();
  const Run seen = run(profile, chip());
  double want = 0;
  for (const kernel::UnitKind& kind : profile.kinds) {
    for (const ProfilePhase& phase : kind.phases) {
      want += kind.count * phase.trips * phase.work.tensor.value() / 4096;
    }
  }
  double got = 0;
  for (const SmBusy& sm : seen.sms) {
    got += sm.pipes[static_cast<size_t>(Pipe::Tensor)];
  }
  RC_ASSERT(close(got, want));
}

RC_GTEST_PROP(Execution, ARunRepeatsItself, ()) {
  const Profile profile = any_profile();
  const Run first = run(profile, chip());
  const Run second = run(profile, chip());
  RC_ASSERT(first.clocks == second.clocks);
  RC_ASSERT(first.events == second.events);
  RC_ASSERT(first.lived == second.lived);
}

// Served in the order of arrival, work can be dealt out worse by faster hardware (Graham's
// anomalies): by a unit's length on the last SM at most. The tolerance is half the time.
constexpr double kAnomaly = 1.5;

RC_GTEST_PROP(Execution, FasterHardwareIsNotSlower, ()) {
  const Profile profile = any_profile();
  const double before = run(profile, chip()).clocks;
  machine::Chip faster = chip();
  switch (whole(0, 3)) {
    case 0:
      faster.dram.read *= 2;
      faster.dram.write *= 2;
      break;
    case 1:
      faster.l2.bandwidth *= 2;
      faster.l2.stream *= 2;
      break;
    case 2:
      faster.core.l2_port *= 2;
      break;
    default:
      faster.core.count *= 2;
      break;
  }
  RC_ASSERT(run(profile, faster).clocks <= kAnomaly * before + 1e-6);
}

RC_GTEST_PROP(Execution, ARecordingChangesNothingAndCoversTheRun, ()) {
  const Profile profile = any_profile();
  Recording recording;
  const Run seen = execute(profile, chip(), {}, kHertz, &recording);
  const Run plain = run(profile, chip());
  RC_ASSERT(seen.clocks == plain.clocks);
  double tensor = 0;
  for (const double sum : recording.pipes[static_cast<size_t>(Pipe::Tensor)].sums()) {
    tensor += sum;
  }
  double busy = 0;
  for (const SmBusy& sm : seen.sms) {
    busy += sm.pipes[static_cast<size_t>(Pipe::Tensor)];
  }
  RC_ASSERT(close(tensor, busy));
  for (const Span& span : recording.spans) {
    RC_ASSERT(span.begin <= span.end);
    RC_ASSERT(span.end <= seen.clocks * (1 + 1e-9));
  }
}

}  // namespace
}  // namespace orrery::device
