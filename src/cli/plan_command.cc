#include "cli/command_internal.h"
#include "coden/pipeline/pipeline.h"
#include "coden/report/printable.h"

namespace coden {

namespace {

// One row per prediction time: what the embedding will have to do for it.
ResultsTable PredictionsTable(const Schedule& schedule) {
  ResultsTable table;
  table.title = "Prediction times";
  table.columns = {{"prediction", "prediction", ColumnType::kInteger},
                   {"time", "time", ColumnType::kInteger},
                   {"rows", "rows", ColumnType::kInteger},
                   {"snapshots", "snapshots", ColumnType::kInteger},
                   {"num_nodes", "nodes", ColumnType::kInteger},
                   {"num_edges", "edges", ColumnType::kInteger}};
  std::int64_t snapshots = 0;
  std::int64_t rows_before = 0;
  for (const SchedulePoint& point : schedule) {
    ++snapshots;
    const bool closes = point.at_prediction || point.prediction == 0;
    if (!closes) continue;
    table.rows.push_back({std::int64_t{point.prediction}, std::int64_t{point.time},
                          point.events - rows_before, snapshots, point.num_nodes,
                          point.num_edges});
    rows_before = point.events;
    snapshots = 0;
  }
  return table;
}

ResultsTable NeedsTable(const PipelinePlan& plan, const SnapshotOptions& snapshot) {
  const auto megabytes = [](std::int64_t bytes) {
    return FormatCount((bytes + 999'999) / 1'000'000) + " MB";
  };
  // How many rows will have moved is not known before they are embedded.
  const bool at_most = !plan.disk || snapshot.mode == SnapshotMode::kDelta;
  const std::int64_t disk_bytes = plan.disk
                                      ? plan.disk->snapshot_bytes + plan.disk->state_bytes
                                      : plan.resources.disk_bytes;
  ResultsTable table;
  table.title = "Needs";
  table.columns = {{"what", "what"}, {"value", "value"}};
  table.rows = {
      {"rows of the log", FormatCount(plan.num_rows)},
      {"nodes", FormatCount(plan.num_nodes)},
      {"feature columns", FormatCount(plan.num_columns)},
      {"snapshots",
       FormatCount(static_cast<std::int64_t>(plan.scheduled.schedule.size()))},
      {"passes of the embedding", FormatCount(plan.resources.num_passes)},
      {"columns per pass", FormatCount(plan.resources.columns_per_pass)},
      {"memory", megabytes(plan.resources.memory_bytes)},
      {at_most ? "disk, up to about" : "disk, about",
       disk_bytes < 100'000'000
           ? FormatFixed(static_cast<double>(disk_bytes) / 1e6, 1) + " MB"
           : megabytes(disk_bytes)},
      {"temporary disk", megabytes(plan.resources.temporary_bytes)},
  };
  return table;
}

}  // namespace

arrow::Status PlanCommand(const CommandLine& line, const RunContext& context,
                          std::string* output) {
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  ARROW_ASSIGN_OR_RAISE(const PipelinePlan plan, PlanPipeline(settings, context));
  for (const std::string& note : plan.scheduled.notes) context.progress->Note(note);
  const arrow::Status fits = CheckResources(settings, plan.resources);
  if (!fits.ok()) context.progress->Note("the run would stop: " + fits.message());
  const ResultsTable tables[] = {PredictionsTable(plan.scheduled.schedule),
                                 NeedsTable(plan, settings.snapshot)};
  *output = RenderAll(tables, settings.report.format);
  return arrow::Status::OK();
}

}  // namespace coden
