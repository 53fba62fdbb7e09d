#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "coden/settings/embed_options.h"

namespace coden {

/// The three propagation kinds as one equation. With d = max(out-degree, 1),
///     h(v) = alpha x(v) + (1-alpha) d(v)^-b sum over u -> v of d(u)^(b-1) h(u),
/// where b is 0 for mass, 1/2 for symmetric and 1 for average (docs/notation.md). The
/// solvers keep g = d^(b-1) h, so that following an arc is an addition and nothing else.
struct PropagationRule {
  double alpha;
  Propagation kind;

  static double Clamped(std::int64_t degree) {
    return static_cast<double>(std::max<std::int64_t>(degree, 1));
  }

  /// d^(b-1): g over h.
  double OutScale(std::int64_t degree) const {
    const double d = Clamped(degree);
    switch (kind) {
      case Propagation::kMass:
        return 1.0 / d;
      case Propagation::kAverage:
        return 1.0;
      case Propagation::kSymmetric:
        return 1.0 / std::sqrt(d);
    }
    return 1.0;
  }

  /// d^-b: what a node takes of the sum over its in-neighbours.
  double InScale(std::int64_t degree) const {
    const double d = Clamped(degree);
    switch (kind) {
      case Propagation::kMass:
        return 1.0;
      case Propagation::kAverage:
        return 1.0 / d;
      case Propagation::kSymmetric:
        return 1.0 / std::sqrt(d);
    }
    return 1.0;
  }
};

}  // namespace coden
