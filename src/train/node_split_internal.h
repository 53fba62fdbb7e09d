#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coden/train/train_options.h"

namespace coden {

/// The random numbers of the split and of the order of mini-batches: splitmix64, which is
/// the same on every machine and with every standard library.
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t Next();
  /// Draw from [0, bound).
  std::uint64_t Below(std::uint64_t bound);

 private:
  std::uint64_t state_;
};

/// Put `items` into random order (Fisher-Yates).
void Shuffle(std::span<std::int64_t> items, SplitMix64& random);

enum class Part : std::uint8_t { kTrain, kValidate, kTest };

/// Divide nodes 0 ... num_nodes-1 at random. Depends on nothing but the arguments. The
/// parts have the rounded shares of the nodes; what rounding leaves over is for testing.
std::vector<Part> SplitNodes(std::int64_t num_nodes, const SplitShares& shares,
                             std::uint64_t seed);

/// Return the nodes of `part` in ascending order.
std::vector<std::int64_t> NodesOf(std::span<const Part> split, Part part);

}  // namespace coden
