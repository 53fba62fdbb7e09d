#include <algorithm>
#include <cctype>

#include "cli/command_internal.h"
#include "cli/pipeline_file_internal.h"
#include "coden/pipeline/error.h"

namespace coden {

std::vector<Command> AllCommands() {
  const std::vector<FlagSection> settings = {{"Settings:", SettingFlags()}};
  return {
      {"init", "--edges LOG [--out PIPELINE.ini]",
       "write a pipeline file for given inputs", InitFlags(), InitCommand},
      {"run", "[PIPELINE.ini]", "run all stages, from the edge log to the report",
       settings, RunCommand},
      {"plan", "[PIPELINE.ini]",
       "show prediction times, snapshots, memory and disk without running", PlanFlags(),
       PlanCommand},
      {"validate", "[PIPELINE.ini]", "check the inputs and list all problems", settings,
       ValidateCommand},
      {"embed", "[PIPELINE.ini]", "compute the snapshots, or one slice of a schedule",
       settings, EmbedCommand},
      {"schedule", "[PIPELINE.ini]",
       "compute the schedule, for slices embedded by other processes", settings,
       ScheduleCommand},
      {"commit", "[PIPELINE.ini]", "join finished slices into snapshots", settings,
       CommitCommand},
      {"train", "[PIPELINE.ini]", "train a model on the snapshots of an earlier run",
       settings, TrainCommand},
      {"predict", "[PIPELINE.ini]", "process new rows and predict with a trained model",
       settings, PredictCommand},
      {"report", "[PIPELINE.ini]",
       "show the results of a run, or compare several with --compare", ReportFlags(),
       ReportCommand},
      {"experiment", "SUITE [PIPELINE.ini]",
       "run one of the paper's experiments on a pipeline", ExperimentFlags(),
       ExperimentCommand},
      {"generate", "sbm|rmat --out FOLDER",
       "generate a synthetic edge log, features and labels", GenerateFlags(),
       GenerateCommand},
      {"verify",
       "RUN",
       "check every committed file against its checksum",
       {},
       VerifyCommand},
      {"import", "edges|jodie|tgl FILE --out FOLDER", "convert delimited text to Parquet",
       ImportFlags(), ImportCommand},
      {"inspect",
       "PATH",
       "show what a log, snapshot, model or run contains",
       {},
       InspectCommand},
      {"settings",
       "",
       "list all settings with their values and defaults",
       {},
       SettingsCommand},
  };
}

std::vector<FlagHelp> SettingFlags() {
  std::vector<FlagHelp> flags;
  for (const Setting& setting : AllSettings()) {
    flags.push_back({setting.key, setting.rule, setting.help, setting.default_text});
  }
  return flags;
}

std::vector<FlagHelp> AllFlags(const Command& command) {
  std::vector<FlagHelp> all;
  for (const FlagSection& section : command.flags) {
    for (const FlagHelp& flag : section.flags) {
      const bool known = std::any_of(all.begin(), all.end(), [&](const FlagHelp& other) {
        return other.name == flag.name;
      });
      if (!known) all.push_back(flag);
    }
  }
  return all;
}

arrow::Result<Settings> SettingsFrom(const CommandLine& line) {
  if (line.words.size() > 1) {
    return UsageError("give one pipeline file, not several: '", line.words[1], "'");
  }
  Settings settings;
  if (!line.words.empty()) {
    ARROW_RETURN_NOT_OK(ReadPipelineFile(line.words.front(), &settings));
  }
  for (const auto& [name, value] : line.flags) {
    ARROW_RETURN_NOT_OK(Set(settings, name == "format" ? "report.format" : name, value));
  }
  ARROW_RETURN_NOT_OK(Validate(settings));
  return settings;
}

arrow::Result<TableFormat> FormatFrom(const CommandLine& line) {
  Settings settings;
  for (const auto& [name, value] : line.flags) {
    if (name == "format") ARROW_RETURN_NOT_OK(Set(settings, "report.format", value));
  }
  return settings.report.format;
}

std::string RenderAll(std::span<const ResultsTable> tables, TableFormat format) {
  std::string text;
  for (const ResultsTable& table : tables) {
    if (format == TableFormat::kJson) {
      std::string key = table.title;
      for (char& letter : key) {
        letter = letter == ' ' ? '_' : static_cast<char>(std::tolower(letter));
      }
      text +=
          (text.empty() ? "{" : ",") + ("\n\"" + key + "\": ") + Render(table, format);
    } else {
      text += (text.empty() ? "" : "\n") + Render(table, format);
    }
  }
  return format == TableFormat::kJson ? text + "}\n" : text;
}

}  // namespace coden
