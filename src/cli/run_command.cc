// run, embed, train and report: the commands that bring a run directory up to date.

#include <arrow/table.h>

#include "cli/command_internal.h"
#include "coden/pipeline/error.h"
#include "coden/pipeline/pipeline.h"
#include "coden/pipeline/run_report.h"
#include "coden/report/micro_f1_table.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

TrainStage TrainingOfThisBuild() {
#ifdef CODEN_WITH_TRAIN
  return Train;
#else
  return nullptr;
#endif
}

// What a run without labels ends with: its parts in place of scores.
ResultsTable PartsTable(const Manifest& manifest) {
  ResultsTable table;
  table.title = "Stages";
  table.columns = {{"stage", "stage"},
                   {"taken", "takes"},
                   {"given", "gives"},
                   {"seconds", "seconds", ColumnType::kReal, /*digits=*/2}};
  for (const PartRecord& part : manifest.parts) {
    if (part.name != kEmbedPart && !part.complete) continue;  // of before rows were added
    for (const StageFigure& figure : part.figures) {
      table.rows.push_back({figure.name, figure.taken, figure.given, figure.seconds});
    }
  }
  return table;
}

arrow::Result<std::string> Results(const Settings& settings, const Manifest& manifest,
                                   Goal goal) {
  const FileRecord* file = manifest.FindFile(RunLayout::kMetrics);
  if (file == nullptr || goal == Goal::kEmbed)
    return Render(PartsTable(manifest), settings.report.format);
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto metrics, ReadParquetFile(*store, *file));
  ARROW_ASSIGN_OR_RAISE(const ResultsTable table, MicroF1Table(*metrics));
  return Render(table, settings.report.format);
}

arrow::Status BringUpToDate(const CommandLine& line, Goal goal, const RunContext& context,
                            std::string* output) {
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  if (line.resume && (line.force || goal == Goal::kEmbed)) {
    return UsageError(line.force ? "--resume goes on with a training that --force would "
                                   "throw away: give one of them"
                                 : "--resume is for `run` and `train`");
  }
  RunRequest request;
  request.goal = goal;
  request.force = line.force;
  request.resume = line.resume;
  request.train = TrainingOfThisBuild();
  auto up_to_date = RunPipeline(settings, request, context);
  if (FaultOf(up_to_date.status()) == Fault::kCorruption &&
      up_to_date.status().message().find("--force") == std::string::npos) {
    return up_to_date.status().WithMessage(up_to_date.status().message(),
                                           " (`coden run --force` rebuilds the run)");
  }
  ARROW_ASSIGN_OR_RAISE(const Manifest manifest, std::move(up_to_date));
  ARROW_RETURN_NOT_OK(WriteRunReport(settings, manifest, context));
  ARROW_ASSIGN_OR_RAISE(*output, Results(settings, manifest, goal));
  return arrow::Status::OK();
}

}  // namespace

arrow::Status RunCommand(const CommandLine& line, const RunContext& context,
                         std::string* output) {
  return BringUpToDate(line, Goal::kAll, context, output);
}

arrow::Status EmbedCommand(const CommandLine& line, const RunContext& context,
                           std::string* output) {
  return BringUpToDate(line, Goal::kEmbed, context, output);
}

arrow::Status TrainCommand(const CommandLine& line, const RunContext& context,
                           std::string* output) {
  return BringUpToDate(line, Goal::kTrain, context, output);
}

arrow::Status ReportCommand(const CommandLine& line, const RunContext& context,
                            std::string* output) {
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  if (settings.run.directory.empty()) {
    return UsageError("say which run: set `run.directory` or give its pipeline file");
  }
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto manifest, LoadManifest(*store));
  if (!manifest) {
    return UsageError("there is no run to report on in '", settings.run.directory, "'");
  }
  ARROW_RETURN_NOT_OK(WriteRunReport(settings, *manifest, context));
  ARROW_ASSIGN_OR_RAISE(*output, Results(settings, *manifest, Goal::kAll));
  return arrow::Status::OK();
}

}  // namespace coden
