#include <algorithm>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/pipeline/disk_estimate.h"
#include "coden/pipeline/schedule_pass.h"
#include "coden/plan/resources.h"
#include "coden/state/saved_slice.h"
#include "coden/state/saved_work.h"
#include "coden/store/commit.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "coden/version.h"
#include "pipeline/checkpointer_internal.h"
#include "pipeline/embed_part_internal.h"
#include "pipeline/kept_trainings_internal.h"
#include "pipeline/scheduled_run_internal.h"
#include "pipeline/slice_work_internal.h"

namespace coden {

namespace {

std::vector<ColumnRange> Cut(const std::vector<ColumnRange>& ranges, int width) {
  std::vector<ColumnRange> pieces;
  for (const ColumnRange& range : ranges) {
    for (int begin = range.begin; begin < range.end; begin += width)
      pieces.push_back({begin, std::min(begin + width, range.end)});
  }
  return pieces;
}

class EmbedPart {
 public:
  EmbedPart(const RunSession& session, const EmbedRequest& request)
      : settings_(session.settings),
        prints_(session.prints),
        store_(session.store),
        manifest_(session.manifest),
        context_(session.context),
        request_(request) {}

  // Everything from the start of the log. Whatever can refuse the run comes before the
  // files of an earlier one are touched.
  arrow::Status Rebuild() {
    ARROW_ASSIGN_OR_RAISE(inputs_, RunInputs::Open(settings_));
    ARROW_ASSIGN_OR_RAISE(SchedulePassResult pass,
                          RunSchedulePass(settings_, inputs_, context_, &store_));
    schedule_ = pass.schedule;
    ARROW_RETURN_NOT_OK(Plan(pass.progress, &pass));
    ARROW_RETURN_NOT_OK(KeepTrainingOfEarlierSnapshots(store_, context_, manifest_));
    ARROW_RETURN_NOT_OK(
        Withdraw(store_, {kEmbedPart, kWindowsPart, kTrainingPart}, manifest_));
    // Of a run whose manifest could not be read.
    ARROW_ASSIGN_OR_RAISE(const std::string aside,
                          SetUnnamedOutputsAside(store_, *manifest_));
    if (!aside.empty()) {
      pass.warnings.push_back("files that no manifest names are kept in '" +
                              store_.Show(aside) +
                              "'; remove the folder where nobody needs them");
    }
    ARROW_RETURN_NOT_OK(NoteOtherFiles(store_, context_));
    ARROW_RETURN_NOT_OK(RemoveSlicesBut(store_, {}, {}));
    ARROW_RETURN_NOT_OK(CommitSchedule(std::move(pass)));
    return EmbedRest();
  }

  // Finish the schedule there is, then go on with what was added to the inputs.
  arrow::Status GoOn(const PartRecord& existing, InputChange change) {
    if (!existing.complete && request_.extent == EmbedExtent::kSchedule) {
      context_.progress->Note("the schedule is there, and is not embedded yet: kept");
      return arrow::Status::OK();
    }
    if (!existing.complete) {
      ARROW_RETURN_NOT_OK(OpenEarlier(existing, change.verify_log));
      ForgetMissingFiles();
      context_.progress->Note(
          "embedding: going on after " + CountOf(progress_.num_snapshots, "of ") +
          CountOf(static_cast<std::int64_t>(schedule_.size()), "snapshots"));
      ARROW_RETURN_NOT_OK(Plan(progress_));
      ARROW_RETURN_NOT_OK(EmbedRest());
      change.verify_log = false;
    }
    return change.grown && request_.extent != EmbedExtent::kJoin
               ? Append(change.verify_log)
               : arrow::Status::OK();
  }

 private:
  // A file without a used row may be gone; the others have been compared.
  void ForgetMissingFiles() {
    PartRecord part = *manifest_->Find(kEmbedPart);
    std::erase_if(part.inputs, [&](const InputRecord& input) {
      return std::none_of(prints_.embed_inputs.begin(), prints_.embed_inputs.end(),
                          [&](const InputRecord& now) {
                            return now.role == input.role && now.name == input.name;
                          });
    });
    manifest_->Replace(std::move(part));
  }

  arrow::Status OpenEarlier(const PartRecord& existing, bool verify_log) {
    ARROW_ASSIGN_OR_RAISE(ScheduledRun run,
                          OpenScheduledRun(settings_, store_, existing,
                                           verify_log ? LogUse::kVerify : LogUse::kOpen));
    inputs_ = std::move(run.inputs);
    schedule_ = std::move(run.schedule);
    progress_ = std::move(run.progress);
    return arrow::Status::OK();
  }

