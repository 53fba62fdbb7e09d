// run, schedule, embed, commit and train: the commands that bring a run directory up to
// date.

#include <chrono>
#include <cstdlib>
#include <memory>

#include "cli/command_internal.h"
#include "cli/results_internal.h"
#include "cli/train_module_internal.h"
#include "coden/base/error.h"
#include "coden/pipeline/pipeline.h"
#include "coden/pipeline/run_report.h"

namespace coden {

namespace {

TrainStage TrainingOfThisBuild() {
  if (!HasTrainModule()) return nullptr;
  return [](const Settings& settings, RunStore& store, const TrainMemory& memory,
            const RunContext& context) -> arrow::Result<TrainSummary> {
    ARROW_ASSIGN_OR_RAISE(const TrainModule* module, LoadTrainModule());
    return module->train(settings, store, memory, context);
  };
}

// The processes that a launcher such as torchrun has started to train together; null
// where there is none but this.
arrow::Result<std::unique_ptr<RankGroup>> RanksOfEnvironment(Goal goal,
                                                             const RunContext& context) {
  // The other commands are for one process, whoever starts it.
  if (goal != Goal::kTrain && goal != Goal::kAll) return nullptr;
  if (!HasTrainModule()) return nullptr;
  ARROW_ASSIGN_OR_RAISE(const auto environment, ReadRankEnvironment(std::getenv));
  if (!environment) return nullptr;
  if (goal == Goal::kAll) {
    return UsageError(
        "only `coden train` works with several processes, and WORLD_SIZE asks for them; "
        "run `coden embed` without torchrun first, then `coden train` with it: "
        "WORLD_SIZE ",
        environment->size);
  }
  ARROW_ASSIGN_OR_RAISE(const TrainModule* module, LoadTrainModule());
  return module->join_ranks(*environment, context.stop, std::chrono::minutes(2));
}

arrow::Status BringUpToDate(const CommandLine& line, Goal goal,
                            const RunContext& own_context, std::string* output) {
  ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
  const bool trains = goal == Goal::kTrain || goal == Goal::kAll;
  const OutputForm form{settings.report.format, line.table};
  if (goal != Goal::kSchedule) ARROW_RETURN_NOT_OK(CheckRunForm(form, trains));
  if (line.resume && line.force) {
    return UsageError(
        "--resume goes on with a training that --force would throw away: give one of "
        "them");
  }
  ARROW_ASSIGN_OR_RAISE(const auto ranks, RanksOfEnvironment(goal, own_context));
  RunContext context = own_context;
  SilentProgress silent;
  if (ranks != nullptr) {
    context.stop = ranks->stop();
    if (ranks->rank() > 0) context.progress = &silent;
  }
  RunRequest request;
  request.ranks = ranks.get();
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
  if (goal == Goal::kSchedule) return arrow::Status::OK();
  if (ranks != nullptr) {
    ARROW_RETURN_NOT_OK(ranks->Leave());
    if (ranks->rank() > 0) return arrow::Status::OK();
  }
  ARROW_RETURN_NOT_OK(WriteRunReport(settings, manifest, context));
  return (trains ? RunResults(settings, manifest, form)
                 : RenderRun(std::nullopt, manifest, form))
      .Value(output);
}

}  // namespace

arrow::Status RunCommand(const CommandLine& line, const RunContext& context,
                         std::string* output) {
  return BringUpToDate(line, Goal::kAll, context, output);
}

arrow::Status ScheduleCommand(const CommandLine& line, const RunContext& context,
                              std::string* output) {
  return BringUpToDate(line, Goal::kSchedule, context, output);
}

arrow::Status CommitCommand(const CommandLine& line, const RunContext& context,
                            std::string* output) {
  return BringUpToDate(line, Goal::kCommit, context, output);
}

arrow::Status EmbedCommand(const CommandLine& line, const RunContext& context,
                           std::string* output) {
  if (!line.force) {
    ARROW_ASSIGN_OR_RAISE(const Settings settings, SettingsFrom(line));
    ARROW_ASSIGN_OR_RAISE(const bool slice, AsksForSlice(settings));
    if (slice) return RunSlice(settings, context);
  }
  return BringUpToDate(line, Goal::kEmbed, context, output);
}

arrow::Status TrainCommand(const CommandLine& line, const RunContext& context,
                           std::string* output) {
  return BringUpToDate(line, Goal::kTrain, context, output);
}

}  // namespace coden
