#pragma once

#include <cstdint>
#include <vector>

namespace coden {

/// When nodes came, by node: what the first pass over the log leaves for everybody after
/// it.
struct NodeTimes {
  /// The first snapshot that the node is present at; -1: at none so far.
  std::vector<std::int32_t> since;
  /// Its place in the order of first events; -1: it had none.
  std::vector<std::int32_t> arrivals;
};

}  // namespace coden
