#include "experiment/laboratory_internal.h"

#include <algorithm>
#include <filesystem>

#include <arrow/table.h>

#include "base/table_column_internal.h"
#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/plan/resources.h"
#include "coden/store/hasher.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "coden/store/sealed_text.h"
#include "coden/version.h"
#include "experiment/error_study_internal.h"

namespace coden {

namespace {

constexpr std::size_t kNameDigits = 12;  // of a hash that names a run directory

// What the process that made `part` took.
void AddUsage(const PartRecord& part, const ProcessUsage& usage, TrialResult* result) {
  std::int64_t peak = 0;
  for (const StageFigure& figure : part.figures) peak = std::max(peak, figure.peak_bytes);
  const std::string prefix = part.name + "_";
  result->measurements.push_back({prefix + "seconds", usage.seconds});
  result->measurements.push_back({prefix + "cpu_seconds", usage.cpu_seconds});
  result->measurements.push_back({prefix + "peak_bytes", static_cast<double>(peak)});
}

// An empty one where there is no run.
arrow::Result<Manifest> ManifestOf(const RunStore& run) {
  ARROW_ASSIGN_OR_RAISE(auto manifest, LoadManifest(run));
  return std::move(manifest).value_or(Manifest{});
}

// The manifest of a run, with `part` as it must be after its process.
arrow::Result<Manifest> ManifestWith(const RunStore& run, std::string_view part,
                                     const std::string& fingerprint) {
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, ManifestOf(run));
  const PartRecord* found = manifest.Find(part);
  if (found == nullptr || !found->complete || found->fingerprint != fingerprint) {
    return arrow::Status::Invalid("an input changed while the suite ran; run it again: '",
                                  run.Show(), "'");
  }
  return manifest;
}

// What schedule.parquet says of the run as a whole.
arrow::Status AddSchedule(const RunStore& run, const Manifest& manifest,
                          TrialResult* result) {
  const FileRecord* file = manifest.FindFile(RunLayout::kSchedule);
  if (file == nullptr) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(run, *file));
  ARROW_ASSIGN_OR_RAISE(const Schedule schedule, ScheduleFromTable(*table));
  if (schedule.empty()) return arrow::Status::OK();
  const SchedulePoint& last = schedule.back();
  double worst = 0.0;
  for (const SchedulePoint& point : schedule)
    worst = std::max(worst, point.error_bound.value_or(0.0));
  for (const auto& [quantity, value] :
       {std::pair("snapshots", static_cast<double>(schedule.size())),
        std::pair("rows", static_cast<double>(last.events)),
        std::pair("nodes", static_cast<double>(last.num_nodes)),
        std::pair("edges", static_cast<double>(last.num_edges)),
        std::pair("error_bound", worst)}) {
    result->measurements.push_back({quantity, value});
  }
  return arrow::Status::OK();
}

arrow::Status AddMetrics(const RunStore& run, const Manifest& manifest,
                         TrialResult* result) {
  const FileRecord* file = manifest.FindFile(RunLayout::kMetrics);
  if (file == nullptr) {
    return arrow::Status::Invalid("a cell was trained but left no metrics in '",
                                  run.Show(), "'");
  }
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(run, *file));
  const std::string name(RunLayout::kMetrics);
  ARROW_ASSIGN_OR_RAISE(const auto runs, IntegerColumn(*table, name, "run"));
  ARROW_ASSIGN_OR_RAISE(const auto predictions,
                        IntegerColumn(*table, name, "prediction"));
  ARROW_ASSIGN_OR_RAISE(const auto times, IntegerColumn(*table, name, "time"));
  for (const char* quantity :
       {"micro_f1", "micro_f1_all", "macro_f1", "validate_micro_f1", "loss",
        "dirichlet_energy", "relative_energy"}) {
    ARROW_ASSIGN_OR_RAISE(const auto values, OptionalRealColumn(*table, name, quantity));
    for (std::size_t row = 0; row < values.size(); ++row) {
      result->measurements.push_back({quantity, values[row], static_cast<int>(runs[row]),
                                      static_cast<int>(predictions[row]), times[row]});
    }
  }
  return arrow::Status::OK();
}

}  // namespace

