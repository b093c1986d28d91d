// nvjet kernels: the tiles that exist, their stages and names.
// SPDX-License-Identifier: Apache-2.0
#include "orrery/library/nvjet_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "orrery/library/counts.h"

namespace orrery::library {
namespace {

constexpr int64_t kRows = 64;             // of a wgmma instruction
constexpr int64_t kMostPingPong = 22528;  // elements of a tile of one warpgroup
constexpr int64_t kMostShared = 40960;    // of a tile of two
constexpr int64_t kStageBytes = 216000;   // of shared memory, beside barriers and C
constexpr int64_t kMostStages = 16;
constexpr int64_t kMostSide = 512;

/// Whether a tile with `rows` along wgmma's M and `cols` along its N exists.
bool exists(int64_t rows, int64_t cols) {
  if (rows * cols > kMostShared || (cols > 256 && rows > 128) || (cols > 320 && rows == 128)) {
    return false;
  }
  const bool either = cols % kRows == 0 && cols > rows;  // the same tile turned
  return !either || (rows == kRows && cols >= 384);
}

Sharing sharing_of(int64_t rows, int64_t cols) {
  if (rows * cols <= kMostPingPong) {
    return Sharing::PingPong;
  }
  return rows / kRows % 2 == 0 ? Sharing::CoopA : Sharing::CoopB;
}

/// A side of an operand's box in shared memory.
int64_t boxed(int64_t side, bool k_contiguous, bool halved) {
  if (k_contiguous) {
    return side;
  }
  const int64_t part = halved ? side / 2 : side;
  const int64_t padded = part <= 32 ? 32 : ceil_div(part, kRows) * kRows;
  return halved ? 2 * padded : padded;
}

std::string_view letters(GemmLayout layout) {
  switch (layout) {
    case GemmLayout::NT:
      return "TN";
    case GemmLayout::NN:
      return "NN";
    case GemmLayout::TN:
      return "NT";
    case GemmLayout::TT:
      return "TT";
  }
  return "";
}

// Takes a number and `after` from the front of `text`.
bool take(std::string_view& text, int64_t& number, char after) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<size_t>(end - text.data());
  if (error != std::errc() || number <= 0 || number > 65536 || used >= text.size() ||
      text[used] != after) {
    return false;
  }
  text.remove_prefix(used + 1);
  return true;
}

}  // namespace

std::vector<NvjetTile> nvjet_tiles() {
  constexpr std::array<int64_t, 8> kSides = {64, 128, 192, 256, 320, 384, 448, 512};
  std::vector<NvjetTile> tiles;
  for (const int64_t rows : kSides) {
    for (int64_t cols = 8; cols <= kMostSide; cols += 8) {
      const Sharing sharing = sharing_of(rows, cols);
      if (!exists(rows, cols) || (sharing == Sharing::CoopB && cols % 16 != 0)) {
        continue;
      }
      const bool square = rows == cols;  // 64 and 128 along n, 192 along m
      if (!square || rows != 192) {
        tiles.push_back({rows, cols, true, sharing});
      }
      if (!square || rows == 192) {
        tiles.push_back({cols, rows, false, sharing});
      }
    }
  }
  return tiles;
}

int64_t nvjet_stages(const NvjetTile& tile, int64_t step, int64_t bytes, GemmLayout layout) {
  const bool n_contiguous = layout == GemmLayout::NT || layout == GemmLayout::TT;  // B's k
  const bool m_contiguous = layout == GemmLayout::NT || layout == GemmLayout::NN;  // A's k
  const bool halves = tile.sharing == Sharing::CoopB;
  const int64_t n = boxed(tile.n, n_contiguous, halves && !tile.rows_along_n);
  const int64_t m = boxed(tile.m, m_contiguous, halves && tile.rows_along_n);
  return std::clamp<int64_t>(kStageBytes / ((n + m) * step * bytes), 1, kMostStages);
}

std::string to_text(const NvjetKernel& kernel, GemmLayout layout) {
  const auto& tile = kernel.tile;
  const std::string_view sharing = tile.sharing == Sharing::CoopA   ? "_coopA"
                                   : tile.sharing == Sharing::CoopB ? "_coopB"
                                                                    : "";
  return fmt::format("nvjet_{}x{}_{}x{}_{}x{}{}{}_{}{}",
                     tile.n,
                     tile.m,
                     kernel.step,
                     kernel.stages,
                     kernel.cluster_n,
                     kernel.cluster_m,
                     sharing,
                     kernel.split ? "_splitK" : "",
                     letters(layout),
                     tile.rows_along_n ? 'T' : 'N');
}

std::optional<NvjetKernel> parse_nvjet(std::string_view name) {
  constexpr std::string_view kBegin = "nvjet_";
  if (!name.starts_with(kBegin)) {
    return std::nullopt;
  }
  std::string_view text = name.substr(kBegin.size());
  NvjetKernel kernel;
  if (!take(text, kernel.tile.n, 'x') || !take(text, kernel.tile.m, '_') ||
      !take(text, kernel.step, 'x') || !take(text, kernel.stages, '_') ||
      !take(text, kernel.cluster_n, 'x') || !take(text, kernel.cluster_m, '_')) {
    return std::nullopt;
  }
  kernel.split = text.find("splitK") != std::string_view::npos;
  kernel.tile.rows_along_n = text.ends_with("T");
  kernel.tile.sharing = text.starts_with("coopA")   ? Sharing::CoopA
                        : text.starts_with("coopB") ? Sharing::CoopB
                                                    : Sharing::PingPong;
  return kernel;
}

}  // namespace orrery::library
