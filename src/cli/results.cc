#include "cli/results_internal.h"

#include <utility>

#include <arrow/table.h>

#include "coden/pipeline/run_report.h"
#include "coden/report/counts_table.h"
#include "coden/report/micro_f1_table.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "pipeline/saved_settings_internal.h"

namespace coden {

namespace {

constexpr std::string_view kResults = "results";

// What a run without labels ends with: its parts in place of scores.
ResultsTable PartsTable(const Manifest& manifest) {
  ResultsTable table;
  table.title = "Stages";
  table.columns = {{"stage", "stage"},
                   {"taken", "takes"},
                   {"given", "gives"},
                   {"seconds", "seconds", ColumnType::kReal, /*digits=*/2}};
  for (const PartRecord& part : manifest.parts) {
    // A training or forecast that predates the latest rows is left out.
    if (part.name != kEmbedPart && !part.complete) continue;
    for (const StageFigure& figure : part.figures) {
      table.rows.push_back({figure.name, figure.taken, figure.given, figure.seconds});
    }
  }
  return table;
}

ResultsTable NotesTable(const Manifest& manifest) {
  ResultsTable table;
  table.key = "notes";
  table.title = "Notes";
  table.columns = {{"note", "note"}};
  for (std::string& note : RunNotes(manifest)) table.rows.push_back({std::move(note)});
  return table;
}

}  // namespace

arrow::Status CheckRunForm(const OutputForm& form) {
  constexpr std::string_view kTables[] = {kResults, "input_counts", "notes"};
  return CheckOutputForm(form, kTables);
}

arrow::Result<std::string> RenderWithCounts(ResultsTable results,
                                            const Manifest& manifest, OutputForm form) {
  results.key = kResults;
  if (form.table.empty() && form.format == TableFormat::kTable) form.table = kResults;
  const ResultsTable tables[] = {std::move(results), CountsTable(manifest),
                                 NotesTable(manifest)};
  return RenderAll(tables, form);
}

arrow::Result<std::string> RunResults(const Settings& settings, const Manifest& manifest,
                                      bool with_scores, const OutputForm& form) {
  const FileRecord* file = manifest.FindFile(RunLayout::kMetrics);
  if (file == nullptr || !with_scores) {
    return RenderWithCounts(PartsTable(manifest), manifest, form);
  }
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto metrics, ReadParquetFile(*store, *file));
  ARROW_ASSIGN_OR_RAISE(const auto shown,
                        SettingsOfRun(*store, manifest, ShownSettings(settings)));
  ARROW_ASSIGN_OR_RAISE(ResultsTable table, MicroF1Table(*metrics, shown));
  if (ModelPredatesRows(manifest)) table.title += "\n" + std::string(kModelPredatesRows);
  return RenderWithCounts(std::move(table), manifest, form);
}

}  // namespace coden