Laboratory::Laboratory(std::shared_ptr<RunStore> store, std::unique_ptr<RunLock> lock,
                       const PipelineProcess& process, const RunContext& context)
    : store_(std::move(store)),
      lock_(std::move(lock)),
      process_(process),
      context_(context) {}

arrow::Result<Laboratory> Laboratory::Open(const Settings& settings,
                                           const PipelineProcess& process,
                                           const RunContext& context) {
  std::string folder = settings.experiment.directory;
  if (folder.empty() && settings.run.directory.empty()) {
    return UsageError(
        "there is nowhere to write: set `experiment.directory` or `run.directory`");
  }
  if (folder.empty()) {
    folder = settings.run.directory;
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    folder += "-experiments";
  }
  if (folder.find("://") != std::string::npos) {
    return UsageError("experiments need a local folder: set `experiment.directory`: '",
                      MaskCredentials(folder), "'");
  }
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) &&
      !std::filesystem::is_directory(folder, ignored)) {
    return UsageError("`experiment.directory` is not a folder: '", folder, "'");
  }
  ARROW_ASSIGN_OR_RAISE(auto store, RunStore::Open(folder));
  ARROW_RETURN_NOT_OK(store->Prepare());
  ARROW_ASSIGN_OR_RAISE(auto lock, RunLock::Take(*store));
  return Laboratory(std::move(store), std::move(lock), process, context);
}

arrow::Result<std::string> Laboratory::Identify(const Trial& trial,
                                                Fingerprints* prints) {
  ARROW_ASSIGN_OR_RAISE(*prints, ComputeFingerprints(trial.settings, known_));
  PartRecord inputs;
  inputs.name = trial.name;
  inputs.inputs = prints->embed_inputs;
  inputs.inputs.insert(inputs.inputs.end(), prints->train_inputs.begin(),
                       prints->train_inputs.end());
  known_.Replace(std::move(inputs));
  // Threads and memory change what it takes, though no number of the result.
  const RunOptions& run = trial.settings.run;
  std::string means;
  if (run.threads > 0 || run.memory_limit > 0) {
    means = "-" + std::to_string(run.threads) + "-" + std::to_string(run.memory_limit);
  }
  switch (trial.kind) {
    case TrialKind::kTrain:
      if (prints->train.empty()) {
        return UsageError("this suite trains models: set `input.labels`");
      }
      return "train-" + prints->train + means;
    case TrialKind::kEmbed:
      return "embed-" + prints->embed + means;
    case TrialKind::kError:
      break;
  }
  return "error-" + prints->embed;
}

arrow::Result<TrialResult> Laboratory::Measure(Trial* trial) {
  Fingerprints prints;
  ARROW_ASSIGN_OR_RAISE(const std::string id, Identify(*trial, &prints));
  Settings& settings = trial->settings;
  settings.run.directory = Path("runs/" + prints.embed.substr(0, kNameDigits));
  settings.report.html = false;
  settings.report.tensorboard = false;
  const std::string name = "cells/" + id + ".json";
  ARROW_ASSIGN_OR_RAISE(const auto size, store_->Size(name));
  if (size) {
    auto result = ReadResult(name);
    if (result.ok()) return result;
    return result.status().WithMessage("a finished cell cannot be read; delete it to ",
                                       "measure it again: '", store_->Show(name),
                                       "': ", result.status().message());
  }
  TrialResult result;
  if (trial->kind == TrialKind::kTrain) {
    ARROW_ASSIGN_OR_RAISE(result, Train(settings, prints));
  } else if (trial->kind == TrialKind::kEmbed) {
    ARROW_ASSIGN_OR_RAISE(result, Embed(settings, prints, id));
  } else {
    ARROW_RETURN_NOT_OK(EnsureSnapshots(settings, prints, &result));
    ARROW_RETURN_NOT_OK(StudyErrors(settings, context_, &result.measurements));
  }
  ARROW_RETURN_NOT_OK(store_->WriteText(name, SealJson(ToJson(*trial, result))));
  return result;
}

