#include "coden/pipeline/pipeline.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <chrono>

#include <arrow/util/thread_pool.h>

#include "coden/pipeline/error.h"
#include "coden/pipeline/fingerprint.h"
#include "coden/read/input_agreement.h"
#include "coden/read/labels.h"
#include "coden/report/printable.h"
#include "coden/snapshot/snapshot_cache.h"
#include "coden/store/commit.h"
#include "coden/store/run_layout.h"
#include "coden/store/run_lock.h"
#include "coden/version.h"
#include "pipeline/embed_part_internal.h"
#include "pipeline/saved_settings_internal.h"
#include "pipeline/slice_work_internal.h"
#include "pipeline/train_ranks_internal.h"

namespace coden {

namespace {

// Make the run directory ready for writing; refuse one that holds something else.
arrow::Result<std::shared_ptr<RunStore>> OpenForWriting(const std::string& directory) {
  if (directory.empty()) {
    return UsageError("there is nowhere to write: set `run.directory`");
  }
  ARROW_ASSIGN_OR_RAISE(auto store, RunStore::Open(directory));
  ARROW_ASSIGN_OR_RAISE(const auto names, store->List({}));
  const bool is_run = std::any_of(names.begin(), names.end(), [](const auto& name) {
    return name.starts_with(std::string(RunLayout::kCommits) + "/");
  });
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
    ARROW_ASSIGN_OR_RAISE(const bool loose, HasLooseFiles(store, none));
    if (loose) {
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

// Train, going on from what an interrupted training has left, and commit the result.
class TrainPart {
 public:
  TrainPart(const Settings& settings, const Fingerprints& prints, RunStore& store,
            Manifest* manifest, const RunContext& context)
      : settings_(settings),
        prints_(prints),
        store_(store),
        manifest_(manifest),
        context_(context) {}

  // What was saved by a training with these settings and inputs; empty where none was.
  arrow::Result<std::string> Saved() const {
    const PartRecord* saved = manifest_->Find(kTrainingPart);
    if (saved == nullptr || saved->fingerprint != prints_.train) return std::string();
    return store_.ReadText(RunLayout::kTraining);
  }

  arrow::Status Run(const TrainStage& train, std::string saved, SnapshotCache* snapshots,
                    RankGroup* ranks) {
    if (!train) {
      return UsageError(
          "this program was built without training; build with -Dtrain=enabled");
    }
    if (ranks != nullptr) {
      ARROW_RETURN_NOT_OK(CallRanks(*ranks, store_, manifest_->number, prints_, saved));
    }
    ARROW_RETURN_NOT_OK(store_.Remove(RunLayout::kSuccess));
    const auto start = std::chrono::steady_clock::now();
    const TrainMemory memory{std::move(saved),
                             [this](const std::string& bytes) { return Save(bytes); },
                             snapshots, ranks};
    ARROW_ASSIGN_OR_RAISE(TrainSummary summary,
                          train(settings_, store_, memory, context_));
    ARROW_RETURN_NOT_OK(CheckInputsStay(settings_, prints_.train_inputs));
    PartRecord part = NewPart(kTrainPart);
    part.figures = {
        {"train", CountOf(summary.num_labelled, "labelled nodes"),
         "average Micro-F1 " + FormatFixed(100.0 * summary.micro_f1_average, 2) + " %",
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
         PeakMemory()}};
    part.notes = std::move(summary.notes);
    part.files = std::move(summary.files);
    Manifest next = *manifest_;
    next.Replace(std::move(part));
    next.Drop(kTrainingPart);
    next.Drop(kPredictPart);  // by the model before
    return Commit(store_, std::move(next), manifest_);
  }

 private:
  PartRecord NewPart(std::string_view name) const {
    PartRecord part;
    part.name = name;
    part.version = kVersion;
    part.fingerprint = prints_.train;
    constexpr std::string_view kTrainSection[] = {"train"};
    // `coden predict` takes these in the place of its own.
    part.parameters = "input.label = " + settings_.input.label +
                      "\ninput.label_time = " + settings_.input.label_time + "\n" +
                      ToIni(settings_, kTrainSection);
    part.inputs = prints_.train_inputs;
    return part;
  }

  arrow::Status Save(const std::string& bytes) {
    PartRecord part = NewPart(kTrainingPart);
    part.complete = false;
    ARROW_ASSIGN_OR_RAISE(part.files.emplace_back(),
                          store_.StageText(RunLayout::kTraining, bytes));
    Manifest next = *manifest_;
    next.Replace(std::move(part));
    return Commit(store_, std::move(next), manifest_);
  }

  const Settings& settings_;
  const Fingerprints& prints_;
  RunStore& store_;
  Manifest* manifest_;
  const RunContext& context_;
};

// The snapshots are made from slices of exactly this schedule.
arrow::Status CheckScheduled(const RunStore& store, const Fingerprints& prints,
                             const PartRecord* embedded) {
  if (embedded == nullptr) {
    return UsageError("there is no schedule in '", store.Show(),
                      "': run `coden schedule` first");
  }
  if (embedded->fingerprint == prints.embed) return arrow::Status::OK();
  return UsageError("settings or inputs are not those that '", store.Show(),
                    "' was scheduled with; give them back, or start again with `coden "
                    "schedule --force`");
}

// Threads of everything that follows, for as long as the object lives.
class Threads {
 public:
  explicit Threads(const Settings& settings)
      : tbb_(tbb::global_control::max_allowed_parallelism,
             static_cast<std::size_t>(NumThreads(settings))) {}
  static arrow::Status SetArrow(const Settings& settings) {
    return arrow::SetCpuThreadPoolCapacity(NumThreads(settings));
  }

 private:
  tbb::global_control tbb_;
};

// The settings of the schedule that these are a slice of.
Settings WithColumns(const Settings& settings, std::optional<ColumnRange> columns) {
  Settings whole = settings;
  whole.embed.columns = columns;
  return whole;
}

// Labels that nobody asks for need not be there.
Settings WithoutIdleLabels(Settings settings, Goal goal) {
  const bool trains = goal == Goal::kTrain || goal == Goal::kAll;
  if (!trains && settings.snapshot.nodes == SnapshotNodes::kAll)
    settings.input.labels.clear();
  return settings;
}

// The columns that a part `embed` was scheduled for; nothing where that is all of them.
arrow::Result<std::optional<ColumnRange>> ScheduledColumns(const PartRecord& embed) {
  constexpr std::string_view kKey = "\nembed.columns = ";
  const std::string text = "\n" + embed.parameters;
  const std::size_t at = text.find(kKey);
  if (at == text.npos) return std::nullopt;
  const std::string_view rest = std::string_view(text).substr(at + kKey.size());
  Settings parsed;
  ARROW_RETURN_NOT_OK(Set(parsed, "embed.columns", rest.substr(0, rest.find('\n'))));
  return parsed.embed.columns;
}

// Bad labels are found before the long work, not after it. Returns the labelled nodes.
arrow::Result<std::shared_ptr<const NodeIdMap>> CheckLabels(const Settings& settings,
                                                            const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(Labels labels, ReadLabels(settings.input));
  std::shared_ptr<NodeIdMap> nodes = std::move(labels.nodes);
  nodes->Freeze();
  if (labels.timed || labels.other_columns.empty()) return nodes;
  std::string others;
  for (const std::string& name : labels.other_columns) others += " " + name;
  context.progress->Note("the labels have no time column `" + settings.input.time +
                         "`, so they hold at all times; set `input.label_time` if one of "
                         "these is it:" +
                         others);
  return nodes;
}

// Training takes the snapshots as they are.
arrow::Status CheckSnapshots(const RunStore& store, const Settings& settings,
                             const Fingerprints& prints, const PartRecord* embedded) {
  if (embedded == nullptr) {
    return UsageError("there are no snapshots to train on in '", store.Show(),
                      "': run `coden run` or `coden embed` first");
  }
  if (!embedded->complete) {
    return UsageError("the snapshots in '", store.Show(),
                      "' are not complete; go on with `coden embed` or `coden run`");
  }
  if (embedded->fingerprint != prints.embed) {
    const std::string keys =
        DifferingSettings(EmbedParameters(settings), embedded->parameters);
    return UsageError(
        "the snapshots in '", store.Show(),
        "' were made from other settings or inputs, and `train` does not "
        "make new ones; use `coden run` for a longer log, `coden run --force` "
        "for all else: ",
        keys.empty() ? "the input files" : keys);
  }
  return CheckFiles(store, *embedded);
}

}  // namespace

arrow::Result<Manifest> RunPipeline(const Settings& all_settings,
                                    const RunRequest& request,
                                    const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(all_settings));
  const Settings settings = WithoutIdleLabels(all_settings, request.goal);
  const Threads threads(settings);
  ARROW_RETURN_NOT_OK(Threads::SetArrow(settings));

  if (request.ranks != nullptr && request.ranks->rank() > 0)
    return AssistTraining(settings, request, context);

  ARROW_ASSIGN_OR_RAISE(const auto store, OpenForWriting(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto lock, RunLock::Take(*store));
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, LoadAndRecover(*store, request));
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
    return UsageError("there is no interrupted training with these settings in '",
                      store->Show(), "'; leave out --resume to start one");
  }
  const bool wants_training =
      request.goal == Goal::kTrain ||
      (request.goal == Goal::kAll && !settings.input.labels.empty());
  std::shared_ptr<const NodeIdMap> labelled;
  if (wants_training) {
    ARROW_ASSIGN_OR_RAISE(labelled, CheckLabels(settings, context));
  }
  if (request.goal == Goal::kAll && settings.input.labels.empty()) {
    context.progress->Note("there are no labels (`input.labels`): training is left out");
  }
  // Beside the embedding, and for a moment beside the training's own copy: not where
  // somebody has said how much memory there is.
  std::optional<SnapshotCache> cache;
  if (labelled != nullptr && settings.train.inputs.embedding &&
      settings.run.memory_limit == 0 && SnapshotCache::Applies(settings.snapshot)) {
    cache.emplace(labelled, MemoryLimit(settings) / 4);
  }
  if (request.goal == Goal::kTrain) {
    ARROW_RETURN_NOT_OK(
        CheckSnapshots(*store, settings, prints, manifest.Find(kEmbedPart)));
  } else if (request.goal == Goal::kCommit) {
    ARROW_RETURN_NOT_OK(CheckScheduled(*store, prints, embedded));
    ARROW_RETURN_NOT_OK(BringEmbeddingUpToDate(settings, /*rebuild=*/false, prints,
                                               *store, &manifest, context,
                                               EmbedExtent::kJoin));
  } else {
    const bool rebuild =
        request.force || (barren && embedded->fingerprint != prints.embed);
    const auto extent = request.goal == Goal::kSchedule ? EmbedExtent::kSchedule
                                                        : EmbedExtent::kSnapshots;
    ARROW_RETURN_NOT_OK(BringEmbeddingUpToDate(settings, rebuild, prints, *store,
                                               &manifest, context, extent,
                                               cache ? &*cache : nullptr));
  }

