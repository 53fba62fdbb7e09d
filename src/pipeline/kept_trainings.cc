#include "pipeline/kept_trainings_internal.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "coden/base/error.h"
#include "coden/base/printable.h"
#include "coden/store/commit.h"
#include "coden/store/run_layout.h"

namespace coden {

namespace {

// The kind of model that a training has made, as a part of a name.
std::string ModelName(const RunStore& store, const PartRecord& trained) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz-";
  const FileRecord* config = trained.FindFile(RunLayout::kModelConfig);
  const auto text =
      config == nullptr ? arrow::Status::KeyError("no model") : store.ReadText(*config);
  const auto json = nlohmann::json::parse(text.ValueOr(""), /*cb=*/nullptr,
                                          /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("model") || !json["model"].is_string())
    return "model";
  const auto name = json["model"].get<std::string>();
  const bool plain =
      !name.empty() && name.find_first_not_of(kLetters) == std::string::npos;
  return plain ? name : "model";
}

// The number behind the last hyphen; 0 where there is none.
int NumberOf(std::string_view training) {
  int number = 0;
  const std::string_view digits = training.substr(training.rfind('-') + 1);
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// The first number without a kept forecast above those that have one.
arrow::Result<int> NextForecastNumber(const RunStore& store) {
  int last = 0;
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(RunLayout::kForecasts));
  for (const std::string& name : names) last = std::max(last, NumberOf(name));
  return last + 1;
}

// Above those of all earlier trainings, also of folders that no manifest names.
arrow::Result<int> NextNumber(const RunStore& store, const Manifest& manifest) {
  int last = 0;
  for (const PartRecord& training : manifest.trainings)
    last = std::max(last, NumberOf(training.name));
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(RunLayout::kTrainings));
  for (const std::string& name : names) {
    const std::string_view rest =
        std::string_view(name).substr(RunLayout::kTrainings.size() + 1);
    last = std::max(last, NumberOf(rest.substr(0, rest.find('/'))));
  }
  return last + 1;
}

}  // namespace

arrow::Result<std::string> KeepTraining(RunStore& store, Manifest* next) {
  const PartRecord* trained = next->Find(kTrainPart);
  if (trained == nullptr) return std::string();
  PartRecord kept = *trained;
  ARROW_ASSIGN_OR_RAISE(const int number, NextNumber(store, *next));
  kept.name = ModelName(store, *trained) + "-" + std::to_string(number);
  kept.complete = true;
  std::vector<FileRecord> files = std::exchange(kept.files, {});
  const PartRecord* predicted = next->Find(kPredictPart);
  const FileRecord* forecast =
      predicted == nullptr ? nullptr : predicted->FindFile(RunLayout::kForecast);
  if (forecast != nullptr) files.push_back(*forecast);
  std::string damaged;
  for (const FileRecord& file : files) {
    ARROW_ASSIGN_OR_RAISE(const std::string problem, FileProblem(store, file));
    if (!problem.empty()) {
      damaged += (damaged.empty() ? "" : ", ") + file.path;
      continue;
    }
    ARROW_ASSIGN_OR_RAISE(
        kept.files.emplace_back(),
        store.StageCopy(file, RunLayout::OfTraining(kept.name, file.path)));
  }
  // No manifest names the report.
  ARROW_ASSIGN_OR_RAISE(const auto report, store.Size(RunLayout::kReport));
  if (report) {
    ARROW_ASSIGN_OR_RAISE(const std::string page, store.ReadText(RunLayout::kReport));
    ARROW_ASSIGN_OR_RAISE(
        kept.files.emplace_back(),
        store.StageText(RunLayout::OfTraining(kept.name, RunLayout::kReport), page));
  }
  std::string note = "the earlier training is kept in '" +
                     store.Show(RunLayout::OfTraining(kept.name, "")) + "'" +
                     (forecast == nullptr ? "" : ", with its forecast");
  if (!damaged.empty()) note += "; damaged files of it are not: " + damaged;
  next->Drop(kTrainPart);
  next->Drop(kPredictPart);
  if (!kept.files.empty()) next->trainings.push_back(std::move(kept));
  return note;
}

