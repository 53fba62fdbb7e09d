#include <algorithm>
#include <cmath>
#include <numeric>

#include "pipeline/random_internal.h"
#include "train/node_split_internal.h"

namespace coden {

std::vector<Part> SplitNodes(std::int64_t num_nodes, const SplitShares& shares,
                             std::uint64_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(num_nodes));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  SplitMix64 random(seed);
  Shuffle(order, random);

  const auto rounded = [num_nodes](double share) {
    return std::min<std::int64_t>(num_nodes,
                                  std::llround(share * static_cast<double>(num_nodes)));
  };
  const std::int64_t train_end = rounded(shares.train);
  const std::int64_t validate_end =
      std::min(num_nodes, train_end + rounded(shares.validate));
  std::vector<Part> split(order.size(), Part::kTest);
  for (std::int64_t i = 0; i < validate_end; ++i) {
    split[order[i]] = i < train_end ? Part::kTrain : Part::kValidate;
  }
  return split;
}

std::vector<std::int64_t> NodesOf(std::span<const Part> split, Part part) {
  std::vector<std::int64_t> nodes;
  for (std::size_t node = 0; node < split.size(); ++node) {
    if (split[node] == part) nodes.push_back(static_cast<std::int64_t>(node));
  }
  return nodes;
}

}  // namespace coden
