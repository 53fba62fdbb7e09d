#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace coden {

/// Chunks that are gathered ahead of those that are worked on.
inline constexpr int kChunksAhead = 2;

/// Nodes per task. It depends on the data alone, because the gradient is a sum over
/// chunks and its rounding must depend neither on the threads nor on the memory there is.
/// Small, so that a chunk's tensors stay in cache and the allocator reuses them; smaller
/// where histories are so long that a chunk of them would not be.
constexpr std::size_t ChunkNodes(std::int64_t num_channels, std::int64_t num_snapshots) {
  constexpr std::int64_t kMostNodes = 128;
  constexpr std::int64_t kMostNumbers = 1 << 24;  // 64 MB
  const std::int64_t numbers = std::max<std::int64_t>(num_channels * num_snapshots, 1);
  return static_cast<std::size_t>(
      std::clamp<std::int64_t>(kMostNumbers / numbers, 1, kMostNodes));
}

}  // namespace coden
