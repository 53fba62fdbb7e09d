#pragma once

namespace coden {

enum class TableFormat { kTable, kJson, kCsv };

struct ReportOptions {
  bool html = true;
  bool tensorboard = false;
  TableFormat format = TableFormat::kTable;
};

}  // namespace coden
