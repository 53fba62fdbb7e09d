#include <algorithm>
#include <numeric>

#include "coden/base/printable.h"
#include "report/html_table_internal.h"
#include "report/report_sections_internal.h"

namespace coden {

namespace {

constexpr std::size_t kMaxClasses = 20;
constexpr std::size_t kMaxScoreRows = 200;

void AddMatrixRow(Markup& page, const ConfusionMatrix& matrix, std::size_t row) {
  const auto& counts = matrix.counts[row];
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), 0LL);
  page.Open("tr").Element("th", matrix.names[row], {{"scope", "row"}});
  for (std::size_t column = 0; column < counts.size(); ++column) {
    const double share =
        total == 0 ? 0.0
                   : static_cast<double>(counts[column]) / static_cast<double>(total);
    const std::string title = matrix.names[row] + " given as " + matrix.names[column] +
                              ": " + FormatFixed(100.0 * share, 1) + " %";
    page.Element("td", FormatCount(counts[column]),
                 {{"class", row == column ? "right" : "wrong"},
                  {"style", "--share:" + FormatFixed(share, 3)},
                  {"title", title}});
  }
  page.Close().Line();
}

}  // namespace

void AddClasses(Markup& page, const ClassCounts& counts) {
  if (counts.names.empty()) return;
  const ConfusionMatrix matrix = MakeConfusionMatrix(counts, kMaxClasses);
  page.Open("div", {{"class", "classes"}}).Line();
  page.Open("div").Element("h3", "Confusion matrix");
  std::string text =
      "Test nodes that had an event, at all prediction times and in all runs. Rows: the "
      "class; columns: the predicted class; shaded by the share of the row.";
  if (matrix.num_merged > 0) {
    text += " The " + std::to_string(kMaxClasses) + " largest classes; the other " +
            FormatCount(static_cast<std::int64_t>(matrix.num_merged)) +
            " are merged into “other”.";
  }
  page.Element("p", text, {{"class", "muted"}}).Line();
  page.Open("div", {{"class", "scroll"},
                    {"tabindex", "0"},
                    {"role", "region"},
                    {"aria-label", "Confusion matrix"}});
  page.Open("table", {{"class", "matrix"}}).Open("thead").Open("tr");
  page.Element("th", "class\u00a0↓ predicted\u00a0→", {{"scope", "col"}});
  for (const auto& name : matrix.names) page.Element("th", name, {{"scope", "col"}});
  page.Close().Close().Line().Open("tbody").Line();
  for (std::size_t row = 0; row < matrix.names.size(); ++row) {
    AddMatrixRow(page, matrix, row);
  }
  page.Close().Close().Close().Close().Line();
  page.Open("div").Element("h3", "Scores by class");
  page.Element(
      "p",
      "Of the same predictions. The column “predictions” is how many there are for "
      "nodes of the class: a node counts once for every prediction time and run.",
      {{"class", "muted"}});
  page.Raw(HtmlTable(ClassScoreTable(counts), kMaxScoreRows, "predictions.parquet"));
  page.Close().Close().Line();
}

}  // namespace coden
