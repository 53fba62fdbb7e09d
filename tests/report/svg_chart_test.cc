#include "report/svg_chart_internal.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "report/axis_internal.h"
#include "report/markup_internal.h"

namespace coden {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kMax = std::numeric_limits<double>::max();

std::string Draw(const std::vector<ChartPoint>& points, SeriesStyle style) {
  Chart chart;
  chart.label = "test";
  chart.series = {{"series", style, points, 0}};
  chart.levels = {{"level", 0.1}, {"nowhere", kNan}};
  return SvgChart(chart);
}

// Every coordinate is a number inside the picture.
void CheckDrawing(const std::vector<ChartPoint>& points) {
  for (const auto style : {SeriesStyle::kLine, SeriesStyle::kStems, SeriesStyle::kBars}) {
    const std::string svg = Draw(points, style);
    EXPECT_TRUE(svg.starts_with("<svg")) << svg;
    EXPECT_TRUE(svg.ends_with("</svg>")) << svg;
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
    for (const char* name : {" x=\"", " y=\"", " x1=\"", " cy=\"", " height=\""}) {
      for (std::size_t at = svg.find(name); at != std::string::npos;
           at = svg.find(name, at + 1)) {
        const std::string value = svg.substr(at + std::string(name).size(), 8);
        ASSERT_TRUE(std::isdigit(static_cast<unsigned char>(value[0]))) << value;
        EXPECT_LE(std::stod(value), 460.0) << svg;
      }
    }
  }
}

TEST(SvgChart, DrawsAnyValues) {
  CheckDrawing({{1, 0.5, "one"}});
  CheckDrawing({{0, 0, "zero"}});
  CheckDrawing({{1, 3, ""}, {2, 3, ""}, {3, 3, ""}});
  CheckDrawing({{5, 1, ""}, {5, 2, ""}});
  CheckDrawing({{1, -2, ""}, {2, 2, ""}});
  CheckDrawing({{1, kNan, ""}, {2, 1, ""}, {kInfinity, 1, ""}, {4, -kInfinity, ""}});
  CheckDrawing({{-kMax, -kMax, ""}, {kMax, kMax, ""}});
  CheckDrawing({{1e-310, 1e-310, ""}, {2e-310, 3e-310, ""}});
  CheckDrawing({{1.7e9, 1e15, ""}, {1.7e9 + 1, 1e15 + 1, ""}});
}

TEST(SvgChart, SaysWhenThereIsNothingToDraw) {
  for (const auto& points : {std::vector<ChartPoint>{}, {{1, kNan, ""}}}) {
    CheckDrawing(points);
    EXPECT_NE(Draw(points, SeriesStyle::kLine).find("no values"), std::string::npos);
  }
  EXPECT_NE(SvgChart({}).find("no values"), std::string::npos);
}

TEST(SvgChart, ALineHasAGapWhereAValueIsMissing) {
  const std::string svg =
      Draw({{1, 1, ""}, {2, 2, ""}, {3, kNan, ""}, {4, 1, ""}, {5, 2, ""}},
           SeriesStyle::kLine);
  const std::size_t start = svg.find(" d=\"") + 4;
  const std::string path = svg.substr(start, svg.find('"', start) - start);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'L'), 2);
}

TEST(SvgChart, ThinningKeepsThePeaks) {
  std::vector<ChartPoint> points;
  for (int i = 0; i < 100'000; ++i) points.push_back({1.0 * i, std::sin(0.001 * i), ""});
  points[54'321] = {54'321, 9.0, "peak"};
  points[12'345] = {12'345, -9.0, "trough"};
  const std::string svg = Draw(points, SeriesStyle::kLine);
  EXPECT_LT(svg.size(), 100'000u);
  EXPECT_NE(svg.find("peak"), std::string::npos);
  EXPECT_NE(svg.find("trough"), std::string::npos);
}

TEST(SvgChart, EscapesNamesAndTitles) {
  Chart chart;
  chart.label = "\"><script>";
  chart.series = {{"<b>", SeriesStyle::kLine, {{1, 1, "</title><script>"}}, 0},
                  {"&", SeriesStyle::kBars, {}, 99}};
  EXPECT_EQ(SvgChart(chart).find("<script>"), std::string::npos);
  EXPECT_EQ(ChartLegend(chart),
            "<ul class=\"legend\"><li class=\"c0\">&lt;b&gt;</li>"
            "<li class=\"c2\">&amp;</li></ul>");
}

TEST(Axis, TicksAreRoundNumbers) {
  const Axis axis = MakeAxis(71.3, 76.9);
  EXPECT_EQ(axis.low, 70.0);
  EXPECT_EQ(axis.high, 78.0);
  EXPECT_EQ(axis.step, 2.0);
  EXPECT_EQ(MakeAxis(0, 3, {.whole_numbers = true}).step, 1.0);
}

TEST(Axis, TickTextIsShort) {
  EXPECT_EQ(TickText(0.05, MakeAxis(0.0, 0.05)), "0.05");
  EXPECT_EQ(TickText(0.0, MakeAxis(0.0, 1.0)), "0");
  EXPECT_EQ(TickText(2.0, MakeAxis(0.5, 2.5)), "2.0");
  EXPECT_EQ(TickText(2005, MakeAxis(2000, 2026)), "2005");
  EXPECT_EQ(TickText(50'000, MakeAxis(0, 200'000)), "50k");
  EXPECT_EQ(TickText(1.2e9, MakeAxis(1.19e9, 1.23e9)), "1.20G");
  EXPECT_EQ(TickText(2e-7, MakeAxis(0, 4e-7)), "2e-07");
}

TEST(Markup, ClosesAndEscapes) {
  Markup markup;
  markup.Open("p", {{"title", "\"<'&>"}}).Text("a<b\n\xff");
  EXPECT_EQ(markup.Finish(), "<p title=\"&quot;&lt;&#39;&amp;&gt;\">a&lt;b\\n\\xff</p>");
}

}  // namespace
}  // namespace coden
