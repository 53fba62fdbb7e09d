#include "cli/results_internal.h"

#include <span>
#include <utility>
#include <vector>

#include <arrow/table.h>

#include "coden/pipeline/run_report.h"
#include "coden/report/counts_table.h"
#include "coden/report/micro_f1_table.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "pipeline/saved_settings_internal.h"
#include "report/micro_f1_internal.h"

namespace coden {

namespace {

constexpr std::string_view kResults = "results";
constexpr std::string_view kStages = "stages";
constexpr std::string_view kTables[] = {kResults, kStages, "input_counts", "notes"};

// What stages take and give, for programs: by the counts and measures of their figures.
std::vector<TableColumn> NumberColumns() {
  return {{"rows", "rows", ColumnType::kInteger},
          {"nodes", "nodes", ColumnType::kInteger},
          {"prediction_times", "prediction times", ColumnType::kInteger},
          {"snapshots", "snapshots", ColumnType::kInteger},
          {"columns", "columns", ColumnType::kInteger},
          {"slices", "slices", ColumnType::kInteger},
          {"error_bound", "error bound", ColumnType::kReal},
          {"bytes", "bytes", ColumnType::kInteger},
          {"labelled_nodes", "labelled nodes", ColumnType::kInteger},
          {"micro_f1", "Micro-F1 %", ColumnType::kPercent},
          {"predictions", "predictions", ColumnType::kInteger}};
}

// Of stages whose results are up to date.
std::vector<StageFigure> CurrentFigures(const Manifest& manifest) {
  std::vector<StageFigure> figures;
  for (const PartRecord& part : manifest.parts) {
    // A training or forecast that predates the latest rows is left out.
    if (part.name != kEmbedPart && !part.complete) continue;
    figures.insert(figures.end(), part.figures.begin(), part.figures.end());
  }
  return figures;
}

ResultsTable StagesForPeople(const std::vector<StageFigure>& figures) {
  ResultsTable table;
  table.columns = {{"stage", "stage"},
                   {"taken", "takes"},
                   {"given", "gives"},
                   {"seconds", "seconds", ColumnType::kReal, /*digits=*/2}};
  for (const StageFigure& figure : figures)
    table.rows.push_back({figure.name, figure.taken, figure.given, figure.seconds});
  return table;
}

Cell NumberOf(const StageFigure& figure, const std::string& key) {
  if (const auto count = figure.counts.find(key); count != figure.counts.end())
    return count->second;
  const auto measure = figure.measures.find(key);
  return measure == figure.measures.end() ? Cell() : Cell(measure->second);
}

ResultsTable StagesForPrograms(const std::vector<StageFigure>& figures) {
  ResultsTable table;
  table.columns = {{"stage", "stage"}};
  const std::vector<TableColumn> numbers = NumberColumns();
  table.columns.insert(table.columns.end(), numbers.begin(), numbers.end());
  table.columns.push_back({"seconds", "seconds", ColumnType::kReal});
  table.columns.push_back({"peak_bytes", "peak memory", ColumnType::kInteger});
  for (const StageFigure& figure : figures) {
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(figure.name);
    for (const TableColumn& column : numbers) row.push_back(NumberOf(figure, column.key));
    row.emplace_back(figure.seconds);
    row.emplace_back();
    if (figure.peak_bytes != 0) row.back() = figure.peak_bytes;
  }
  return table;
}

ResultsTable StagesTable(const Manifest& manifest, TableFormat format) {
  const std::vector<StageFigure> figures = CurrentFigures(manifest);
  ResultsTable table = format == TableFormat::kTable ? StagesForPeople(figures)
                                                     : StagesForPrograms(figures);
  table.key = kStages;
  table.title = "Stages";
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

arrow::Status CheckRunForm(const OutputForm& form, bool has_results) {
  return CheckOutputForm(form, std::span(kTables).subspan(has_results ? 0 : 1));
}

arrow::Result<std::string> RenderRun(std::optional<ResultsTable> results,
                                     const Manifest& manifest, OutputForm form) {
  std::vector<ResultsTable> tables;
  if (results) {
    results->key = kResults;
    tables.push_back(*std::move(results));
  }
  tables.push_back(StagesTable(manifest, form.format));
  tables.push_back(CountsTable(manifest));
  tables.push_back(NotesTable(manifest));
  if (form.table.empty() && form.format == TableFormat::kTable)
    form.table = tables.front().key;
  return RenderAll(tables, form);
}

arrow::Result<std::string> RunResults(const Settings& settings, const Manifest& manifest,
                                      OutputForm form) {
  const FileRecord* file = manifest.FindFile(RunLayout::kMetrics);
  if (file == nullptr) {
    // People see the stages in the place of scores.
    if (form.table.empty() && form.format == TableFormat::kTable) form.table = kStages;
    return RenderRun(MicroF1Table(MicroF1Summary{}, /*facts=*/""), manifest, form);
  }
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto metrics, ReadParquetFile(*store, *file));
  ARROW_ASSIGN_OR_RAISE(const auto shown,
                        SettingsOfRun(*store, manifest, ShownSettings(settings)));
  ARROW_ASSIGN_OR_RAISE(ResultsTable table, MicroF1Table(*metrics, shown));
  if (ModelPredatesRows(manifest)) table.title += "\n" + std::string(kModelPredatesRows);
  return RenderRun(std::move(table), manifest, form);
}

}  // namespace coden
