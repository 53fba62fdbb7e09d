#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

#include "coden/base/ini_text.h"
#include "coden/base/option.h"
#include "coden/settings/embed_options.h"
#include "coden/settings/experiment_options.h"
#include "coden/settings/graph_options.h"
#include "coden/settings/input_options.h"
#include "coden/settings/partition_options.h"
#include "coden/settings/report_options.h"
#include "coden/settings/sample_options.h"
#include "coden/settings/snapshot_options.h"
#include "coden/settings/train_options.h"

namespace coden {

struct RunOptions {
  std::string directory;
  std::uint64_t seed = 0;
  int threads = 0;
  std::int64_t memory_limit = 0;
  int commit_interval = 30;  ///< seconds
};

/// Everything a pipeline file can say: the options of every stage.
struct Settings {
  RunOptions run;
  InputOptions input;
  GraphOptions graph;
  PartitionOptions partition;
  SampleOptions sample;
  EmbedOptions embed;
  SnapshotOptions snapshot;
  TrainOptions train;
  ReportOptions report;
  ExperimentOptions experiment;
};

/// One setting, declared once in settings.cc; its key is section.name.
using Setting = Option<Settings>;

/// Every setting in the order of the pipeline's sections.
std::span<const Setting> AllSettings();

/// Find a setting by key. The error names the nearest key.
arrow::Result<const Setting*> FindSetting(std::string_view key);

/// Set `key` from text, checking its rule.
arrow::Status Set(Settings& settings, std::string_view key, std::string_view value);

/// Check the rules that concern more than one setting.
arrow::Status Validate(const Settings& settings);

/// Every setting with its value, by section.
std::vector<IniSection> SettingSections(const Settings& settings);

/// Write every setting as a pipeline file.
std::string ToIni(const Settings& settings);

/// A setting as a manifest records it, in a line `section.key = value`.
struct SettingLine {
  std::string key;
  std::string value;
};
std::vector<SettingLine> ReadSettingLines(std::string_view text);

/// A pipeline file with every setting at its default, and what it means in comments.
std::string CommentedIni();

/// The reference page docs/settings.md.
std::string SettingsReference();

}  // namespace coden
