#include "coden/pipeline/pipeline.h"

#include <algorithm>

#include "coden/base/error.h"
#include "coden/read/input_agreement.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/state/fingerprint.h"
#include "coden/state/saved_slice.h"
#include "coden/store/commit.h"
#include "coden/store/run_layout.h"
#include "coden/store/run_lock.h"
#include "pipeline/embed_part_internal.h"
#include "pipeline/kept_trainings_internal.h"
#include "pipeline/label_checks_internal.h"
#include "pipeline/run_setup_internal.h"
#include "pipeline/saved_settings_internal.h"
#include "pipeline/scheduled_run_internal.h"
#include "pipeline/train_part_internal.h"
#include "pipeline/train_ranks_internal.h"
#include "store/machine_memory_internal.h"
#include "store/run_store_internal.h"

namespace coden {

namespace {

// Make the run directory ready for writing; refuse one that holds something else.
arrow::Result<std::shared_ptr<RunStore>> OpenForWriting(const std::string& directory,
                                                        Goal goal) {
  if (directory.empty()) {
    return UsageError("there is nowhere to write: set `run.directory`");
  }
  ARROW_ASSIGN_OR_RAISE(auto store, RunStore::Open(directory));
  ARROW_ASSIGN_OR_RAISE(const auto names, store->List({}));
  const bool is_run = std::any_of(names.begin(), names.end(), [](const auto& name) {
    return name.starts_with(std::string(RunLayout::kCommits) + "/");
  });
  // These go on with a run: a folder that holds none is left as it is.
  if (goal == Goal::kTrain && !is_run)
    return NotInRun(*store, "embedding", "`coden run` or `coden embed`");
  if (goal == Goal::kCommit && !is_run)
    return NotInRun(*store, "schedule", "`coden schedule`");
  if (!names.empty() && !is_run) {
    return UsageError(
        "`run.directory` holds files that are not a run's; choose an empty or new "
        "folder: '",
        store->Show(), "'");
  }
  ARROW_RETURN_NOT_OK(store->Prepare());
  return store;
}

// The manifest of the run, with what was interrupted brought to an end; an empty one for
// a new run. A manifest that cannot be read is given up where all is made anew, but then
// no file is removed yet: the run may still be refused.
arrow::Result<Manifest> LoadAndRecover(RunStore& store, const RunRequest& request) {
  auto loaded = LoadManifest(store);
  if (loaded.ok() && loaded->has_value()) {
    Manifest manifest = (*std::move(loaded)).value_or(Manifest{});
    ARROW_RETURN_NOT_OK(Recover(store, &manifest));
    return manifest;
  }
  const bool rebuilds = request.force && request.goal != Goal::kTrain;
  Manifest none;
  if (!loaded.ok()) {
    if (!rebuilds || FaultOf(loaded.status()) != Fault::kCorruption)
      return loaded.status();
    ARROW_ASSIGN_OR_RAISE(none.number, NewestManifest(store));
  } else if (!rebuilds) {
    ARROW_ASSIGN_OR_RAISE(const auto unnamed, UnnamedOutputs(store, none));
    if (!unnamed.empty()) {
      return CorruptionError("'", store.Show(),
                             "' has files of a run, but no manifest that names them; "
                             "restore `_coden/`, or rebuild the run with --force");
    }
  }
  ARROW_RETURN_NOT_OK(ClearStage(store, none));
  return none;
}

// Whether an embedding was stopped before its first snapshot or slice: it has nothing to
// lose, and is made anew where anything about it has changed.
arrow::Result<bool> IsBarren(const RunStore& store, const PartRecord& part) {
  if (part.complete ||
      std::any_of(part.files.begin(), part.files.end(), [](const FileRecord& file) {
        return file.path.starts_with(RunLayout::kSnapshots);
      })) {
    return false;
  }
  ARROW_ASSIGN_OR_RAISE(const auto slices, LoadSlices(store, ScheduleId(part)));
  return slices.empty();
}

}  // namespace

arrow::Result<Manifest> RunPipeline(const Settings& all_settings,
                                    const RunRequest& request,
                                    const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(all_settings));
  const Settings settings = WithoutIdleLabels(all_settings, request.goal);
  ARROW_ASSIGN_OR_RAISE(const auto threads, RunThreads::Take(settings));

  if (request.ranks != nullptr && request.ranks->rank() > 0)
    return AssistTraining(settings, request, context);

