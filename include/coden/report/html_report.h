#pragma once

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/store/manifest.h"
#include "coden/store/parquet_file.h"

namespace coden {

/// A row of a table of facts.
struct NamedText {
  std::string name;
  std::string text;
};

/// All that a report is made from. Nothing else goes in, no date and no host, so equal
/// inputs give equal bytes.
struct ReportInputs {
  std::string title = "coden run";
  std::string settings_ini;         ///< as ToIni wrote it
  std::vector<StageFigure> stages;  ///< in flow order
  std::vector<std::string> notes;   ///< rows dropped or counted, one sentence each
  std::vector<NamedText> inputs;    ///< what was read: name, then path and size
  std::vector<NamedText> versions;
  std::shared_ptr<arrow::Table> schedule;  ///< schemas/schedule.csv
  std::shared_ptr<arrow::Table> metrics;   ///< schemas/metrics.csv; null without labels
  /// Lines of metrics.jsonl. Of each object `epoch`, `run`, `loss`, `validate_loss` and
  /// `validate_micro_f1` are read where they are there; a line that is none is skipped.
  std::vector<std::string> epoch_lines;
};

/// Make the report: one HTML page that needs no network and runs no script.
///
/// Every value is escaped, and user and password of URIs are masked. A schedule or
/// metrics table of another schema is a corruption error.
arrow::Result<std::string> HtmlReport(const ReportInputs& inputs);

}  // namespace coden
