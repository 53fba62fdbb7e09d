#pragma once

#include <string>
#include <vector>

namespace coden {

/// The range of one chart axis and where its ticks are. Always finite, with low < high.
struct Axis {
  double low = 0.0;
  double high = 1.0;
  double step = 1.0;
  std::vector<double> ticks;

  /// Place `value` between `start` (low) and `end` (high), in picture units.
  double Place(double value, double start, double end) const;
};

struct AxisOptions {
  int max_ticks = 6;
  bool whole_numbers = false;  ///< ticks on whole numbers only
  bool round_out = true;       ///< widen the range to whole steps
};

/// Choose ticks at 1, 2 or 5 times a power of ten. A range of one value is widened around
/// it, and an empty or non-finite one becomes 0 to 1.
Axis MakeAxis(double low, double high, const AxisOptions& options = {});

/// Write a tick of `axis` in as few characters as its step allows: 0.05, 40, 150k, 1.20G.
/// All ticks of one axis but zero have the same unit and the same digits.
std::string TickText(double value, const Axis& axis);

}  // namespace coden
