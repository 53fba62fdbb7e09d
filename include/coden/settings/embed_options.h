#pragma once

#include <optional>

namespace coden {

/// Which operator carries features along edges (docs/notation.md).
enum class Propagation {
  kMass,       ///< P = A D^-1: a node shares its mass among its neighbours (the paper)
  kAverage,    ///< D^-1 A: a node takes the mean of its neighbours
  kSymmetric,  ///< D^-1/2 A D^-1/2: the operator of GCN
};

/// Feature columns [begin, end).
struct ColumnRange {
  int begin = 0;
  int end = 0;
  int size() const { return end - begin; }
};

struct EmbedOptions {
  double alpha = 0.2;
  double epsilon = 1e-7;
  Propagation propagation = Propagation::kMass;
  std::optional<ColumnRange> columns;
  int audit = 0;  ///< check the proven bounds by another route every so many snapshots
};

}  // namespace coden
