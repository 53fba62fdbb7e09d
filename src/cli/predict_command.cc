#include "cli/command_internal.h"
#include "cli/results_internal.h"
#include "cli/train_module_internal.h"
#include "coden/base/error.h"
#include "coden/pipeline/predict_pipeline.h"
#include "coden/pipeline/run_report.h"

namespace coden {

namespace {

PredictStage PredictingOfThisBuild() {
  if (!HasTrainModule()) return nullptr;
  return [](const Settings& settings, RunStore& store, const PredictTask& task,
            const RunContext& context) -> arrow::Result<PredictSummary> {
    ARROW_ASSIGN_OR_RAISE(const TrainModule* module, LoadTrainModule());
    return module->predict(settings, store, task, context);
  };
}

ResultsTable TimesTable(const std::vector<PredictedTime>& times) {
  ResultsTable table;
  table.title = "Predictions";
  table.columns = {
      {"prediction", "k", ColumnType::kInteger},
      {"time", "time", ColumnType::kInteger},
      {"nodes", "nodes", ColumnType::kInteger},
      {"new_rows", "new rows", ColumnType::kInteger},
      {"snapshots", "snapshots", ColumnType::kInteger},
      {"embed_seconds", "embed s", ColumnType::kReal, /*digits=*/3},
      {"state_seconds", "states s", ColumnType::kReal, /*digits=*/3},
      {"score_seconds", "score s", ColumnType::kReal, /*digits=*/3},
      {"latency_seconds", "latency s", ColumnType::kReal, /*digits=*/3},
  };
  table.rows.reserve(times.size());
  for (const PredictedTime& time : times) {
    table.rows.push_back({std::int64_t{time.prediction}, time.time, time.num_nodes,
                          time.num_rows, time.num_snapshots, time.embed_seconds,
                          time.state_seconds, time.score_seconds,
                          time.latency_seconds()});
  }
  return table;
}

}  // namespace

arrow::Status PredictCommand(const CommandLine& line, const RunContext& context,
                             std::string* output) {
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  const OutputForm form{settings.report.format, line.table};
  ARROW_RETURN_NOT_OK(CheckRunForm(form, /*has_results=*/true));
  ARROW_ASSIGN_OR_RAISE(
      const PredictOutcome outcome,
      PredictPipeline(settings, {line.force, PredictingOfThisBuild()}, context));
  ARROW_RETURN_NOT_OK(WriteRunReport(settings, outcome.manifest, context));
  return RenderRun(TimesTable(outcome.times), outcome.manifest, form).Value(output);
}

}  // namespace coden
