#include "pipeline/train_part_internal.h"
#include "pipeline/window_histories_internal.h"

#include <chrono>
#include <cmath>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/store/commit.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"
#include "coden/version.h"
#include "pipeline/id_checks_internal.h"
#include "pipeline/kept_trainings_internal.h"
#include "pipeline/saved_settings_internal.h"
#include "pipeline/train_ranks_internal.h"

namespace coden {

namespace {

// The settings of a training without those of the place and the machine: equal trainings
// give equal bytes.
std::string ResultSettingsIni(const Settings& settings) {
  Settings saved = settings;
  saved.run = {};
  saved.run.seed = settings.run.seed;
  saved.report = {};
  return SealIni(WriteIni(ShownSettings(saved)));
}

}  // namespace

arrow::Status CheckSnapshots(const RunStore& store, const Settings& settings,
                             const Fingerprints& prints, const PartRecord* embedded) {
  if (embedded == nullptr) {
    return NotInRun(store, "embedding", "`coden run` or `coden embed`");
  }
  if (!embedded->complete) {
    return InputError("the snapshots in '", store.Show(),
                      "' are not complete; go on with `coden embed` or `coden run`");
  }
  if (embedded->fingerprint != prints.embed) {
    const std::string keys =
        DifferingSettings(EmbedParameters(settings), embedded->parameters);
    return HistoryError(
        "the snapshots in '", store.Show(),
        "' were made from other settings or inputs, and `train` does not "
        "make new ones; use `coden run` for a longer log, `coden run --force` "
        "for all else: ",
        keys.empty() ? "the input files" : keys);
  }
  return CheckFiles(store, *embedded);
}

arrow::Result<std::string> TrainPart::Saved() const {
  const PartRecord* saved = manifest_->Find(kTrainingPart);
  if (saved == nullptr || saved->fingerprint != prints_.train) return std::string();
  return store_.ReadText(RunLayout::kTraining);
}

arrow::Status TrainPart::Run(const TrainStage& train, std::string saved,
                             std::vector<std::string> notes, SnapshotCache* snapshots,
                             RankGroup* ranks) {
  if (!train) {
    return UsageError(
        "this program was built without training; build with -Dtrain=enabled");
  }
  InputCounts counts;
  std::vector<std::string> warnings;
  ARROW_RETURN_NOT_OK(CheckIdsOfTraining(settings_, store_, &counts, &warnings));
  for (const std::string& warning : warnings) context_.progress->Warn(warning);
  notes.insert(notes.end(), warnings.begin(), warnings.end());
  ARROW_RETURN_NOT_OK(MakeWindowHistories(settings_, store_, manifest_, context_));
  if (ranks != nullptr) {
    ARROW_RETURN_NOT_OK(CallRanks(*ranks, store_, manifest_->number, prints_, saved));
  }
  ARROW_RETURN_NOT_OK(store_.Remove(RunLayout::kSuccess));
  const auto start = std::chrono::steady_clock::now();
  const TrainMemory memory{std::move(saved),
                           [this](const std::string& bytes) { return Save(bytes); },
                           snapshots, ranks};
  ARROW_ASSIGN_OR_RAISE(TrainSummary summary, train(settings_, store_, memory, context_));
  ARROW_RETURN_NOT_OK(CheckInputsStay(settings_, prints_.train_inputs));
  PartRecord part = NewPart(kTrainPart);
  part.figures = {
      {"train",
       CountOf(summary.num_labelled, "labelled nodes"),
       "average Micro-F1 " + FormatFixed(100.0 * summary.micro_f1_average, 2) + " %",
       std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
       PeakMemory(),
       {{"labelled_nodes", summary.num_labelled},
        {"prediction_times", summary.num_predictions}}}};
  if (std::isfinite(summary.micro_f1_average))
    part.figures.back().measures = {{"micro_f1", summary.micro_f1_average}};
  part.notes = std::move(notes);
  part.notes.insert(part.notes.end(), summary.notes.begin(), summary.notes.end());
  part.counts = counts;
  part.files = std::move(summary.files);
  ARROW_ASSIGN_OR_RAISE(
      part.files.emplace_back(),
      store_.StageText(RunLayout::kModelSettings, ResultSettingsIni(settings_)));
  Manifest next = *manifest_;
  const PartRecord* earlier = next.Find(kTrainPart);
  if (earlier != nullptr && !IsRepeated(*earlier, part)) {
    ARROW_ASSIGN_OR_RAISE(std::string note, KeepTraining(store_, &next));
    context_.progress->Note(note);
    part.notes.push_back(std::move(note));
  }
  next.Replace(std::move(part));
  next.Drop(kTrainingPart);
  for (const std::string& name : DropRepeated(&next)) {
    context_.progress->Note("the new training repeats '" + name +
                            "', which is not kept twice");
  }
  return Commit(store_, std::move(next), manifest_);
}

PartRecord TrainPart::NewPart(std::string_view name) const {
  PartRecord part;
  part.name = name;
  part.version = kVersion;
  part.fingerprint = prints_.train;
  // `coden predict` takes these in the place of its own.
  part.parameters = TrainParameters(settings_);
  part.inputs = prints_.train_inputs;
  return part;
}

arrow::Status TrainPart::Save(const std::string& bytes) {
  PartRecord part = NewPart(kTrainingPart);
  part.complete = false;
  ARROW_ASSIGN_OR_RAISE(part.files.emplace_back(),
                        store_.StageText(RunLayout::kTraining, bytes));
  Manifest next = *manifest_;
  next.Replace(std::move(part));
  return Commit(store_, std::move(next), manifest_);
}

}  // namespace coden