  // Only the rows that were added to the log of the earlier run.
  arrow::Status Append(bool verify_log) {
    const PartRecord existing = *manifest_->Find(kEmbedPart);
    ARROW_RETURN_NOT_OK(OpenEarlier(existing, verify_log));
    const RunProgress before = progress_;
    const EarlierRun earlier{store_, before, existing};
    ARROW_ASSIGN_OR_RAISE(
        SchedulePassResult pass,
        RunSchedulePass(settings_, inputs_, context_, &store_, &earlier));
    const auto num_new = static_cast<std::int64_t>(pass.schedule.size());
    schedule_.insert(schedule_.end(), pass.schedule.begin(), pass.schedule.end());
    if (num_new == 0) {
      context_.progress->Note("the inputs have nothing new to predict: kept as it was");
      return KeepAs(existing, pass);
    }
    ARROW_RETURN_NOT_OK(Plan(pass.progress));
    const std::int64_t used = before.sampler.num_events;
    const std::int64_t added = pass.progress.sampler.num_events - used;
    double seconds = 0.0;
    for (const StageFigure& figure : existing.figures) seconds += figure.seconds;
    pass.notes.push_back(
        "added to an earlier run: " + CountOf(used, "rows and ") +
        CountOf(before.sampler.num_snapshots, "snapshots were kept (") +
        FormatFixed(100.0 * static_cast<double>(used) / static_cast<double>(used + added),
                    1) +
        " % of the rows; the stages that made them took " + FormatSeconds(seconds) +
        "), " + CountOf(added, "rows and ") + CountOf(num_new, "snapshots are new"));
    ARROW_RETURN_NOT_OK(CommitSchedule(std::move(pass)));
    return EmbedRest();
  }

  // How many columns at a time, for the snapshots that are still to come. Those who embed
  // slices see to their own memory.
  // With `pass` it is a run from the start of the log.
  arrow::Status Plan(const RunProgress& progress,
                     const SchedulePassResult* pass = nullptr) {
    ARROW_ASSIGN_OR_RAISE(ResourceEstimate needs,
                          EstimateRest(settings_, inputs_, schedule_,
                                       progress.num_snapshots, request_.then_trains));
    columns_per_pass_ = needs.columns_per_pass;
    if (request_.extent != EmbedExtent::kSnapshots) return arrow::Status::OK();
    if (!DiskHasRoom(settings_, needs.disk_bytes + needs.temporary_disk_bytes())) {
      // That was a bound; now it matters how well the snapshots compress.
      needs.disk_bytes = 0;
      ARROW_RETURN_NOT_OK(CheckResources(settings_, needs));
      DiskEstimate disk;
      if (pass != nullptr) {
        ARROW_ASSIGN_OR_RAISE(disk,
                              EstimateDisk(settings_, inputs_, *pass, store_, context_));
      } else {
        disk = EstimateDiskOfRest(*manifest_->Find(kEmbedPart), schedule_,
                                  progress.num_snapshots);
      }
      needs.disk_bytes = disk.least_bytes(settings_.snapshot);
    }
    return CheckResources(settings_, needs);
  }

  PartRecord NewPart() const {
    PartRecord part;
    part.name = kEmbedPart;
    part.version = kVersion;
    part.fingerprint = prints_.embed;
    part.parameters = EmbedParameters(settings_);
    part.inputs = prints_.embed_inputs;
    return part;
  }

  // From here on the run is what the new schedule says, and has the snapshots it had.
  arrow::Status CommitSchedule(SchedulePassResult pass) {
    std::vector<std::string> notes = pass.SayNotes(*context_.progress);
    ARROW_RETURN_NOT_OK(store_.Remove(RunLayout::kSuccess));
    Manifest next = *manifest_;
    PartRecord part = NewPart();
    part.complete = false;
    part.figures = figures_ = std::move(pass.figures);
    part.notes = std::move(notes);
    part.counts = pass.counts;
    if (const PartRecord* existing = next.Find(kEmbedPart)) part.files = existing->files;
    progress_ = std::move(pass.progress);
    inputs_.saved = std::move(pass.nodes);
    ARROW_ASSIGN_OR_RAISE(const auto rows, ScheduleToBatch(schedule_));
    ARROW_ASSIGN_OR_RAISE(FileRecord plan,
                          StageParquetFile(store_, RunLayout::kPlan, *rows));
    ARROW_ASSIGN_OR_RAISE(FileRecord nodes,
                          StageNodes(store_, *inputs_.nodes, inputs_.saved));
    ARROW_ASSIGN_OR_RAISE(FileRecord progress,
                          store_.StageText(RunLayout::kProgress, ToJson(progress_)));
    for (FileRecord* file : {&plan, &nodes, &progress})
      part.ReplaceFile(std::move(*file));
    for (FileRecord& file : pass.state) {
      ARROW_RETURN_NOT_OK(store_.Restage(&file));
      part.ReplaceFile(std::move(file));
    }
    next.Drop(kTrainingPart);
    // What was trained and predicted before stands until it is made anew, and is marked.
    for (const std::string_view name : {kTrainPart, kPredictPart}) {
      const PartRecord* found = next.Find(name);
      if (found == nullptr) continue;
      PartRecord stale = *found;
      stale.complete = false;
      next.Replace(std::move(stale));
    }
    ARROW_RETURN_NOT_OK(CheckInputsStay(settings_, part.inputs));
    next.Replace(std::move(part));
    return Commit(store_, std::move(next), manifest_);
  }

