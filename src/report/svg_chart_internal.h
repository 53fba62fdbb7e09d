#pragma once

#include <string>
#include <vector>

namespace coden {

struct ChartPoint {
  double x = 0.0;
  double y = 0.0;
  std::string title;  ///< shown when the pointer rests on it
};

enum class SeriesStyle {
  kLine,   ///< dots joined by a line, with a gap at a point that is not finite
  kStems,  ///< a dot on a thin line from zero
  kBars,   ///< a bar from zero
};

struct ChartSeries {
  std::string name;  ///< in the legend
  SeriesStyle style = SeriesStyle::kLine;
  std::vector<ChartPoint> points;  ///< in order of x
  int color = 0;                   ///< 0 to 2, of the style sheet
};

/// A dashed horizontal line across the chart.
struct ChartLevel {
  std::string name;
  double value = 0.0;
};

struct Chart {
  std::string label;  ///< what a screen reader says in place of the picture
  std::string x_name;
  std::string y_name;
  bool whole_x = false;  ///< ticks of x on whole numbers only
  bool whole_y = false;
  bool zero_y = false;  ///< y starts at zero; bars and stems always do
  std::vector<ChartSeries> series;
  std::vector<ChartLevel> levels;
};

/// Draw `chart` as an inline SVG that scales with the page and takes its colours from the
/// style sheet (report_style.cc).
///
/// Points that are not finite are left out, and a chart without any says so. Long series
/// are thinned: in each stretch of x the lowest and the highest value stay.
std::string SvgChart(const Chart& chart);

/// Write the legend of `chart` as an HTML list; nothing for a single series.
std::string ChartLegend(const Chart& chart);

}  // namespace coden
