#include "coden/report/html_page.h"

#include <set>

#include "coden/base/printable.h"
#include "report/chart_figure_internal.h"
#include "report/html_table_internal.h"
#include "report/page_frame_internal.h"

namespace coden {

namespace {

constexpr std::size_t kMaxTableRows = 1000;

arrow::Status CheckCharts(const HtmlPage& page) {
  std::set<std::string> ids;
  for (const auto& section : page.sections) {
    for (const auto& chart : section.charts) {
      if (!ids.insert(FigureId(chart.id)).second) {
        return arrow::Status::Invalid("two charts of a page must differ in id: '",
                                      chart.id, "'");
      }
      for (const auto& series : chart.series) {
        const std::size_t size = series.x.size();
        const bool spread = !series.low.empty() || !series.high.empty();
        if (series.y.size() != size ||
            (spread && (series.low.size() != size || series.high.size() != size))) {
          return arrow::Status::Invalid(
              "x, y, low and high of a series must have one length: '", series.name,
              "' of chart '", chart.id, "'");
        }
      }
    }
  }
  return arrow::Status::OK();
}

ResultsTable Masked(ResultsTable table) {
  table.title = MaskCredentials(table.title);
  for (auto& column : table.columns) column.header = MaskCredentials(column.header);
  for (auto* rows : {&table.rows, &table.footer}) {
    for (auto& row : *rows) {
      for (auto& cell : row) {
        if (auto* text = std::get_if<std::string>(&cell)) *text = MaskCredentials(*text);
      }
    }
  }
  return table;
}

}  // namespace

arrow::Result<std::string> RenderHtmlPage(const HtmlPage& page) {
  ARROW_RETURN_NOT_OK(CheckCharts(page));
  Markup html;
  AddPageHead(html, page.title);
  html.Open("header").Element("h1", MaskCredentials(page.title)).Line();
  if (!page.summary.empty()) {
    html.Element("p", MaskCredentials(page.summary), {{"class", "summary"}});
  }
  html.Close().Line().Open("main").Line();
  for (const auto& section : page.sections) {
    html.Open("section");
    if (!section.heading.empty()) {
      html.Element("h2", MaskCredentials(section.heading)).Line();
    }
    if (!section.text.empty()) html.Element("p", MaskCredentials(section.text)).Line();
    AddFigures(html, section.charts);
    for (const auto& table : section.tables) {
      html.Raw(HtmlTable(Masked(table), kMaxTableRows, "the files this page is made of"));
    }
    html.Close().Line();
  }
  AddNotesSection(html, page.notes);
  AddSettingsSection(html, page.settings);
  AddFactsSection(html, "Versions", page.versions);
  html.Close().Line();
  return FinishPage(html);
}

}  // namespace coden
