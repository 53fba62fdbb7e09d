#include <arrow/table.h>

#include "coden/base/error.h"
#include "coden/report/micro_f1_table.h"
#include "coden/sample/schedule.h"
#include "coden/store/commit.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "report/inspect_internal.h"
#include "report/micro_f1_internal.h"

namespace coden {

namespace {

arrow::Status AddSchedule(const RunStore& store, const FileRecord& file,
                          FactsTable* facts) {
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, file));
  const auto schedule = ScheduleFromTable(*table);
  if (!schedule.ok()) {
    return WithFault(schedule.status(), Fault::kCorruption,
                     "cannot read '" + store.Show(file.path) + "': ");
  }
  std::int64_t predictions = 0;
  for (const SchedulePoint& point : *schedule) predictions += point.at_prediction;
  facts->Add("prediction_times", "prediction times", predictions);
  facts->Add("snapshots", "snapshots", static_cast<std::int64_t>(schedule->size()));
  if (schedule->empty()) return arrow::Status::OK();
  facts->Add("first_snapshot_time", "first snapshot at", schedule->front().time);
  facts->Add("last_snapshot_time", "last snapshot at", schedule->back().time);
  facts->Add("events", "events", schedule->back().events);
  facts->Add("nodes", "nodes", schedule->back().num_nodes);
  facts->Add("edges", "edges", schedule->back().num_edges);
  return arrow::Status::OK();
}

ResultsTable PartsTable(const Manifest& manifest) {
  ResultsTable table;
  table.key = "parts";
  table.title = "Parts";
  table.columns = {{"part", "part"},
                   {"files", "files", ColumnType::kInteger},
                   {"bytes", "bytes", ColumnType::kInteger},
                   {"fingerprint", "fingerprint"}};
  for (const PartRecord& part : manifest.parts) {
    std::int64_t bytes = 0;
    for (const FileRecord& file : part.files) bytes += file.size;
    table.rows.push_back({part.name, static_cast<std::int64_t>(part.files.size()), bytes,
                          part.fingerprint});
  }
  return table;
}

// Earlier trainings with what is left of them: `coden verify` finds what is missing.
arrow::Result<ResultsTable> TrainingsTable(const RunStore& store,
                                           const Manifest& manifest) {
  ResultsTable table;
  table.title = "Earlier trainings";
  table.columns = {{"training", "training"},
                   {"files", "files", ColumnType::kInteger},
                   {"bytes", "bytes", ColumnType::kInteger},
                   {"micro_f1", "Micro-F1 %", ColumnType::kPercent},
                   {"forecast_rows", "forecast rows", ColumnType::kInteger}};
  for (const PartRecord& training : manifest.trainings) {
    std::int64_t bytes = 0;
    for (const FileRecord& file : training.files) bytes += file.size;
    const auto find = [&](std::string_view name) {
      return training.FindFile(RunLayout::OfTraining(training.name, name));
    };
    Cell score;
    if (const FileRecord* file = find(RunLayout::kMetrics)) {
      ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(file->path));
      if (size) {
        ARROW_ASSIGN_OR_RAISE(const auto metrics, ReadParquetFile(store, *file));
        ARROW_ASSIGN_OR_RAISE(const auto summary, SummarizeMicroF1(*metrics));
        score = summary.average.micro_f1;
      }
    }
    Cell forecast;
    if (const FileRecord* file = find(RunLayout::kForecast)) forecast = file->rows;
    table.rows.push_back({training.name, static_cast<std::int64_t>(training.files.size()),
                          bytes, score, forecast});
  }
  return table;
}

ResultsTable NotesTable(const Manifest& manifest) {
  ResultsTable table;
  table.key = "notes";
  table.title = "Notes";
  table.columns = {{"part", "part"}, {"note", "note"}};
  for (const PartRecord& part : manifest.parts) {
    for (const std::string& note : part.notes) table.rows.push_back({part.name, note});
  }
  return table;
}

}  // namespace

arrow::Result<Tables> InspectRun(const std::string& directory) {
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(directory));
  ARROW_ASSIGN_OR_RAISE(const Manifest manifest, LoadRun(*store));
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::string settings;
  bool complete = true;
  bool trained_before = false;
  for (const PartRecord& part : manifest.parts) {
    ARROW_RETURN_NOT_OK(CheckFiles(*store, part));
    for (const FileRecord& file : part.files) {
      ++files;
      bytes += file.size;
    }
    // A model and its predictions may predate the latest rows; nothing is missing.
    const bool follows = part.name == kTrainPart || part.name == kPredictPart;
    complete = complete && (part.complete || follows);
    trained_before = trained_before || (part.name == kTrainPart && !part.complete);
    settings += part.parameters;
  }

  FactsTable facts("run", "Run");
  facts.Add("directory", "directory", store->Show());
  facts.Add("commits", "commits", static_cast<std::int64_t>(manifest.number));
  facts.Add("complete", complete ? "complete" : "complete (run it again to finish it)",
            complete);
  facts.Add("model_is_older", "the model predates the latest rows", trained_before);
  facts.Add("files", "files", files);
  facts.Add("bytes", "bytes", bytes);
  if (const FileRecord* schedule = manifest.FindFile(RunLayout::kSchedule)) {
    ARROW_RETURN_NOT_OK(AddSchedule(*store, *schedule, &facts));
  }
  if (const FileRecord* file = manifest.FindFile(RunLayout::kMetrics)) {
    ARROW_ASSIGN_OR_RAISE(const auto metrics, ReadParquetFile(*store, *file));
    ARROW_ASSIGN_OR_RAISE(const auto summary, SummarizeMicroF1(*metrics));
    facts.Add("micro_f1", "Micro-F1 average %", summary.average.micro_f1,
              ColumnType::kPercent);
  }
  Tables tables = {facts.Take(), PartsTable(manifest)};
  if (!manifest.trainings.empty()) {
    ARROW_ASSIGN_OR_RAISE(tables.emplace_back(), TrainingsTable(*store, manifest));
  }
  if (ResultsTable notes = NotesTable(manifest); !notes.rows.empty()) {
    tables.push_back(std::move(notes));
  }
  if (ResultsTable table = SettingsTable(settings); !table.rows.empty()) {
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace coden
