#include "coden/pipeline/pipeline.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include <arrow/util/thread_pool.h>

#include "coden/pipeline/error.h"
#include "coden/pipeline/fingerprint.h"
#include "coden/store/run_lock.h"
#include "coden/read/input_agreement.h"
#include "coden/read/labels.h"
#include "coden/report/printable.h"

namespace coden {

namespace {

constexpr std::string_view kEmbedPart = "embed";
constexpr std::string_view kTrainPart = "train";

std::string StagePath(const RunLayout& layout, std::string_view name) {
  return layout.Path(std::string(RunLayout::kStage) + "/" + std::string(name));
}

// Name the settings whose values differ between two lists of `key = value` lines.
std::string DifferingSettings(std::string_view ours, std::string_view theirs) {
  std::string keys;
  while (!ours.empty()) {
    const std::string line(ours.substr(0, ours.find('\n')));
    ours.remove_prefix(std::min(ours.size(), line.size() + 1));
    if (("\n" + std::string(theirs)).find("\n" + line + "\n") == std::string::npos) {
      keys += (keys.empty() ? "" : ", ") + line.substr(0, line.find(' '));
    }
  }
  return keys.empty() ? "the input files" : keys;
}

// Make the run directory ready for writing; refuse one that holds something else.
arrow::Status PrepareDirectory(const RunLayout& layout) {
  if (layout.directory.empty()) {
    return UsageError("there is nowhere to write: set `run.directory`");
  }
  if (layout.directory.find("://") != std::string::npos) {
    return UsageError("`run.directory` must be a local folder: '", layout.directory, "'");
  }
  std::error_code error;
  const std::filesystem::path path(layout.directory);
  if (std::filesystem::exists(path, error) &&
      !std::filesystem::is_directory(path, error)) {
    return UsageError("`run.directory` is not a folder: '", layout.directory, "'");
  }
  if (!std::filesystem::exists(layout.Path(RunLayout::kCommits), error) &&
      std::filesystem::exists(path, error) && !std::filesystem::is_empty(path, error)) {
    return UsageError(
        "`run.directory` holds files that are not a run's; choose an empty or new "
        "folder: '",
        layout.directory, "'");
  }
  std::filesystem::create_directories(layout.Path(RunLayout::kStage), error);
  if (error) {
    return arrow::Status::IOError("cannot create '", layout.Path(RunLayout::kStage),
                                  "': ", error.message());
  }
  return arrow::Status::OK();
}

// Remove the files that a killed run was about to write: with the lock taken they are
// nobody's, and they take disk that the plan counts on.
void ClearStage(const RunLayout& layout) {
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(layout.Path(RunLayout::kStage), ignored)) {
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

// The manifest of the run, an empty one for a new run. With `force` a damaged one is
// given up together with the numbering it belongs to.
arrow::Result<Manifest> LoadOrGiveUp(const RunLayout& layout, bool force) {
  auto loaded = LoadManifest(layout);
  if (loaded.ok()) return (*std::move(loaded)).value_or(Manifest{});
  if (!force) return loaded.status();
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(layout.Path(RunLayout::kCommits), ignored)) {
    if (entry.path().extension() == ".json")
      std::filesystem::remove(entry.path(), ignored);
  }
  return Manifest{};
}

// Remove what an earlier or interrupted run left. Only names that a run makes are
// touched.
void RemoveOutputs(const RunLayout& layout) {
  std::error_code ignored;
  for (const std::string_view name :
       {RunLayout::kSuccess, RunLayout::kSchedule, RunLayout::kPredictions,
        RunLayout::kMetrics, RunLayout::kMetricsLog, RunLayout::kReport,
        RunLayout::kNodes}) {
    std::filesystem::remove(layout.Path(name), ignored);
  }
  for (const std::string_view folder :
       {RunLayout::kSnapshots, RunLayout::kModel, RunLayout::kStage}) {
    std::filesystem::remove_all(layout.Path(folder), ignored);
  }
}

// Say that `parts` no longer belong to the run, before their files are touched: a run
// that is killed while it rebuilds them must not be taken for the one before.
arrow::Status Withdraw(const RunLayout& layout,
                       std::initializer_list<std::string_view> parts,
                       Manifest* manifest) {
  std::error_code ignored;
  std::filesystem::remove(layout.Path(RunLayout::kSuccess), ignored);
  const std::size_t removed = std::erase_if(manifest->parts, [&](const PartRecord& part) {
    return std::find(parts.begin(), parts.end(), part.name) != parts.end();
  });
  return removed == 0 ? arrow::Status::OK() : PublishManifest(layout, manifest);
}

// How many nodes have labels; 0 where the run has none.
arrow::Result<std::int64_t> CountLabelled(const Settings& settings) {
  if (settings.input.labels.empty()) return 0;
  ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(settings.input));
  return labels.nodes->size();
}

// Whatever can refuse the run comes before the files of an earlier one are touched.
arrow::Result<PartRecord> RunEmbedPart(const Settings& settings,
                                       const Fingerprints& prints, Manifest* manifest,
                                       const RunContext& context) {
  const RunLayout layout{settings.run.directory};
  ARROW_ASSIGN_OR_RAISE(auto inputs, RunInputs::Open(settings));
  ARROW_ASSIGN_OR_RAISE(const auto scheduled, RunSchedulePass(settings, inputs, context));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t num_labelled, CountLabelled(settings));
  const ResourceEstimate needs =
      EstimateResources(settings, inputs, scheduled.schedule, num_labelled);
  ARROW_RETURN_NOT_OK(CheckResources(settings, needs));
  ARROW_RETURN_NOT_OK(Withdraw(layout, {kEmbedPart, kTrainPart}, manifest));
  RemoveOutputs(layout);

