#pragma once

#include <string>
#include <vector>

namespace coden {

enum class SeriesStyle {
  kLine,   ///< points joined by a line
  kStems,  ///< a dot on a thin line from zero
  kBars,   ///< a bar from zero; bars of several series stand side by side
  kSteps,  ///< every value holds until the next
  kDots,   ///< points alone
};

struct ChartSeries {
  std::string name;
  SeriesStyle style = SeriesStyle::kLine;
  std::vector<double> x = {}, y = {};  ///< of one length, in order of x; a y that is not
                                       ///< finite is a gap
  std::vector<double> low = {}, high = {};  ///< spread around y; empty: none
  int color = 0;                            ///< 0 to 7 of the style sheet
};

/// A dashed horizontal line across the chart.
struct ChartLevel {
  std::string name;
  double value = 0.0;
};

struct ChartAxis {
  std::string name;
  bool whole = false;      ///< ticks on whole numbers only
  bool from_zero = false;  ///< bars and stems always do
  bool logarithmic = false;
  std::vector<std::string> categories = {};  ///< names of x = 0, 1, ...; empty: numbers
};

/// One picture of a page, as numbers: the page's script draws it, and the same numbers
/// stand below it as a table.
struct Chart {
  std::string id;  ///< unique in a page; also the name of its CSV file
  std::string heading;
  std::string caption;  ///< one sentence
  std::string label;    ///< what a screen reader says in place of the picture
  ChartAxis x, y;
  std::vector<ChartSeries> series;
  std::vector<ChartLevel> levels;
};

}  // namespace coden
