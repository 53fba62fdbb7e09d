// Write a page with a chart of every kind to the file that is named: what no run has,
// such as a logarithmic axis or a series of 100,000 points, is seen by a browser too.

#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>

#include "coden/report/html_page.h"

namespace {

using coden::Chart;
using coden::ChartSeries;
using coden::SeriesStyle;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Chart Named(const std::string& id) {
  Chart chart;
  chart.id = id;
  chart.heading = id;
  chart.caption = "A chart of the tests.";
  chart.label = "chart " + id;
  chart.x.name = "x";
  chart.y.name = "y";
  return chart;
}

Chart Styled(const std::string& id, SeriesStyle style, bool spread) {
  Chart chart = Named(id);
  for (int color = 0; color < 2; ++color) {
    ChartSeries series{.name = "series " + std::to_string(color), .style = style};
    series.color = color;
    for (int i = 0; i < 12; ++i) {
      const double y = i == 5 ? kNan : 2.0 + color + std::sin(0.7 * i + color);
      series.x.push_back(i);
      series.y.push_back(y);
      if (!spread) continue;
      series.low.push_back(y - 0.3);
      series.high.push_back(y + 0.4);
    }
    chart.series.push_back(series);
  }
  chart.levels = {{"level", 2.5}};
  return chart;
}

Chart Long() {
  Chart chart = Named("long");
  ChartSeries series{.name = "wave"};
  for (int i = 0; i < 100'000; ++i) {
    series.x.push_back(i);
    series.y.push_back(i == 54'321 ? 9.0 : std::sin(0.0007 * i));
  }
  chart.series = {series};
  return chart;
}

Chart Logarithmic() {
  Chart chart = Named("logarithmic");
  chart.x.logarithmic = chart.y.logarithmic = true;
  chart.series = {{.name = "power", .x = {1, 10, 100, 1000}, .y = {0.02, 0, 300, 4e6}}};
  return chart;
}

Chart Categories() {
  Chart chart = Named("categories");
  for (int i = 0; i < 9; ++i) {
    chart.x.categories.push_back("a category with a name " + std::to_string(i));
  }
  ChartSeries series{.name = "bars", .style = SeriesStyle::kBars};
  for (int i = 0; i < 9; ++i) {
    series.x.push_back(i);
    series.y.push_back(100.0 * i);
  }
  chart.series = {series};
  return chart;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  coden::HtmlPage page;
  page.title = "every kind of chart";
  Chart point = Named("one-point");
  point.series = {{.name = "alone", .x = {7}, .y = {3}}};
  Chart flat = Named("flat");
  flat.series = {{.name = "zero", .x = {1, 2}, .y = {0, 0}}};
  Chart nothing = Named("nothing");
  page.sections = {{"Charts",
                    "",
                    {Styled("line", SeriesStyle::kLine, true),
                     Styled("stems", SeriesStyle::kStems, false),
                     Styled("bars", SeriesStyle::kBars, true),
                     Styled("steps", SeriesStyle::kSteps, false),
                     Styled("dots", SeriesStyle::kDots, true), Long(), Logarithmic(),
                     Categories(), point, flat, nothing},
                    {}}};
  const auto html = coden::RenderHtmlPage(page);
  if (!html.ok()) {
    std::cerr << html.status().ToString() << "\n";
    return 1;
  }
  std::ofstream(argv[1]) << *html;
  return 0;
}
