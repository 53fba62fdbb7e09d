#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coden/train/train_options.h"

namespace coden {

enum class Part : std::uint8_t { kTrain, kValidate, kTest };

/// Divide nodes 0 ... num_nodes-1 at random. Depends on nothing but the arguments. The
/// parts have the rounded shares of the nodes; what rounding leaves over is for testing.
std::vector<Part> SplitNodes(std::int64_t num_nodes, const SplitShares& shares,
                             std::uint64_t seed);

/// Return the nodes of `part` in ascending order.
std::vector<std::int64_t> NodesOf(std::span<const Part> split, Part part);

}  // namespace coden
