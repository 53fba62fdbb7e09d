#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "coden/settings/report_options.h"

namespace coden {

enum class ColumnType {
  kText,
  kBoolean,  ///< people see yes or no
  kInteger,
  kCount,    ///< people see 177,000
  kBytes,    ///< people see 294 MB
  kReal,     ///< people see `digits` digits after the point
  kPercent,  ///< a share from 0 to 1, of which people see the percentage with `digits`
};

struct TableColumn {
  std::string key;     ///< name in JSON and CSV, such as micro_f1
  std::string header;  ///< name for people, such as "Micro-F1 %"
  ColumnType type = ColumnType::kText;
  int digits = 2;
  std::string if_empty = {};  ///< what people see where there is no value
};

/// Whether people see the column as text, from the left.
inline bool IsText(const TableColumn& column) {
  return column.type == ColumnType::kText || column.type == ColumnType::kBoolean;
}

/// One value; empty where there is none. The column's type decides alignment and digits,
/// and a text may stand in a column of numbers (the label of a footer row).
using Cell = std::variant<std::monostate, std::string, std::int64_t, double, bool>;

/// What a command answers with: the one form of every result on stdout and in reports.
///
/// A plain value. Rows shorter than `columns` are filled with empty cells, and cells past
/// the last column are left out.
struct ResultsTable {
  std::string title;  ///< for people
  std::vector<TableColumn> columns;
  std::vector<std::vector<Cell>> rows;
  /// Rows that sum up the others, below a line of their own. They are for people: JSON
  /// and CSV hold `rows` alone, so that every column keeps one type.
  std::vector<std::vector<Cell>> footer;
  /// Name in JSON and for --table, such as prediction_times, where a command has several.
  std::string key = {};
  /// The one row describes one thing: people see a line per column, and JSON has an
  /// object in place of the array.
  bool is_record = false;
};

/// Write `table` as text that ends with a line break.
///
/// kTable: aligned columns; the widest text column is wrapped where a line would pass 80
/// columns. kJson: an array with one object a row, or the object alone for a record;
/// numbers are numbers in full precision, empty and non-finite cells null. kCsv: RFC 4180
/// with a header line. Text cells go through Printable in every format.
std::string Render(const ResultsTable& table, TableFormat format);

/// Write one value as people see it. Used for text and HTML alike; not escaped for HTML.
std::string CellText(const TableColumn& column, const Cell& cell);

}  // namespace coden
