#pragma once

namespace coden {

enum class TableFormat { kTable, kJson, kCsv };

struct ReportOptions {
  bool html = true;
  TableFormat format = TableFormat::kTable;
};

}  // namespace coden