arrow::Result<TrialResult> Laboratory::ReadResult(const std::string& name) const {
  ARROW_ASSIGN_OR_RAISE(const std::string sealed, store_->ReadText(name));
  ARROW_ASSIGN_OR_RAISE(const std::string text, UnsealJson(sealed, store_->Show(name)));
  return TrialResultFromJson(text);
}

arrow::Status Laboratory::EnsureSnapshots(const Settings& settings,
                                          const Fingerprints& prints,
                                          TrialResult* result) {
  ARROW_ASSIGN_OR_RAISE(const auto run, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, ManifestOf(*run));
  const PartRecord* embedded = manifest.Find(kEmbedPart);
  const std::string name = "cells/snapshots-" + prints.embed + ".json";
  ARROW_ASSIGN_OR_RAISE(const auto size, store_->Size(name));
  TrialResult took;
  if (size && embedded != nullptr && embedded->complete) {
    ARROW_ASSIGN_OR_RAISE(took, ReadResult(name));
  } else {
    took.resumed = embedded != nullptr;
    ARROW_ASSIGN_OR_RAISE(const ProcessUsage usage,
                          process_(settings, Goal::kEmbed, context_));
    ARROW_ASSIGN_OR_RAISE(manifest, ManifestWith(*run, kEmbedPart, prints.embed));
    AddUsage(*manifest.Find(kEmbedPart), usage, &took);
    ARROW_RETURN_NOT_OK(store_->WriteText(
        name, SealJson(ToJson({.name = {}, .settings = settings}, took))));
  }
  result->resumed = result->resumed || took.resumed;
  result->measurements.insert(result->measurements.end(), took.measurements.begin(),
                              took.measurements.end());
  return AddSchedule(*run, manifest, result);
}

arrow::Result<TrialResult> Laboratory::Train(const Settings& settings,
                                             const Fingerprints& prints) {
  TrialResult result;
  ARROW_RETURN_NOT_OK(EnsureSnapshots(settings, prints, &result));
  ARROW_ASSIGN_OR_RAISE(const auto run, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(Manifest manifest, ManifestOf(*run));
  for (const std::string_view name : {kTrainPart, kTrainingPart}) {
    const PartRecord* part = manifest.Find(name);
    if (part != nullptr && part->fingerprint == prints.train) result.resumed = true;
  }
  ARROW_ASSIGN_OR_RAISE(const ProcessUsage usage,
                        process_(settings, Goal::kTrain, context_));
  ARROW_ASSIGN_OR_RAISE(manifest, ManifestWith(*run, kTrainPart, prints.train));
  AddUsage(*manifest.Find(kTrainPart), usage, &result);
  ARROW_RETURN_NOT_OK(AddMetrics(*run, manifest, &result));
  return result;
}

arrow::Result<TrialResult> Laboratory::Embed(Settings settings,
                                             const Fingerprints& prints,
                                             std::string_view id) {
  // From nothing, and gone afterwards: only what it takes is wanted.
  settings.run.directory = Path("scratch/" + std::string(id));
  const auto clear = [&]() -> arrow::Status {
    std::error_code failed;
    std::filesystem::remove_all(settings.run.directory, failed);
    if (!failed) return arrow::Status::OK();
    return arrow::Status::IOError("cannot remove '", settings.run.directory,
                                  "': ", failed.message());
  };
  ARROW_RETURN_NOT_OK(clear());
  ARROW_ASSIGN_OR_RAISE(const ProcessUsage usage,
                        process_(settings, Goal::kEmbed, context_));
  ARROW_ASSIGN_OR_RAISE(const auto run, RunStore::Open(settings.run.directory));
  ARROW_ASSIGN_OR_RAISE(const Manifest manifest,
                        ManifestWith(*run, kEmbedPart, prints.embed));
  TrialResult result;
  AddUsage(*manifest.Find(kEmbedPart), usage, &result);
  ARROW_RETURN_NOT_OK(AddSchedule(*run, manifest, &result));
  result.measurements.push_back({"threads", static_cast<double>(NumThreads(settings))});
  ARROW_RETURN_NOT_OK(clear());
  return result;
}

}  // namespace coden
