#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include <arrow/table.h>
#include <nlohmann/json.hpp>

#include "base/table_column_internal.h"
#include "coden/report/tensorboard.h"
#include "coden/store/parquet_file.h"
#include "coden/store/run_layout.h"
#include "pipeline/tensorboard_files_internal.h"

namespace coden {

namespace {

using EventsByRun = std::map<std::int64_t, std::vector<ScalarEvent>>;

constexpr std::string_view kEventsFile = "/events.out.tfevents.coden";

std::string RunFolder() { return std::string(RunLayout::kTensorboard) + "/run-"; }

// Whether the name is one that a report gives: tensorboard/run-N/, and no other folder.
// No manifest names these files, and copies of them are the user's.
bool IsEventsFile(std::string_view name) {
  const std::string folder = RunFolder();
  if (!name.starts_with(folder) || !name.ends_with(kEventsFile)) return false;
  name.remove_prefix(folder.size());
  if (name.size() <= kEventsFile.size()) return false;
  name.remove_suffix(kEventsFile.size());
  return std::all_of(name.begin(), name.end(),
                     [](char letter) { return letter >= '0' && letter <= '9'; });
}

double Now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

// Epochs, which know how long they took but not when: the last one of a run ends now.
void AddEpochs(const std::string& log, EventsByRun* runs) {
  struct Epoch {
    double seconds = 0.0;
    std::vector<ScalarEvent> events;
  };
  std::map<std::int64_t, std::vector<Epoch>> epochs;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    const auto number = [&](const char* key) -> std::optional<double> {
      if (!object.is_object() || !object.contains(key) || !object[key].is_number())
        return {};
      return object[key].get<double>();
    };
    const auto run_number = number("run");
    if (!run_number || !number("epoch")) continue;
    std::vector<Epoch>& run = epochs[static_cast<std::int64_t>(*run_number)];
    Epoch epoch;
    epoch.seconds = number("seconds").value_or(0.0);
    const auto step = static_cast<std::int64_t>(run.size()) + 1;
    for (const auto& [key, tag] : {std::pair("loss", "train/loss"),
                                   std::pair("validate_micro_f1", "validate/micro_f1"),
                                   std::pair("lesson", "train/lesson")}) {
      if (const auto value = number(key))
        epoch.events.push_back({tag, step, static_cast<float>(*value)});
    }
    run.push_back(std::move(epoch));
  }
  const double now = Now();
  for (auto& [run, all] : epochs) {
    double time = now;
    for (const Epoch& epoch : all) time -= epoch.seconds;
    for (Epoch& epoch : all) {
      time += epoch.seconds;
      for (ScalarEvent& event : epoch.events) {
        event.wall_time = time;
        (*runs)[run].push_back(std::move(event));
      }
    }
  }
}

arrow::Status AddMetrics(const arrow::Table& metrics, EventsByRun* runs) {
  const std::string file(RunLayout::kMetrics);
  ARROW_ASSIGN_OR_RAISE(const auto run, IntegerColumn(metrics, file, "run"));
  ARROW_ASSIGN_OR_RAISE(const auto step, IntegerColumn(metrics, file, "prediction"));
  const double now = Now();
  for (const char* name :
       {"micro_f1", "micro_f1_all", "macro_f1", "loss", "majority_micro_f1",
        "propagation_micro_f1", "last_label_micro_f1", "gain", "dirichlet_energy",
        "relative_energy"}) {
    // Trainings of earlier builds have no gain.
    if (metrics.GetColumnByName(name) == nullptr) continue;
    ARROW_ASSIGN_OR_RAISE(const auto values, OptionalRealColumn(metrics, file, name));
    for (std::size_t row = 0; row < values.size(); ++row) {
      if (!std::isfinite(values[row])) continue;
      (*runs)[run[row]].push_back(
          {"test/" + std::string(name), step[row], static_cast<float>(values[row]), now});
    }
  }
  return arrow::Status::OK();
}

}  // namespace

arrow::Status WriteTensorboardFiles(RunStore& store, const Manifest& manifest) {
  const FileRecord* metrics = manifest.FindFile(RunLayout::kMetrics);
  const FileRecord* log = manifest.FindFile(RunLayout::kMetricsLog);
  if (metrics == nullptr || log == nullptr) return arrow::Status::OK();
  EventsByRun runs;
  ARROW_ASSIGN_OR_RAISE(const std::string text, store.ReadText(*log));
  AddEpochs(text, &runs);
  ARROW_ASSIGN_OR_RAISE(const auto table, ReadParquetFile(store, *metrics));
  ARROW_RETURN_NOT_OK(AddMetrics(*table, &runs));
  // Those of an earlier training would be drawn as well. Other files are the user's.
  ARROW_ASSIGN_OR_RAISE(const auto names, store.List(RunLayout::kTensorboard));
  for (const std::string& name : names) {
    if (IsEventsFile(name)) ARROW_RETURN_NOT_OK(store.Remove(name));
  }
  for (const auto& [run, events] : runs) {
    ARROW_RETURN_NOT_OK(
        store.WriteText(RunFolder() + std::to_string(run) + std::string(kEventsFile),
                        TensorboardEvents(events)));
  }
  return arrow::Status::OK();
}

}  // namespace coden
