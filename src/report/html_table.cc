#include "report/html_table_internal.h"

#include <algorithm>

#include "coden/base/printable.h"
#include "report/markup_internal.h"

namespace coden {

namespace {

void AddRows(Markup& markup, const ResultsTable& table,
             const std::vector<std::vector<Cell>>& rows, std::size_t num_rows) {
  for (std::size_t i = 0; i < num_rows; ++i) {
    markup.Open("tr");
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      const Cell cell = column < rows[i].size() ? rows[i][column] : Cell{};
      const bool is_text = IsText(table.columns[column]);
      const std::string text = CellText(table.columns[column], cell);
      const std::string_view kind = is_text ? "text" : "num";
      if (column == 0) {
        markup.Element("th", text, {{"scope", "row"}, {"class", kind}});
      } else {
        markup.Element("td", text, {{"class", kind}});
      }
    }
    markup.Close().Line();
  }
}

}  // namespace

std::string HtmlTable(const ResultsTable& table, std::size_t max_rows,
                      std::string_view source) {
  Markup markup;
  markup.Open("div", {{"class", "scroll"}}).Open("table");
  if (!table.title.empty()) markup.Element("caption", table.title);
  markup.Open("thead").Open("tr");
  for (const auto& column : table.columns) {
    const bool is_text = IsText(column);
    markup.Element("th", column.header,
                   {{"scope", "col"}, {"class", is_text ? "text" : "num"}});
  }
  markup.Close().Close().Line().Open("tbody").Line();
  const std::size_t num_rows = std::min(table.rows.size(), max_rows);
  AddRows(markup, table, table.rows, num_rows);
  markup.Close();
  if (!table.footer.empty()) {
    markup.Open("tfoot").Line();
    AddRows(markup, table, table.footer, table.footer.size());
    markup.Close();
  }
  markup.Close().Close().Line();
  if (num_rows < table.rows.size()) {
    markup.Element("p",
                   "The first " + FormatCount(static_cast<std::int64_t>(num_rows)) +
                       " of " +
                       FormatCount(static_cast<std::int64_t>(table.rows.size())) +
                       " rows; all are in " + std::string(source) + ".",
                   {{"class", "muted"}});
  }
  return markup.Finish();
}

}  // namespace coden
