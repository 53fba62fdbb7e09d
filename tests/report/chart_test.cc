#include "coden/report/chart.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "report/chart_figure_internal.h"
#include "report/chart_thinning_internal.h"
#include "report/page_checks.h"

namespace coden {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
using nlohmann::json;

Chart ChartWith(std::vector<ChartSeries> series) {
  Chart chart;
  chart.id = "c";
  chart.heading = "heading";
  chart.caption = "Caption.";
  chart.x.name = "x";
  chart.series = std::move(series);
  return chart;
}

std::string Figure(const Chart& chart) {
  Markup page;
  AddFigure(page, chart);
  return page.Finish();
}

TEST(ChartFigure, HasItsNumbersAsJsonAndAsATable) {
  ChartSeries series{"name", SeriesStyle::kBars, {1, 2.5}, {3, 0.25}, {2, 0}, {4, 1}, 3};
  Chart chart = ChartWith({series});
  chart.levels = {{"level", 0.5}, {"nowhere", kNan}};
  const std::string html = Figure(chart);
  CheckWellFormed(html);
  const json data = ChartOf(html, "c");
  EXPECT_EQ(data["x"], json({1, 2.5}));
  EXPECT_EQ(data["series"][0]["y"], json({3, 0.25}));
  EXPECT_EQ(data["series"][0]["low"], json({2, 0}));
  EXPECT_EQ(data["series"][0]["high"], json({4, 1}));
  EXPECT_EQ(data["series"][0]["style"], "bars");
  EXPECT_EQ(data["series"][0]["color"], 3);
  EXPECT_FALSE(data["series"][0].contains("at"));
  EXPECT_EQ(data["levels"], json::parse(R"([{"name": "level", "value": 0.5}])"));
  EXPECT_TRUE(Has(html, ">name low</th>"));
  EXPECT_TRUE(Has(html, ">2.5</th><td class=\"num\">0.25</td><td class=\"num\">0</td>"));
}

TEST(ChartFigure, SeriesOfDifferentXShareRows) {
  const json data =
      ChartOf(Figure(ChartWith({{"a", SeriesStyle::kLine, {1, 3}, {10, 30}},
                                {"b", SeriesStyle::kDots, {2, 3}, {2, 3}}})),
              "c");
  EXPECT_EQ(data["x"], json({1, 2, 3}));
  EXPECT_EQ(data["series"][0]["at"], json({0, 2}));
  EXPECT_EQ(data["series"][1]["at"], json({1, 2}));
}

TEST(ChartFigure, RepeatedXKeepsItsRows) {
  const ChartRows rows =
      AlignRows(ChartWith({{"saw", SeriesStyle::kLine, {1, 2, 2, 3, 3}, {0, 9, 0, 9, 0}},
                           {"top", SeriesStyle::kDots, {2, 3}, {9, 9}}}));
  EXPECT_EQ(rows.x, (std::vector<double>{1, 2, 2, 3, 3}));
  EXPECT_EQ(rows.rows[1], (std::vector<std::size_t>{1, 3}));
}

TEST(ChartFigure, GapsAreNullAndPointsWithoutXAreLeftOut) {
  const json data = ChartOf(Figure(ChartWith({{"a",
                                               SeriesStyle::kLine,
                                               {1, 2, kNan, kInfinity, 3},
                                               {1, kNan, 7, 7, -kInfinity}}})),
                            "c");
  EXPECT_EQ(data["x"], json({1, 2, 3}));
  EXPECT_EQ(data["series"][0]["y"], json({1, nullptr, nullptr}));
}

TEST(ChartFigure, SaysWhenThereIsNothingToDraw) {
  for (const auto& chart :
       {ChartWith({}), ChartWith({{"a", SeriesStyle::kLine, {1}, {kNan}}})}) {
    const std::string html = Figure(chart);
    CheckWellFormed(html);
    EXPECT_TRUE(Has(html, "No values to show."));
    EXPECT_FALSE(Has(html, "<script"));
  }
}

TEST(ChartFigure, EscapesAndMasksEveryText) {
  const std::string hostile = "</script><script>alert(1)</script>\"'&\x01\xff";
  Chart chart = ChartWith({{hostile, SeriesStyle::kBars, {0}, {1}}});
  chart.id = chart.heading = chart.caption = chart.label = hostile;
  chart.x.name = chart.y.name = hostile;
  chart.x.categories = {hostile, "s3://key:secret@bucket/run"};
  chart.levels = {{hostile, 1.0}};
  const std::string html = Figure(chart);
  CheckWellFormed(html);
  EXPECT_FALSE(Has(html, "<script>"));
  EXPECT_FALSE(Has(html, "secret"));
  const json data = ChartOf(html, FigureId(hostile));
  EXPECT_EQ(data["series"][0]["name"],
            "</script><script>alert(1)</script>\"'&\\x01\\xff");
}

TEST(ChartThinning, KeepsPeaksEndsAndSharedRows) {
  ChartSeries wave{"wave", SeriesStyle::kLine, {}, {}, {}, {}, 0};
  for (int i = 0; i < 100'000; ++i) {
    wave.x.push_back(i);
    wave.y.push_back(std::sin(0.001 * i));
  }
  wave.y[54'321] = 9.0;
  wave.y[12'345] = -9.0;
  ChartSeries other = wave;
  other.y.assign(100'000, 1.0);
  other.y[777] = 5.0;
  const Chart chart = ThinnedChart(ChartWith({wave, other}));
  const ChartSeries& thin = chart.series[0];
  EXPECT_LE(thin.x.size(), kMaxChartPoints + 2);
  EXPECT_GE(thin.x.size(), 400u);
  EXPECT_EQ(thin.x, chart.series[1].x);
  EXPECT_EQ(thin.x.front(), 0.0);
  EXPECT_EQ(thin.x.back(), 99'999.0);
  EXPECT_EQ(*std::max_element(thin.y.begin(), thin.y.end()), 9.0);
  EXPECT_EQ(*std::min_element(thin.y.begin(), thin.y.end()), -9.0);
  EXPECT_EQ(*std::max_element(chart.series[1].y.begin(), chart.series[1].y.end()), 5.0);
  EXPECT_TRUE(Has(chart.caption, "Caption. Thinned to "));
  EXPECT_TRUE(Has(chart.caption, " of 200,000 points"));
  EXPECT_LT(Figure(ChartWith({wave})).size(), 150'000u);
}

TEST(ChartThinning, KeepsTheExtremesOfTheSpreadAndLongGaps) {
  ChartSeries series{"s", SeriesStyle::kLine, {}, {}, {}, {}, 0};
  for (int i = 0; i < 5000; ++i) {
    const bool gap = i >= 2000 && i < 3000;
    series.x.push_back(i);
    series.y.push_back(gap ? kNan : 0.0);
    series.low.push_back(gap ? kNan : (i == 1234 ? -7.0 : -1.0));
    series.high.push_back(gap ? kNan : (i == 4321 ? 7.0 : 1.0));
  }
  const Chart chart = ThinnedChart(ChartWith({series}));
  const ChartSeries& thin = chart.series[0];
  EXPECT_NE(std::find(thin.low.begin(), thin.low.end(), -7.0), thin.low.end());
  EXPECT_NE(std::find(thin.high.begin(), thin.high.end(), 7.0), thin.high.end());
  EXPECT_TRUE(std::any_of(thin.y.begin(), thin.y.end(),
                          [](double value) { return std::isnan(value); }));
}

TEST(ChartThinning, LeavesShortSeriesAlone) {
  const Chart chart =
      ThinnedChart(ChartWith({{"a", SeriesStyle::kLine, {1, 2}, {3, 4}}}));
  EXPECT_EQ(chart.series[0].y, (std::vector<double>{3, 4}));
  EXPECT_EQ(chart.caption, "Caption.");
}

TEST(Markup, ClosesAndEscapes) {
  Markup markup;
  markup.Open("p", {{"title", "\"<'&>"}}).Text("a<b\n\xff");
  EXPECT_EQ(markup.Finish(), "<p title=\"&quot;&lt;&#39;&amp;&gt;\">a&lt;b\\n\\xff</p>");
}

}  // namespace
}  // namespace coden
