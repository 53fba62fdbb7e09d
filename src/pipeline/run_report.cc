#include "coden/pipeline/run_report.h"

#include <tbb/version.h>

#include <sstream>

#include <arrow/config.h>
#include <arrow/table.h>

#include "coden/base/printable.h"
#include "coden/report/counts_table.h"
#include "coden/report/html_report.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "coden/version.h"
#include "pipeline/saved_settings_internal.h"
#include "pipeline/tensorboard_files_internal.h"
#include "report/page_frame_internal.h"

namespace coden {

bool ModelPredatesRows(const Manifest& manifest) {
  const PartRecord* trained = manifest.Find(kTrainPart);
  return trained != nullptr && !trained->complete;
}

std::vector<std::string> RunNotes(const Manifest& manifest) {
  std::vector<std::string> notes;
  for (const PartRecord& part : manifest.parts)
    notes.insert(notes.end(), part.notes.begin(), part.notes.end());
  if (ModelPredatesRows(manifest)) {
    notes.push_back(std::string(kModelPredatesRows) +
                    " `coden run` trains it on all rows.");
  }
  return notes;
}

arrow::Status WriteRunReport(const Settings& settings, const Manifest& manifest,
                             const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  if (settings.report.tensorboard)
    ARROW_RETURN_NOT_OK(WriteTensorboardFiles(*store, manifest));
  if (!settings.report.html) return arrow::Status::OK();
  store->Expect(manifest.AllFiles());
  ReportInputs inputs;
  inputs.title = "coden: " + store->Show();
  // The settings that made the files, which need not be those of this call. A run that
  // was interrupted has none yet.
  ARROW_ASSIGN_OR_RAISE(inputs.settings,
                        SettingsOfRun(*store, manifest, ShownSettings(settings)));
  const ResultsTable counts = CountsTable(manifest);
  for (const auto& row : counts.rows) {
    inputs.counts.push_back(
        {std::get<std::string>(row[2]), FormatCount(std::get<std::int64_t>(row[1]))});
  }
  for (const PartRecord& part : manifest.parts) {
    inputs.stages.insert(inputs.stages.end(), part.figures.begin(), part.figures.end());
  }
  inputs.notes = RunNotes(manifest);
  for (const auto& [name, key] :
       {std::pair{"edges", "edges"}, std::pair{"features", "features"},
        std::pair{"feature updates", "feature_updates"}, std::pair{"labels", "labels"},
        std::pair{"split", "split"}}) {
    const std::string_view path = FindIniSetting(inputs.settings, "input", key);
    if (!path.empty()) inputs.inputs.push_back({name, std::string(path)});
  }
  inputs.versions = {{"coden", std::string(kVersion)},
                     {"Apache Arrow", arrow::GetBuildInfo().version_string},
                     {"oneTBB", TBB_runtime_version()}};
  if (const FileRecord* schedule = manifest.FindFile(RunLayout::kSchedule)) {
    ARROW_ASSIGN_OR_RAISE(inputs.schedule, ReadParquetFile(*store, *schedule));
  }
  const FileRecord* metrics = manifest.FindFile(RunLayout::kMetrics);
  const FileRecord* log = manifest.FindFile(RunLayout::kMetricsLog);
  if (metrics != nullptr && log != nullptr) {
    ARROW_ASSIGN_OR_RAISE(inputs.metrics, ReadParquetFile(*store, *metrics));
    ARROW_ASSIGN_OR_RAISE(const std::string text, store->ReadText(*log));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) inputs.epoch_lines.push_back(line);
  }
  if (const FileRecord* predictions = manifest.FindFile(RunLayout::kPredictions)) {
    inputs.predictions = [&store, predictions](const ReportInputs::TableVisitor& visit) {
      return VisitParquetFile(*store, *predictions,
                              {"label", "predicted", "split", "present"}, visit);
    };
  }
  if (const FileRecord* work = manifest.FindFile(RunLayout::kWork)) {
    ARROW_ASSIGN_OR_RAISE(inputs.work, ReadParquetFile(*store, *work));
  }
  ARROW_ASSIGN_OR_RAISE(const std::string page, HtmlReport(inputs));
  ARROW_ASSIGN_OR_RAISE(const auto size, store->Size(RunLayout::kReport));
  if (size) {
    ARROW_ASSIGN_OR_RAISE(const std::string there, store->ReadText(RunLayout::kReport));
    if (!IsOwnPage(there)) {
      context.progress->Note("'" + store->Show(RunLayout::kReport) +
                             "' is not a report of this program and is kept; move it to "
                             "another folder and call `coden report`");
      return arrow::Status::OK();
    }
  }
  ARROW_RETURN_NOT_OK(store->WriteText(RunLayout::kReport, page));
  context.progress->Note("report: " + store->Show(RunLayout::kReport));
  return arrow::Status::OK();
}

}  // namespace coden
