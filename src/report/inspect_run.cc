#include <filesystem>

#include <arrow/table.h>

#include "coden/pipeline/error.h"
#include "coden/store/manifest.h"
#include "coden/report/micro_f1_table.h"
#include "coden/sample/schedule.h"
#include "report/inspect_internal.h"
#include "report/micro_f1_internal.h"

namespace coden {

namespace {

// A file of the newest manifest that is gone or has another size.
arrow::Status CheckFile(const RunLayout& layout, const FileRecord& file) {
  std::error_code error;
  const std::string path = layout.Path(file.path);
  const auto size = std::filesystem::file_size(path, error);
  if (error) {
    return CorruptionError("the run names a file that cannot be read: '", path,
                           "': ", error.message());
  }
  if (size != static_cast<std::uintmax_t>(file.size)) {
    return CorruptionError("the file is not as the run wrote it: '", path, "': ", size,
                           " bytes, ", file.size, " were written");
  }
  return arrow::Status::OK();
}

bool Names(const Manifest& manifest, std::string_view name) {
  for (const PartRecord& part : manifest.parts) {
    for (const FileRecord& file : part.files) {
      if (file.path == name) return true;
    }
  }
  return false;
}

arrow::Status AddSchedule(const RunLayout& layout, FactsTable* facts) {
  ARROW_ASSIGN_OR_RAISE(const auto table,
                        ReadParquetFile(layout.Path(RunLayout::kSchedule)));
  const auto schedule = ScheduleFromTable(*table);
  if (!schedule.ok()) {
    return WithFault(schedule.status(), Fault::kCorruption,
                     "cannot read '" + layout.Path(RunLayout::kSchedule) + "': ");
  }
  std::int64_t predictions = 0;
  for (const SchedulePoint& point : *schedule) predictions += point.at_prediction;
  facts->Add("prediction times", predictions);
  facts->Add("snapshots", static_cast<std::int64_t>(schedule->size()));
  if (schedule->empty()) return arrow::Status::OK();
  facts->Add("first snapshot at", schedule->front().time);
  facts->Add("last snapshot at", schedule->back().time);
  facts->Add("events", schedule->back().events);
  facts->Add("nodes", schedule->back().num_nodes);
  facts->Add("edges", schedule->back().num_edges);
  return arrow::Status::OK();
}

ResultsTable PartsTable(const Manifest& manifest) {
  ResultsTable table;
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

ResultsTable NotesTable(const Manifest& manifest) {
  ResultsTable table;
  table.title = "Notes";
  table.columns = {{"part", "part"}, {"note", "note"}};
  for (const PartRecord& part : manifest.parts) {
    for (const std::string& note : part.notes) table.rows.push_back({part.name, note});
  }
  return table;
}

}  // namespace

arrow::Result<Tables> InspectRun(const std::string& directory) {
  const RunLayout layout{directory};
  ARROW_ASSIGN_OR_RAISE(const auto loaded, LoadManifest(layout));
  if (!loaded) {
    return InputError("the run has committed nothing yet; start it again to finish it: '",
                      directory, "'");
  }
  const Manifest& manifest = *loaded;
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::string settings;
  for (const PartRecord& part : manifest.parts) {
    for (const FileRecord& file : part.files) {
      ARROW_RETURN_NOT_OK(CheckFile(layout, file));
      ++files;
      bytes += file.size;
    }
    settings += part.parameters + "\n";
  }

  FactsTable facts("Run");
  facts.Add("directory", directory);
  facts.Add("commits", static_cast<std::int64_t>(manifest.number));
  facts.Add("files", files);
  facts.Add("bytes", bytes);
  if (Names(manifest, RunLayout::kSchedule)) {
    ARROW_RETURN_NOT_OK(AddSchedule(layout, &facts));
  }
  if (Names(manifest, RunLayout::kMetrics)) {
    ARROW_ASSIGN_OR_RAISE(const auto metrics,
                          ReadParquetFile(layout.Path(RunLayout::kMetrics)));
    ARROW_ASSIGN_OR_RAISE(const auto summary, SummarizeMicroF1(*metrics));
    facts.Add("Micro-F1 average", summary.average.micro_f1);
  }
  Tables tables = {facts.Take(), PartsTable(manifest)};
  if (ResultsTable notes = NotesTable(manifest); !notes.rows.empty()) {
    tables.push_back(std::move(notes));
  }
  tables.push_back(SettingsTable(settings));
  return tables;
}

}  // namespace coden
