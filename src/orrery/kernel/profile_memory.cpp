// Bytes: what tiles take from L2 in whole sectors, and what caches leave to DRAM.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "orrery/kernel/profile_internal.h"

namespace orrery::kernel {
namespace {

bool has(const std::vector<AxisId>& axes, AxisId axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// Bytes of sectors that a run of `bytes` touches, averaged over starts that are multiples of
/// `step`.
double sectors(double bytes, int64_t step, int64_t sector) {
  if (bytes <= 0) {
    return 0;
  }
  const auto size = static_cast<double>(sector);
  if (step >= sector) {
    return std::ceil(bytes / size) * size;
  }
  return bytes + size - static_cast<double>(step);
}

/// Where runs along the last axis start, modulo a sector: a common divisor of row pitch and tile
/// width.
int64_t start_step(const Counting& c, const Tensor& tensor, int64_t element, int64_t sector) {
  const AxisId inner = tensor.axes.back();
  int64_t step = std::gcd(sector, c.program[inner].tile * element);
  if (c.tiles[inner.index()] == 1) {
    step = sector;
  }
  return tensor.axes.size() > 1 ? std::gcd(step, c.extents[inner.index()] * element) : step;
}

int64_t sector_of(const Counting& c) {
  return std::max<int64_t>(1, static_cast<int64_t>(c.chip.l2.sector.value()));
}

/// Mean over the tiles of the last axis of the sectors of a run; the last tile is shorter.
double mean_run(const Counting& c, const Tensor& tensor) {
  const AxisId inner = tensor.axes.back();
  const auto element = static_cast<int64_t>(std::ceil(element_size(tensor.dtype).value()));
  const int64_t sector = sector_of(c);
  const int64_t step = start_step(c, tensor, element, sector);
  const int64_t extent = c.extents[inner.index()];
  const int64_t tile = c.program[inner].tile;
  const int64_t whole = extent / tile;
  const int64_t rest = extent % tile;
  const double total =
      static_cast<double>(whole) * sectors(static_cast<double>(tile * element), step, sector) +
      sectors(static_cast<double>(rest * element), step, sector);
  return total / static_cast<double>(c.tiles[inner.index()]);
}

/// Bytes of the whole tensor.
double tensor_bytes(const Counting& c, const Tensor& tensor) {
  double elements = 1;
  for (const AxisId axis : tensor.axes) {
    elements *= static_cast<double>(c.extents[axis.index()]);
  }
  return elements * element_size(tensor.dtype).value();
}

/// Does the part of the walk that a unit takes depend on this axis of the tensor?
bool varies_with(const Counting& c, const Tensor& tensor, AxisId grid) {
  if (has(tensor.axes, grid)) {
    return true;
  }
  return std::any_of(tensor.axes.begin(), tensor.axes.end(), [&](AxisId axis) {
    const Axis& a = c.program[axis];
    return a.kind == AxisKind::Loop && a.parts && *a.parts == grid;
  });
}

/// Distinct tiles along each grid axis that the units of one wave (resident at once) touch.
std::vector<double> wave_extents(const Counting& c) {
  std::vector<double> counts;
  double left = static_cast<double>(c.resident);
  const std::vector<int64_t>& tiles = c.map.tiles;
  if (tiles.size() >= 2 && c.map.group > 1) {
    const auto first = static_cast<double>(tiles[0]);
    const auto second = static_cast<double>(tiles[1]);
    const double band = std::min(first, static_cast<double>(c.map.group));
    const double bands = std::min(std::ceil(first / band), std::ceil(left / (band * second)));
    counts.push_back(std::min(first, band * bands));
    counts.push_back(std::min(second, std::max(1.0, left / band)));
    left /= first * second;
  }
  for (size_t i = counts.size(); i < tiles.size(); ++i) {
    const auto count = static_cast<double>(tiles[i]);
    counts.push_back(std::min(count, std::max(1.0, left)));
    left /= count;
  }
  return counts;
}

/// Share of a working set that is still in L2 when it is used again: a knee at the effective
/// capacity, because L2 spreads addresses over its slices by a hash (cost/memory.h uses the same
/// for warm operands).
double hit_share(const Counting& c, double bytes) {
  const double ratio = bytes / c.chip.l2.effective.value();
  const double fourth = ratio * ratio * ratio * ratio;
  return 1 / (1 + fourth * fourth);
}

/// How a tensor is read over the launch.
struct Reuse {
  double unique = 0;    // bytes
  double per_wave = 0;  // distinct bytes that one wave reads
  double per_band = 0;  // distinct bytes that a sweep of the second raster axis reads
};

Reuse reuse_of(const Counting& c, const Tensor& tensor, const std::vector<double>& wave) {
  Reuse reuse;
  reuse.unique = tensor_bytes(c, tensor);
  reuse.per_wave = reuse.unique;
  reuse.per_band = reuse.unique;
  for (size_t i = 0; i < c.map.order.size(); ++i) {
    if (!varies_with(c, tensor, c.map.order[i])) {
      continue;
    }
    const auto tiles = static_cast<double>(c.map.tiles[i]);
    reuse.per_wave *= wave[i] / tiles;
    if (i == 0) {
      const double band = c.map.group > 1 ? std::min(tiles, static_cast<double>(c.map.group)) : 1;
      reuse.per_band *= band / tiles;
    } else if (i > 1) {
      reuse.per_band /= tiles;
    }
  }
  return reuse;
}

/// Reads of a tensor that come from DRAM. Units that run together share what they read; a wave
/// finds what the wave before left in L2 if a wave's bytes fit; a band finds the second operand of
/// the band before if a band's bytes fit.
double dram_reads(const Counting& c, const Reuse& reuse, const Reuse& all, double waves) {
  const double never = reuse.per_wave * waves;
  const double bands =
      c.map.group > 1 && c.map.tiles.size() > 1
          ? std::ceil(static_cast<double>(c.map.tiles[0]) / static_cast<double>(c.map.group))
          : 1;
  const double across_waves = std::min(never, std::max(reuse.unique, reuse.per_band * bands));
  const double kept_wave = hit_share(c, all.per_wave);
  const double kept_band = hit_share(c, all.per_band);
  const double best = reuse.unique;
  const double within_bands = kept_band * best + (1 - kept_band) * across_waves;
  const double expected = kept_wave * within_bands + (1 - kept_wave) * never;
  return std::max(best, std::min(expected, std::max(never, best)));
}

/// Times that a unit reads a tensor: a second walk over the same tiles reads again.
int64_t times_read(const Program& program, TensorId tensor) {
  int64_t times = 0;
  for (const Phase& phase : program.phases) {
    for (const Statement& statement : phase.body) {
      if (const auto* load = std::get_if<Load>(&statement.op)) {
        times += load->from == tensor ? 1 : 0;
      }
    }
  }
  return times;
}

/// Bytes of DRAM writes: a sector written in part is first read (filled).
double dram_writes(const Counting& c, const Tensor& tensor) {
  const double bytes = tensor_bytes(c, tensor);
  const auto element = static_cast<int64_t>(std::ceil(element_size(tensor.dtype).value()));
  const int64_t sector = sector_of(c);
  const int64_t step = start_step(c, tensor, element, sector);
  if (step >= sector || tensor.axes.empty()) {
    return bytes;
  }
  // Each run has, on average, 1 - step/sector of a partial sector at either end.
  double runs = bytes / (static_cast<double>(c.extents[tensor.axes.back().index()] * element));
  runs *= static_cast<double>(c.tiles[tensor.axes.back().index()]);
  const auto size = static_cast<double>(sector);
  return bytes + runs * 2 * (size - static_cast<double>(step));
}

}  // namespace

Bytes tile_sectors(const Counting& c, TensorId id) {
  const Tensor& tensor = c.program[id];
  if (tensor.axes.empty()) {
    return Bytes(sector_of(c));
  }
  double bytes = mean_run(c, tensor);
  for (size_t i = 0; i + 1 < tensor.axes.size(); ++i) {
    const size_t axis = tensor.axes[i].index();
    bytes *= static_cast<double>(c.extents[axis]) / static_cast<double>(c.tiles[axis]);
  }
  return Bytes(bytes);
}

Traffic count_traffic(const Counting& c, const std::vector<UnitKind>& kinds) {
  Traffic traffic;
  for (const UnitKind& kind : kinds) {
    for (const ProfilePhase& phase : kind.phases) {
      traffic.l2_read += phase.work.l2_read * (phase.trips * kind.count);
      traffic.l2_write += phase.work.l2_write * (phase.trips * kind.count);
    }
  }
  const std::vector<double> wave = wave_extents(c);
  const double waves =
      std::max(1.0, static_cast<double>(c.map.units()) / static_cast<double>(c.resident));
  Reuse all;
  for (const Tensor& tensor : c.program.tensors) {
    const Reuse reuse = reuse_of(c, tensor, wave);
    all.per_wave += reuse.per_wave;
    all.per_band += reuse.per_band;
  }
  for (size_t t = 0; t < c.program.tensors.size(); ++t) {
    const Tensor& tensor = c.program.tensors[t];
    const Reuse reuse = reuse_of(c, tensor, wave);
    if (tensor.access != Access::Write) {
      const bool input = tensor.access == Access::Read;
      traffic.unique_read += Bytes(input ? reuse.unique : 0);
      const double first = input ? dram_reads(c, reuse, all, waves) : 0;
      // Further walks of the same unit find their tiles in L2 if what all resident units touch
      // meanwhile fits.
      const auto again = static_cast<double>(
          std::max<int64_t>(0, times_read(c.program, TensorId::from_index(t)) - (input ? 1 : 0)));
      traffic.dram_read += Bytes(first + again * reuse.unique * (1 - hit_share(c, all.per_wave)));
    }
    if (tensor.access != Access::Read) {
      traffic.unique_write += Bytes(reuse.unique);
      traffic.dram_write += Bytes(dram_writes(c, tensor));
    }
  }
  return traffic;
}

}  // namespace orrery::kernel