arrow::Result<std::string> KeepForecast(RunStore& store, const PartRecord& replaced,
                                        const PartRecord& next) {
  const FileRecord* earlier = replaced.FindFile(RunLayout::kForecast);
  const FileRecord* later = next.FindFile(RunLayout::kForecast);
  if (earlier == nullptr) return std::string();
  ARROW_ASSIGN_OR_RAISE(const auto size, store.Size(earlier->path));
  if (!size) return std::string();  // set aside already, or removed by the user
  ARROW_ASSIGN_OR_RAISE(const std::string problem, FileProblem(store, *earlier));
  if (!problem.empty()) {
    return "the earlier forecast is damaged and is not kept: '" +
           store.Show(earlier->path) + "' " + problem;
  }
  if (later != nullptr && later->xxh3 == earlier->xxh3) return std::string();
  ARROW_ASSIGN_OR_RAISE(const int number, NextForecastNumber(store));
  ARROW_ASSIGN_OR_RAISE(const FileRecord copy,
                        store.StageCopy(*earlier, RunLayout::KeptForecast(number)));
  ARROW_RETURN_NOT_OK(store.Move(copy.staged, copy.path));
  return "the earlier forecast is kept in '" + store.Show(copy.path) + "'";
}

arrow::Status CheckEarlierTraining(const RunStore& store, const Manifest& manifest) {
  for (const std::string_view name : {kTrainPart, kPredictPart}) {
    const PartRecord* part = manifest.Find(name);
    if (part == nullptr) continue;
    for (const FileRecord& file : part->files) {
      ARROW_ASSIGN_OR_RAISE(const std::string problem, FileProblem(store, file));
      if (problem.empty()) continue;
      return CorruptionError(
          "the earlier training is damaged; `--force` replaces it and ",
          "keeps the files that are not: '", store.Show(file.path), "': ", problem);
    }
  }
  return arrow::Status::OK();
}

arrow::Status KeepTrainingOfEarlierSnapshots(RunStore& store, const RunContext& context,
                                             Manifest* manifest) {
  if (manifest->Find(kTrainPart) == nullptr) return arrow::Status::OK();
  ARROW_RETURN_NOT_OK(store.Remove(RunLayout::kSuccess));
  Manifest next = *manifest;
  ARROW_ASSIGN_OR_RAISE(const std::string note, KeepTraining(store, &next));
  ARROW_RETURN_NOT_OK(Commit(store, std::move(next), manifest));
  context.progress->Note(note);
  return arrow::Status::OK();
}

arrow::Status NoteOtherFiles(const RunStore& store, const RunContext& context) {
  ARROW_ASSIGN_OR_RAISE(const auto others, store.List(RunLayout::kSnapshots));
  if (others.empty()) return arrow::Status::OK();
  context.progress->Note(
      "files in `snapshots/` that this program has not written are kept, and may "
      "describe the earlier snapshots: '" +
      store.Show(others.front()) + "'" + (others.size() > 1 ? " and others" : ""));
  return arrow::Status::OK();
}

bool IsRepeated(const PartRecord& earlier, const PartRecord& later) {
  const FileRecord* model = later.FindFile(RunLayout::kModelWeights);
  if (model == nullptr || earlier.fingerprint != later.fingerprint) return false;
  return std::any_of(earlier.files.begin(), earlier.files.end(), [&](const auto& file) {
    return file.path.ends_with(RunLayout::kModelWeights) && file.xxh3 == model->xxh3;
  });
}

std::vector<std::string> DropRepeated(Manifest* next) {
  std::vector<std::string> dropped;
  const PartRecord* trained = next->Find(kTrainPart);
  if (trained == nullptr) return dropped;
  std::erase_if(next->trainings, [&](const PartRecord& earlier) {
    const std::string forecast =
        RunLayout::OfTraining(earlier.name, RunLayout::kForecast);
    const bool drop =
        IsRepeated(earlier, *trained) && earlier.FindFile(forecast) == nullptr;
    if (drop) dropped.push_back(earlier.name);
    return drop;
  });
  return dropped;
}

arrow::Status ForgetRemovedTrainings(RunStore& store, const RunContext& context,
                                     Manifest* manifest) {
  if (manifest->trainings.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(RunLayout::kTrainings));
  Manifest next = *manifest;
  std::erase_if(next.trainings, [&](const PartRecord& training) {
    const std::string folder = RunLayout::OfTraining(training.name, "");
    const bool gone = std::none_of(names.begin(), names.end(), [&](const auto& name) {
      return name.starts_with(folder);
    });
    if (gone) {
      context.progress->Note("the earlier training '" + training.name +
                             "' has been removed, and is no longer listed");
    }
    return gone;
  });
  if (next.trainings.size() == manifest->trainings.size()) return arrow::Status::OK();
  return Commit(store, std::move(next), manifest);
}

}  // namespace coden
