#include "coden/pipeline/settings.h"

#include <algorithm>
#include <vector>

#include "coden/pipeline/error.h"
#include "pipeline/nearest_internal.h"

namespace coden {

arrow::Result<const Setting*> FindSetting(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const Setting& setting : AllSettings()) {
    if (setting.key == key) return &setting;
    keys.push_back(setting.key);
  }
  return UsageError("unknown setting `", key, "`; the nearest is `", Nearest(key, keys),
                    "` (`coden settings` lists all)");
}

arrow::Status Set(Settings& settings, std::string_view key, std::string_view value) {
  ARROW_ASSIGN_OR_RAISE(const Setting* setting, FindSetting(key));
  return setting->set(settings, value);
}

arrow::Status Validate(const Settings& settings) {
  const PartitionOptions& partition = settings.partition;
  const int ways =
      (partition.predictions > 0) + (partition.width > 0) + !partition.times.empty();
  if (ways > 1) {
    return UsageError(
        "set only one of `partition.predictions`, `partition.width` and "
        "`partition.times`");
  }
  if (settings.graph.directed && settings.embed.propagation != Propagation::kMass) {
    return UsageError(
        "`embed.propagation = average` and `symmetric` need an undirected graph: set "
        "`graph.directed = false` or `embed.propagation = mass`");
  }
  if (settings.sample.bound == ShiftBound::kStrict &&
      settings.embed.propagation != Propagation::kMass) {
    return UsageError(
        "`sample.bound = strict` is proven for `embed.propagation = mass` only; set "
        "that, or "
        "`sample.bound = relative`");
  }
  if (settings.graph.window > 0 && settings.graph.events != EventMode::kInsert) {
    return UsageError(
        "`graph.window` needs `graph.events = insert`: only inserted edges expire");
  }
  if (!settings.input.features.empty() && settings.input.random_features > 0) {
    return UsageError(
        "set only one of `input.features` and `input.random_features`: features come "
        "from a "
        "file or from the seed");
  }
  const TrainOptions& train = settings.train;
  const bool has_window =
      std::any_of(train.label_windows.begin(), train.label_windows.end(),
                  [](EventTime window) { return window > 0; });
  if (has_window && settings.graph.events != EventMode::kInsert) {
    return UsageError(
        "`train.label_windows` needs `graph.events = insert`: only inserted edges "
        "expire");
  }
  if ((train.split_by == SplitKind::kFile) != !settings.input.split.empty()) {
    return UsageError("`train.split_by = file` and `input.split` go together: set both");
  }
  if (!train.inputs.embedding && !train.inputs.features && train.label_columns == 0) {
    return UsageError(
        "the model has nothing to read: set `train.inputs` or "
        "`train.label_columns`");
  }
  if (!train.label_windows.empty() && train.label_windows.front() < 0) {
    return UsageError("`train.label_windows` must be 0 or more: ",
                      train.label_windows.front());
  }
  if (train.label_columns == 0 &&
      !(train.label_alphas.empty() && train.label_windows.empty())) {
    return UsageError(
        "`train.label_alphas` and `train.label_windows` are of label columns: set "
        "`train.label_columns`, such as 10, or leave them out");
  }
  if (train.gate == GateKind::kInput && train.model != ModelKind::kCodenR) {
    return UsageError("`train.gate = input` is for `train.model = coden-r`");
  }
  if (!train.averages.empty() && !train.inputs.embedding && train.label_columns == 0) {
    return UsageError(
        "`train.averages` are over snapshots, and features alone have none: set "
        "`train.inputs = embedding, features` or leave them out");
  }
  if (train.label_columns == 1) {
    return UsageError(
        "`train.label_columns` needs two folds or more, or 0 for no label columns");
  }
  if (settings.snapshot.nodes == SnapshotNodes::kLabelled &&
      settings.input.labels.empty()) {
    return UsageError("`snapshot.nodes = labelled` needs `input.labels`");
  }
  return arrow::Status::OK();
}

std::string ToIni(const Settings& settings, std::span<const std::string_view> sections) {
  std::string text;
  std::string_view section;
  for (const Setting& setting : AllSettings()) {
    const bool wanted =
        sections.empty() ||
        std::find(sections.begin(), sections.end(), setting.section()) != sections.end();
    if (!wanted) continue;
    if (setting.section() != section) {
      section = setting.section();
      text += (text.empty() ? "[" : "\n[") + std::string(section) + "]\n";
    }
    text += std::string(setting.name()) + " = " + setting.get(settings) + "\n";
  }
  return text;
}

std::string SettingsReference() {
  std::string text =
      "# Settings\n\n"
      "Every setting is a key of the pipeline file (`[section]`, then `name = value`) "
      "and a flag\n"
      "(`--section.name value`); a flag wins over the file. `${NAME}` in a pipeline file "
      "stands\n"
      "for an environment variable. This page is written by `coden settings --format "
      "markdown`.\n";
  std::string_view section;
  for (const Setting& setting : AllSettings()) {
    if (setting.section() != section) {
      section = setting.section();
      text += "\n## " + std::string(section) +
              "\n\n| name | value | default | meaning |\n|---|---|---|---|\n";
    }
    const std::string shown =
        setting.default_text.empty() ? std::string() : "`" + setting.default_text + "`";
    text += "| `" + std::string(setting.name()) + "` | " + setting.rule + " | " + shown +
            " | " + setting.help + " |\n";
  }
  return text;
}

}  // namespace coden