  // Embed the snapshots of the schedule that are not there yet.
  arrow::Status EmbedRest() {
    if (request_.extent == EmbedExtent::kSchedule) return arrow::Status::OK();
    const PartRecord open = *manifest_->Find(kEmbedPart);
    std::vector<std::string> notes = open.notes;
    ARROW_ASSIGN_OR_RAISE(
        const std::vector<SolveWork> earlier_work,
        LoadWork(store_, open.FindFile(RunLayout::kWork), progress_.num_snapshots));
    Checkpointer checkpointer(store_, manifest_, schedule_, progress_, earlier_work,
                              settings_);
    const EmbedTask task{
        schedule_,
        progress_,
        open.files,
        {open.fingerprint, open.parameters, InputFingerprint(open.inputs)},
        request_.cache};
    ARROW_ASSIGN_OR_RAISE(const EmbedPassResult embedded,
                          EmbedColumns(open, task, checkpointer));
    const auto& bounds = embedded.error_bounds;
    const double worst =
        bounds.empty() ? 0.0 : *std::max_element(bounds.begin(), bounds.end());
    if (worst > settings_.embed.epsilon) {
      const SnapshotOptions& snapshot = settings_.snapshot;
      const bool misses = snapshot.mode == SnapshotMode::kDelta && snapshot.threshold > 0;
      notes.push_back("the files round their numbers" +
                      std::string(misses ? " and leave out what moved little" : "") +
                      ", so their error is up to " + FormatScientific(worst, 1) +
                      " per node, above `embed.epsilon`");
      context_.progress->Note(notes.back());
    }
    PartRecord part = open;
    part.complete = true;
    part.notes = std::move(notes);
    part.figures = figures_.empty() ? open.figures : figures_;
    part.figures.insert(part.figures.end(), embedded.figures.begin(),
                        embedded.figures.end());
    ARROW_RETURN_NOT_OK(checkpointer.Finish(embedded, std::move(part)));
    return RemoveSlicesBut(store_, {}, {});
  }

  // In one pass where all columns fit and none are there; otherwise those that are not
  // there, slice by slice, and then all from their slices.
  arrow::Result<EmbedPassResult> EmbedColumns(const PartRecord& open,
                                              const EmbedTask& task,
                                              Checkpointer& checkpointer) {
    const std::string schedule = ScheduleId(open);
    ARROW_ASSIGN_OR_RAISE(std::vector<SavedSlice> slices, LoadSlices(store_, schedule));
    const std::vector<ColumnRange> missing = MissingColumns(inputs_.columns, &slices);
    if (request_.extent == EmbedExtent::kJoin && !missing.empty()) {
      std::string list;
      for (const ColumnRange& columns : missing) {
        list += (list.empty() ? "" : ", ") + std::to_string(columns.begin) + ":" +
                std::to_string(columns.end);
      }
      return UnavailableError(
          "not all columns of the schedule in '", store_.Show(),
          "' are embedded yet; `coden embed --embed.columns A:B` does: ", list);
    }
    if (slices.empty() && columns_per_pass_ >= inputs_.columns.size())
      return RunEmbedPass(settings_, inputs_, task, store_, checkpointer, context_);
    ARROW_RETURN_NOT_OK(RemoveSlicesBut(store_, schedule, slices));
    const std::vector<ColumnRange> pieces = Cut(missing, columns_per_pass_);
    const std::size_t all = slices.size() + pieces.size();
    for (const ColumnRange& columns : pieces) {
      const std::string step =
          "embed " + std::to_string(slices.size() + 1) + "/" + std::to_string(all);
      ARROW_ASSIGN_OR_RAISE(
          slices.emplace_back(),
          MakeSlice(settings_, inputs_, task, columns, open, step, store_, context_));
    }
    std::sort(slices.begin(), slices.end(), [](const auto& one, const auto& other) {
      return one.columns.begin < other.columns.begin;
    });
    return RunJoinPass(settings_, inputs_, task, slices, store_, checkpointer, context_);
  }

