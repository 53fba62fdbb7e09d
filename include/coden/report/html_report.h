#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/type_fwd.h>

#include "coden/report/html_page.h"
#include "coden/store/manifest.h"

namespace coden {

/// All that a report is made from. Nothing else goes in, no date and no host, so equal
/// inputs give equal bytes.
struct ReportInputs {
  std::string title = "coden run";
  std::vector<IniSection> settings;
  std::vector<StageFigure> stages;  ///< in flow order
  std::vector<std::string> notes;   ///< rows dropped or counted, one sentence each
  std::vector<NamedText> counts;    ///< of input rows: what they are, and how many
  std::vector<NamedText> inputs;    ///< what was read: name, then path and size
  std::vector<NamedText> versions;
  std::shared_ptr<arrow::Table> schedule;  ///< schemas/schedule.csv
  std::shared_ptr<arrow::Table> metrics;   ///< schemas/metrics.csv; null without labels
  /// Hands over predictions.parquet (schemas/predictions.csv), of which `label`,
  /// `predicted`, `split` and `present` are needed, part by part, as it may be large;
  /// empty: none.
  using TableVisitor = std::function<arrow::Status(const arrow::Table&)>;
  std::function<arrow::Status(const TableVisitor&)> predictions;
  /// What the solver did, a row per `snapshot`: `seconds`, `sweeps`, `proving_sweeps`,
  /// `swept_arcs`, `pushes` and `pushed_arcs`; null: not recorded.
  std::shared_ptr<arrow::Table> work;
  /// Lines of metrics.jsonl. Of each object `epoch`, `run`, `lesson`, `loss`,
  /// `validate_loss` and `validate_micro_f1` are read where they are there; a line that
  /// is none is skipped.
  std::vector<std::string> epoch_lines;
};

/// Make the report: one HTML page that needs no network, as RenderHtmlPage writes it.
///
/// A table of another schema is a corruption error.
arrow::Result<std::string> HtmlReport(const ReportInputs& inputs);

}  // namespace coden