  PartRecord part;
  part.name = kEmbedPart;
  part.fingerprint = prints.embed;
  part.parameters = EmbedParameters(settings);
  part.notes = scheduled.notes;
  for (const std::string& note : part.notes) context.progress->Note(note);

  const auto write = [&](std::string_view name, std::string_view stage,
                         const arrow::RecordBatch& batch) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(
        FileRecord record,
        WriteParquetFile(layout.Path(name), StagePath(layout, stage), batch));
    record.path = name;
    part.files.push_back(std::move(record));
    return arrow::Status::OK();
  };
  ARROW_ASSIGN_OR_RAISE(const auto nodes,
                        NodesBatch(*inputs.nodes, scheduled.first_event));
  ARROW_RETURN_NOT_OK(write(RunLayout::kNodes, "nodes.parquet", *nodes));

  const SnapshotProvenance provenance{prints.embed, part.parameters, prints.input};
  ARROW_ASSIGN_OR_RAISE(
      auto embedded, RunEmbedPasses(settings, inputs, scheduled, needs.columns_per_pass,
                                    provenance, context));
  Schedule proven = scheduled.schedule;
  for (SchedulePoint& point : proven)
    point.error_bound = embedded.error_bounds[point.snapshot];
  const double worst =
      embedded.error_bounds.empty()
          ? 0.0
          : *std::max_element(embedded.error_bounds.begin(), embedded.error_bounds.end());
  if (worst > settings.embed.epsilon) {
    part.notes.push_back("the files round to float32, so their error is up to " +
                         FormatScientific(worst, 1) + " per node, above `embed.epsilon`");
    context.progress->Note(part.notes.back());
  }
  ARROW_ASSIGN_OR_RAISE(const auto schedule, ScheduleToBatch(proven));
  ARROW_RETURN_NOT_OK(write(RunLayout::kSchedule, "schedule.parquet", *schedule));
  part.figures = scheduled.figures;
  part.figures.insert(part.figures.end(), embedded.figures.begin(),
                      embedded.figures.end());
  part.files.insert(part.files.end(), embedded.files.begin(), embedded.files.end());
  return part;
}

arrow::Result<PartRecord> RunTrainPart(const Settings& settings,
                                       const Fingerprints& prints,
                                       const TrainStage& train,
                                       const RunContext& context) {
  if (!train) {
    return UsageError(
        "this program was built without training; build with -Dtrain=enabled");
  }
  const auto start = std::chrono::steady_clock::now();
  ARROW_ASSIGN_OR_RAISE(const TrainSummary summary, train(settings, context));
  PartRecord part;
  part.name = kTrainPart;
  part.fingerprint = prints.train;
  constexpr std::string_view kTrainSection[] = {"train"};
  part.parameters = ToIni(settings, kTrainSection);
  char score[64];
  std::snprintf(score, sizeof(score), "average Micro-F1 %.2f %%",
                100.0 * summary.micro_f1_average);
  part.figures = {
      {"train", FormatCount(summary.num_labelled) + " labelled nodes", score,
       std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()}};
  if (summary.num_unknown > 0) {
    part.notes.push_back(FormatCount(summary.num_unknown) +
                         " labelled nodes are in no snapshot: left out");
  }
  const RunLayout layout{settings.run.directory};
  for (const std::string_view name :
       {RunLayout::kPredictions, RunLayout::kMetrics, RunLayout::kMetricsLog,
        RunLayout::kModelWeights, RunLayout::kModelConfig}) {
    ARROW_ASSIGN_OR_RAISE(auto record, DescribeFile(layout, name));
    part.files.push_back(std::move(record));
  }
  return part;
}

arrow::Status AnotherRun(const PartRecord& existing, const Settings& settings) {
  return UsageError("'", settings.run.directory,
                    "' holds a run with other settings or inputs; choose another "
                    "`run.directory`, or rebuild it with --force: ",
                    DifferingSettings(EmbedParameters(settings), existing.parameters));
}

}  // namespace

