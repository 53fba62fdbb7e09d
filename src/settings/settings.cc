#include "coden/settings/settings.h"

#include <algorithm>
#include <vector>

#include "base/nearest_internal.h"
#include "coden/base/error.h"

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
  // A pipeline file, and the record of a run, give every value one line.
  if (value.find_first_of(std::string_view("\n\r\0", 3)) != std::string_view::npos) {
    return UsageError("`", key, "` must be one line: '", value, "'");
  }
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

std::vector<IniSection> SettingSections(const Settings& settings) {
  std::vector<IniSection> sections;
  for (const Setting& setting : AllSettings()) {
    if (sections.empty() || sections.back().name != setting.section())
      sections.push_back({std::string(setting.section()), {}});
    sections.back().settings.push_back(
        {std::string(setting.name()), setting.get(settings)});
  }
  return sections;
}

std::string ToIni(const Settings& settings) {
  return WriteIni(SettingSections(settings));
}

std::vector<SettingLine> ReadSettingLines(std::string_view text) {
  std::vector<SettingLine> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t sign = line.find(" = ");
    if (sign == std::string_view::npos) continue;
    lines.push_back(
        {std::string(line.substr(0, sign)), std::string(line.substr(sign + 3))});
  }
  return lines;
}

std::string CommentedIni() {
  std::string text =
      "# A pipeline file with every setting at its default, written by `coden settings\n"
      "# --format ini`. Lines that keep a default may be left out.\n";
  std::string_view section;
  for (const Setting& setting : AllSettings()) {
    if (setting.section() != section) {
      section = setting.section();
      text += "\n[" + std::string(section) + "]\n";
    }
    text += "\n" + IniComment(setting.help) + IniComment("Value: " + setting.rule + ".") +
            std::string(setting.name()) + " = " + IniValue(setting.default_text) + "\n";
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