  if (wants_training) {
    const PartRecord* trained = manifest.Find(kTrainPart);
    if (trained != nullptr && trained->fingerprint == prints.train && !request.force) {
      ARROW_RETURN_NOT_OK(CheckFiles(*store, *trained));
      if (request.ranks != nullptr) ARROW_RETURN_NOT_OK(DismissRanks(*request.ranks));
      context.progress->Note("training: settings and inputs are unchanged, skipped");
    } else {
      if (request.force)
        ARROW_RETURN_NOT_OK(Withdraw(*store, {kTrainingPart}, &manifest));
      ARROW_RETURN_NOT_OK(train_part.Run(request.train, std::move(saved_training),
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

arrow::Result<bool> AsksForSlice(const Settings& settings) {
  if (!settings.embed.columns || settings.run.directory.empty()) return false;
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(settings.run.directory));
  auto manifest = LoadManifest(*store);
  // What is damaged is told by whoever works with it.
  if (!manifest.ok() || !manifest->has_value()) return false;
  const PartRecord* embed = (*manifest)->Find(kEmbedPart);
  if (embed == nullptr || embed->complete) return false;
  ARROW_ASSIGN_OR_RAISE(const auto scheduled, ScheduledColumns(*embed));
  return !scheduled || scheduled->begin != settings.embed.columns->begin ||
         scheduled->end != settings.embed.columns->end;
}

arrow::Status RunSlice(const Settings& all_settings, const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(all_settings));
  const Threads threads(all_settings);
  ARROW_RETURN_NOT_OK(Threads::SetArrow(all_settings));
  ARROW_ASSIGN_OR_RAISE(const auto store, RunStore::Open(all_settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const auto loaded, LoadManifest(*store));
  const Manifest manifest = loaded.value_or(Manifest{});
  const PartRecord* embed = manifest.Find(kEmbedPart);
  if (embed == nullptr) {
    return UsageError("there is no schedule in '", store->Show(),
                      "': run `coden schedule` first");
  }
  ARROW_ASSIGN_OR_RAISE(const auto scheduled, ScheduledColumns(*embed));
  const Settings settings =
      WithColumns(WithoutIdleLabels(all_settings, Goal::kEmbed), scheduled);
  if (!DifferingSettings(EmbedParameters(settings), embed->parameters).empty())
    return AnotherRun(*store, settings, *embed);
  ARROW_ASSIGN_OR_RAISE(const Fingerprints prints,
                        ComputeFingerprints(settings, manifest));
  ARROW_RETURN_NOT_OK(CheckScheduled(*store, prints, embed));
  if (embed->complete) {
    context.progress->Note("the run is complete, with these columns: skipped");
    return arrow::Status::OK();
  }
  return EmbedSlice(settings, *all_settings.embed.columns, *embed, *store, context);
}

arrow::Result<PipelinePlan> PlanPipeline(const Settings& settings,
                                         const RunContext& context) {
  ARROW_RETURN_NOT_OK(Validate(settings));
  ARROW_RETURN_NOT_OK(CheckInputsAgree(settings.input, settings.graph.events));
  ARROW_ASSIGN_OR_RAISE(auto inputs, RunInputs::Open(settings));
  PipelinePlan plan;
  // A plan says what a run needs, also where it may not have it.
  Settings unlimited = settings;
  unlimited.run.memory_limit = 0;
  ARROW_ASSIGN_OR_RAISE(plan.scheduled, RunSchedulePass(unlimited, inputs, context));
  std::int64_t num_labelled = 0;
  if (!settings.input.labels.empty()) {
    ARROW_ASSIGN_OR_RAISE(const Labels labels, ReadLabels(settings.input));
    num_labelled = labels.nodes->size();
  }
  plan.resources =
      EstimateResources(settings, inputs, plan.scheduled.schedule, num_labelled);
  if (plan.resources.memory_bytes <= MemoryLimit(settings)) {
    ARROW_ASSIGN_OR_RAISE(plan.disk,
                          EstimateDisk(settings, inputs, plan.scheduled, context));
  }
  plan.num_rows = inputs.log.num_rows;
  plan.num_nodes = inputs.nodes->size();
  plan.num_columns = inputs.columns.size();
  return plan;
}

}  // namespace coden