  ARROW_ASSIGN_OR_RAISE(const auto store,
                        OpenForWriting(settings.run.directory, request.goal));
  ARROW_ASSIGN_OR_RAISE(const auto lock, RunLock::Take(*store));
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, LoadAndRecover(*store, request));
  ARROW_RETURN_NOT_OK(ForgetRemovedTrainings(*store, context, &manifest));
  ARROW_RETURN_NOT_OK(CheckInputsAgree(settings.input, settings.graph.events));
  const int number_before = manifest.number;
  const PartRecord* embedded = manifest.Find(kEmbedPart);
  bool barren = false;
  if (embedded != nullptr && !request.force) {
    ARROW_ASSIGN_OR_RAISE(barren, IsBarren(*store, *embedded));
  }
  const bool goes_on = embedded != nullptr && !barren && !request.force;
  ARROW_ASSIGN_OR_RAISE(const Fingerprints prints,
                        ComputeFingerprints(settings, manifest, /*known_first=*/goes_on));

  TrainPart train_part(settings, prints, *store, &manifest, context);
  std::string saved_training;
  if (!request.force) {
    ARROW_ASSIGN_OR_RAISE(saved_training, train_part.Saved());
  }
  if (request.resume && saved_training.empty()) {
    return InputError("there is no interrupted training with these settings in '",
                      store->Show(), "'; leave out --resume to start one");
  }
  const bool wants_training =
      request.goal == Goal::kTrain ||
      (request.goal == Goal::kAll && !settings.input.labels.empty());
  CheckedLabels labels;
  if (wants_training) {
    ARROW_ASSIGN_OR_RAISE(labels, CheckLabels(settings));
    for (const std::string& text : labels.warnings) context.progress->Warn(text);
    for (const std::string& text : labels.notes) context.progress->Note(text);
  }
  if (request.goal == Goal::kAll && settings.input.labels.empty()) {
    context.progress->Note("there are no labels (`input.labels`): training is left out");
  }
  // Beside the embedding, and for a moment beside the training's own copy: not where
  // somebody has said how much memory there is.
  std::optional<SnapshotCache> cache;
  if (wants_training && settings.train.inputs.embedding &&
      settings.run.memory_limit == 0 && SnapshotCache::Applies(settings.snapshot)) {
    cache.emplace(labels.nodes, MemoryLimit(settings) / 4);
  }
  if (request.force) {
    Manifest replaced = manifest;
    if (request.goal == Goal::kTrain) replaced.Drop(kEmbedPart);
    ARROW_RETURN_NOT_OK(KeepChangedFiles(*store, replaced.parts, context));
  }
  const RunSession session{settings, prints, *store, &manifest, context};
  if (request.goal == Goal::kTrain) {
    ARROW_RETURN_NOT_OK(
        CheckSnapshots(*store, settings, prints, manifest.Find(kEmbedPart)));
  } else if (request.goal == Goal::kCommit) {
    ARROW_RETURN_NOT_OK(CheckScheduled(*store, prints, embedded));
    ARROW_RETURN_NOT_OK(BringEmbeddingUpToDate(session, {.extent = EmbedExtent::kJoin}));
  } else {
    ARROW_RETURN_NOT_OK(BringEmbeddingUpToDate(
        session,
        {.extent = request.goal == Goal::kSchedule ? EmbedExtent::kSchedule
                                                   : EmbedExtent::kSnapshots,
         .rebuild = request.force || (barren && embedded->fingerprint != prints.embed),
         .cache = cache ? &*cache : nullptr,
         .then_trains = wants_training}));
  }

  if (wants_training) {
    const PartRecord* trained = manifest.Find(kTrainPart);
    if (trained != nullptr && trained->fingerprint == prints.train && !request.force) {
      ARROW_RETURN_NOT_OK(CheckFiles(*store, *trained));
      if (request.ranks != nullptr) ARROW_RETURN_NOT_OK(DismissRanks(*request.ranks));
      context.progress->Note("training: settings and inputs are unchanged, skipped");
    } else {
      if (request.force) {
        ARROW_RETURN_NOT_OK(Withdraw(*store, {kTrainingPart}, &manifest));
      } else {
        ARROW_RETURN_NOT_OK(CheckEarlierTraining(*store, manifest));
      }
      ReturnFreeMemory();  // of the embedding
      ARROW_RETURN_NOT_OK(train_part.Run(request.train, std::move(saved_training),
                                         std::move(labels.warnings),
                                         cache ? &*cache : nullptr, request.ranks));
    }
  }
  // The settings that made the files; where nothing was made, those that are there stay.
  const auto saved_settings = LoadSavedSettings(*store);
  const bool has_settings = saved_settings.ok() && saved_settings->has_value();
  if (manifest.number != number_before || !has_settings)
    ARROW_RETURN_NOT_OK(SaveSettings(*store, all_settings));
  // A schedule alone is no result.
  if (manifest.Find(kEmbedPart)->complete)
    ARROW_RETURN_NOT_OK(store->WriteText(RunLayout::kSuccess, {}));
  return manifest;
}

arrow::Result<PipelinePlan> PlanPipeline(const Settings& settings,
                                         const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(settings));
  ARROW_RETURN_NOT_OK(CheckInputsAgree(settings.input, settings.graph.events));
  ARROW_ASSIGN_OR_RAISE(auto inputs, RunInputs::Open(settings));
  PipelinePlan plan;
  CheckedLabels labels;
  if (!settings.input.labels.empty()) {
    ARROW_ASSIGN_OR_RAISE(labels, CheckLabels(settings));
  }
  // A plan says what a run needs, also where it may not have it.
  Settings unlimited = settings;
  unlimited.run.memory_limit = 0;
  ARROW_ASSIGN_OR_RAISE(const auto store, MakeMemoryRunStore());
  ARROW_ASSIGN_OR_RAISE(plan.scheduled,
                        RunSchedulePass(unlimited, inputs, context, store.get()));
  plan.scheduled.warnings.insert(plan.scheduled.warnings.end(), labels.warnings.begin(),
                                 labels.warnings.end());
  ARROW_ASSIGN_OR_RAISE(plan.resources,
                        EstimateRest(settings, inputs, plan.scheduled.schedule,
                                     /*num_done=*/0, !settings.input.labels.empty()));
  if (plan.resources.memory_bytes <= MemoryLimit(settings)) {
    ARROW_ASSIGN_OR_RAISE(
        plan.disk, EstimateDisk(settings, inputs, plan.scheduled, *store, context));
    plan.resources.disk_bytes = plan.disk->least_bytes(settings.snapshot);
  }
  plan.num_rows = inputs.log.num_rows;
  plan.num_nodes = inputs.nodes->size();
  plan.num_columns = inputs.columns.size();
  return plan;
}

}  // namespace coden
