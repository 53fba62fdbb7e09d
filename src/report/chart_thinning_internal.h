#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "coden/report/chart.h"

namespace coden {

/// More points than this a chart of a page's width cannot show.
inline constexpr std::size_t kMaxChartPoints = 1000;

/// Leave out points whose x is not finite, and thin series of more than `max_points`:
/// in each stretch of x the lowest and the highest value stay, and so do both ends.
///
/// Series over the same x keep the same points, so they still share their rows. Where
/// points are left out, the caption ends with a sentence that says so.
Chart ThinnedChart(Chart chart, std::size_t max_points = kMaxChartPoints);

/// The x of all series in order, each as often as the series that repeats it most, and
/// for each series the row of each of its points.
struct ChartRows {
  std::vector<double> x;
  std::vector<std::vector<std::size_t>> rows;
};

ChartRows AlignRows(const Chart& chart);

}  // namespace coden