arrow::Result<Manifest> RunPipeline(const Settings& settings, const RunRequest& request,
                                    const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(settings));
  const tbb::global_control tbb_threads(tbb::global_control::max_allowed_parallelism,
                                        static_cast<std::size_t>(NumThreads(settings)));
  ARROW_RETURN_NOT_OK(arrow::SetCpuThreadPoolCapacity(NumThreads(settings)));

  const RunLayout layout{settings.run.directory};
  ARROW_RETURN_NOT_OK(PrepareDirectory(layout));
  ARROW_ASSIGN_OR_RAISE(const auto lock, RunLock::Take(layout));
  ClearStage(layout);
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, LoadOrGiveUp(layout, request.force));
  ARROW_RETURN_NOT_OK(CheckInputsAgree(settings.input, settings.graph.events));
  ARROW_ASSIGN_OR_RAISE(const Fingerprints prints, ComputeFingerprints(settings));

  const bool wants_training =
      request.goal == Goal::kTrain ||
      (request.goal == Goal::kAll && !settings.input.labels.empty());
  // Bad labels are found before the long work, not after it.
  if (wants_training) {
    ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(settings.input));
    if (!labels.timed && !labels.other_columns.empty()) {
      std::string others;
      for (const std::string& name : labels.other_columns) others += " " + name;
      context.progress->Note(
          "the labels have no time column `" + settings.input.time +
          "`, so they hold at all times; set `input.label_time` if one of "
          "these is it:" +
          others);
    }
  }

  if (request.goal == Goal::kAll && settings.input.labels.empty()) {
    context.progress->Note("there are no labels (`input.labels`): training is left out");
  }
  const int number_before = manifest.number;
  const PartRecord* embedded = manifest.Find(kEmbedPart);
  if (request.goal == Goal::kTrain) {
    if (embedded == nullptr) {
      return UsageError("there are no snapshots to train on in '", settings.run.directory,
                        "': run `coden run` or `coden embed` first");
    }
    if (embedded->fingerprint != prints.embed) {
      return UsageError(
          "the snapshots in '", settings.run.directory,
          "' were made from other settings or inputs, and `train` does not make new "
          "ones; "
          "use `coden run --force`: ",
          DifferingSettings(EmbedParameters(settings), embedded->parameters));
    }
    ARROW_RETURN_NOT_OK(CheckFiles(layout, *embedded));
  } else if (embedded != nullptr && embedded->fingerprint == prints.embed &&
             !request.force) {
    ARROW_RETURN_NOT_OK(CheckFiles(layout, *embedded));
    context.progress->Note("embedding: settings and inputs are unchanged, skipped");
  } else if (embedded != nullptr && !request.force) {
    return AnotherRun(*embedded, settings);
  } else {
    ARROW_ASSIGN_OR_RAISE(auto part, RunEmbedPart(settings, prints, &manifest, context));
    manifest.Replace(std::move(part));
    ARROW_RETURN_NOT_OK(PublishManifest(layout, &manifest));
  }

  if (wants_training) {
    const PartRecord* trained = manifest.Find(kTrainPart);
    if (trained != nullptr && trained->fingerprint == prints.train && !request.force) {
      ARROW_RETURN_NOT_OK(CheckFiles(layout, *trained));
      context.progress->Note("training: settings and inputs are unchanged, skipped");
    } else {
      ARROW_RETURN_NOT_OK(Withdraw(layout, {kTrainPart}, &manifest));
      ARROW_ASSIGN_OR_RAISE(auto part,
                            RunTrainPart(settings, prints, request.train, context));
      manifest.Replace(std::move(part));
      ARROW_RETURN_NOT_OK(PublishManifest(layout, &manifest));
    }
  }
  if (manifest.number != number_before) {
    ARROW_RETURN_NOT_OK(
        WriteTextFile(layout, RunLayout::kSettings, MaskCredentials(ToIni(settings))));
  }
  ARROW_RETURN_NOT_OK(WriteTextFile(layout, RunLayout::kSuccess, {}));
  return manifest;
}

arrow::Result<PipelinePlan> PlanPipeline(const Settings& settings,
                                         const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(settings));
  ARROW_RETURN_NOT_OK(CheckInputsAgree(settings.input, settings.graph.events));
  ARROW_ASSIGN_OR_RAISE(auto inputs, RunInputs::Open(settings));
  PipelinePlan plan;
  ARROW_ASSIGN_OR_RAISE(plan.scheduled, RunSchedulePass(settings, inputs, context));
  ARROW_ASSIGN_OR_RAISE(const std::int64_t num_labelled, CountLabelled(settings));
  plan.resources =
      EstimateResources(settings, inputs, plan.scheduled.schedule, num_labelled);
  plan.num_rows = inputs.log.num_rows;
  plan.num_nodes = inputs.nodes->size();
  plan.num_columns = inputs.columns.size();
  return plan;
}

}  // namespace coden