  // The inputs were written anew, or have rows that change nothing.
  arrow::Status KeepAs(PartRecord part, const SchedulePassResult& pass) {
    part.notes = pass.SayNotes(*context_.progress);
    part.counts = pass.counts;
    part.fingerprint = prints_.embed;
    part.parameters = EmbedParameters(settings_);
    part.inputs = prints_.embed_inputs;
    Manifest next = *manifest_;
    next.Replace(std::move(part));
    return Commit(store_, std::move(next), manifest_);
  }

  const Settings& settings_;
  const Fingerprints& prints_;
  RunStore& store_;
  Manifest* manifest_;
  const RunContext& context_;
  const EmbedRequest& request_;
  RunInputs inputs_;
  Schedule schedule_;
  RunProgress progress_;
  std::vector<StageFigure> figures_;
  int columns_per_pass_ = 0;
};

// The inputs of a part that its schedule has used.
arrow::Result<std::vector<InputRecord>> UsedInputsOf(const RunStore& store,
                                                     const PartRecord& part) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(RunLayout::kProgress));
  ARROW_ASSIGN_OR_RAISE(const RunProgress progress,
                        ProgressFromJson(text, store.Show(RunLayout::kProgress)));
  return UsedInputs(part.inputs, progress.log);
}

}  // namespace

arrow::Status AnotherRun(const RunStore& store, const Settings& settings,
                         const PartRecord& existing) {
  std::string why = DifferingSettings(EmbedParameters(settings), existing.parameters);
  if (why.empty()) why = "it was made by coden " + existing.version;
  return HistoryError(
      "'", store.Show(),
      "' holds a run with other settings; choose another `run.directory`, "
      "or rebuild it with --force: ",
      why);
}

arrow::Status CheckScheduled(const RunStore& store, const Fingerprints& prints,
                             const PartRecord* embed) {
  if (embed == nullptr) {
    return NotInRun(store, "schedule", "`coden schedule`");
  }
  if (embed->fingerprint == prints.embed) return arrow::Status::OK();
  return HistoryError("settings or inputs are not those that '", store.Show(),
                      "' was scheduled with; give them back, or start again with `coden "
                      "schedule --force`");
}

arrow::Status Withdraw(RunStore& store, std::initializer_list<std::string_view> parts,
                       Manifest* manifest) {
  ARROW_RETURN_NOT_OK(store.Remove(RunLayout::kSuccess));
  Manifest next = *manifest;
  bool dropped = false;
  for (const std::string_view part : parts) dropped = next.Drop(part) || dropped;
  return dropped ? Commit(store, std::move(next), manifest) : arrow::Status::OK();
}

arrow::Status BringEmbeddingUpToDate(const RunSession& session,
                                     const EmbedRequest& request) {
  const auto& [settings, prints, store, manifest, context] = session;
  EmbedPart work(session, request);
  const PartRecord* found = manifest->Find(kEmbedPart);
  if (found == nullptr || request.rebuild) return work.Rebuild();
  const PartRecord existing = *found;
  const bool same_settings =
      existing.version == kVersion &&
      DifferingSettings(EmbedParameters(settings), existing.parameters).empty();
  if (!same_settings) return AnotherRun(store, settings, existing);
  ARROW_RETURN_NOT_OK(CheckFiles(store, existing));
  if (existing.complete && existing.fingerprint == prints.embed) {
    context.progress->Note("embedding: settings and inputs are unchanged, skipped");
    return arrow::Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto used, UsedInputsOf(store, existing));
  InputChange change = CompareInputs(used, prints.embed_inputs);
  if (!change.lost.empty()) {
    return HistoryError("the history of the run in '", store.Show(),
                        "' has changed; give it back, choose another `run.directory`, or "
                        "rebuild with --force: ",
                        change.lost);
  }
  // Other prediction times make the log go on without a new row; a file without a used
  // row may be gone.
  change.grown = change.grown || existing.parameters != EmbedParameters(settings) ||
                 existing.inputs.size() != prints.embed_inputs.size();
  return work.GoOn(existing, change);
}

}  // namespace coden
