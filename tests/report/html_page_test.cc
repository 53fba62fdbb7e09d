#include "coden/report/html_page.h"

#include <gtest/gtest.h>

#include "report/embedded_text_internal.h"
#include "report/page_checks.h"

namespace coden {
namespace {

HtmlPage Sample() {
  HtmlPage page;
  page.title = "a suite";
  page.summary = "Two runs.";
  Chart chart;
  chart.id = "scores";
  chart.heading = "Scores";
  chart.series = {{"a", SeriesStyle::kBars, {0, 1}, {1, 2}, {0.5, 1.5}, {1.5, 2.5}, 0}};
  ResultsTable table;
  table.title = "Table";
  table.columns = {{"key", "key"}, {"n", "n", ColumnType::kInteger}};
  table.rows = {{std::string("s3://key:secret@bucket"), std::int64_t{3}}};
  page.sections = {{"Section", "A sentence.", {chart}, {table}}};
  page.notes = {"a note"};
  page.settings = {{"run", {{"seed", "7"}}}};
  page.versions = {{"coden", "0.1.0"}};
  return page;
}

std::string Rendered(const HtmlPage& page) {
  const auto html = RenderHtmlPage(page);
  EXPECT_TRUE(html.ok()) << html.status();
  return html.ValueOr("");
}

TEST(HtmlPage, HoldsWhatItIsGiven) {
  const std::string html = Rendered(Sample());
  CheckWellFormed(html);
  for (const char* part : {"<h1>a suite</h1>", "Two runs.", "<h2>Section</h2>",
                           "A sentence.", "id=\"chart-scores\"", "Table", "a note",
                           "seed", "0.1.0", "<noscript>", "aria-live=\"polite\""}) {
    EXPECT_TRUE(Has(html, part)) << part;
  }
  EXPECT_FALSE(Has(html, "secret"));
  EXPECT_EQ(html, Rendered(Sample()));
  CheckWellFormed(Rendered({}));
}

TEST(HtmlPage, HoldsItsScriptsAndAPolicyThatNamesThem) {
  const std::string html = Rendered(Sample());
  for (const EmbeddedText* text : {&kUplotScript, &kReportScript}) {
    std::string whole;
    for (const auto piece : text->pieces) whole += piece;
    EXPECT_TRUE(Has(html, "<script>" + whole + "</script>"));
    EXPECT_TRUE(Has(html, "'" + std::string(text->hash) + "'"));
    EXPECT_TRUE(text->hash.starts_with("sha256-"));
  }
  EXPECT_TRUE(Has(html, "default-src 'none'; script-src 'sha256-"));
  EXPECT_FALSE(Has(html, "script-src 'unsafe-inline'"));
  EXPECT_TRUE(Has(html, "The MIT License"));
  EXPECT_TRUE(Has(html, "Permission is hereby granted"));
}

TEST(HtmlPage, RefusesChartsItCannotTellApart) {
  HtmlPage page = Sample();
  page.sections.push_back(page.sections.front());
  EXPECT_EQ(RenderHtmlPage(page).status().message(),
            "two charts of a page must differ in id: 'scores'");
}

TEST(HtmlPage, RefusesSeriesOfUnequalLengths) {
  for (auto spoil : std::vector<void (*)(ChartSeries&)>{
           [](ChartSeries& series) { series.y.pop_back(); },
           [](ChartSeries& series) { series.low.clear(); },
           [](ChartSeries& series) { series.high.push_back(1.0); }}) {
    HtmlPage page = Sample();
    spoil(page.sections[0].charts[0].series[0]);
    EXPECT_EQ(RenderHtmlPage(page).status().message(),
              "x, y, low and high of a series must have one length: 'a' of chart "
              "'scores'");
  }
}

}  // namespace
}  // namespace coden
