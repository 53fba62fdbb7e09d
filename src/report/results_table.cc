#include "coden/report/results_table.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "coden/base/printable.h"
#include "report/text_table_internal.h"

namespace coden {

namespace {

nlohmann::ordered_json JsonValue(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) {
    return Printable(*text, PrintableMode::kEncoded);
  }
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
  if (const auto* real = std::get_if<double>(&cell)) {
    if (std::isfinite(*real)) return *real;
  }
  if (const auto* yes = std::get_if<bool>(&cell)) return *yes;
  return nullptr;
}

std::string DumpJson(const nlohmann::ordered_json& value) {
  // ASCII alone: a terminal must not obey what a node id says.
  return value.dump(/*indent=*/2, /*indent_char=*/' ', /*ensure_ascii=*/true) + "\n";
}

std::string RenderJson(const ResultsTable& table) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    auto object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string key = Printable(table.columns[i].key, PrintableMode::kEncoded);
      // Of two columns of one name the first: what a file says of itself comes last.
      object.emplace(key, JsonValue(i < row.size() ? row[i] : Cell{}));
    }
    if (table.is_record) return DumpJson(object);
    rows.push_back(std::move(object));
  }
  return DumpJson(rows);
}

std::string CsvField(std::string_view text) {
  std::string shown = Printable(text, PrintableMode::kMultiLine);
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (const char c : shown) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string CsvValue(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return CsvField(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&cell)) return FormatShortest(*real);
  if (const auto* yes = std::get_if<bool>(&cell)) return *yes ? "true" : "false";
  return {};
}

std::string RenderCsv(const ResultsTable& table) {
  std::string text;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    text += (i == 0 ? "" : ",") + CsvField(table.columns[i].key);
  }
  text += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      text += (i == 0 ? "" : ",") + CsvValue(i < row.size() ? row[i] : Cell{});
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace

std::string CellText(const TableColumn& column, const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return Printable(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    if (column.type == ColumnType::kCount) return FormatCount(*integer);
    if (column.type == ColumnType::kBytes) return FormatBytes(*integer);
    return std::to_string(*integer);
  }
  if (const auto* real = std::get_if<double>(&cell)) {
    return FormatFixed(column.type == ColumnType::kPercent ? 100.0 * *real : *real,
                       column.digits);
  }
  if (const auto* yes = std::get_if<bool>(&cell)) return *yes ? "yes" : "no";
  return column.if_empty;
}

std::string Render(const ResultsTable& table, TableFormat format) {
  switch (format) {
    case TableFormat::kJson:
      return RenderJson(table);
    case TableFormat::kCsv:
      return RenderCsv(table);
    case TableFormat::kTable:
      break;
  }
  return RenderTextTable(table);
}

}  // namespace coden
