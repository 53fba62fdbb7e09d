#include <algorithm>
#include <cctype>

#include "cli/command_internal.h"
#include "cli/pipeline_file_internal.h"
#include "coden/pipeline/error.h"

namespace coden {

std::vector<Command> AllCommands() {
  const std::vector<FlagSection> settings = {{"Settings:", SettingFlags()}};
  return {
      {"run", "[PIPELINE.ini]", "all stages, from the edge log to the report", settings,
       RunCommand},
      {"plan", "[PIPELINE.ini]",
       "prediction times, snapshots, memory and disk, without a run", PlanFlags(),
       PlanCommand},
      {"validate", "[PIPELINE.ini]", "check the inputs and list every problem", settings,
       ValidateCommand},
      {"embed", "[PIPELINE.ini]",
       "the stages up to the snapshots, or one slice of a schedule", settings,
       EmbedCommand},
      {"schedule", "[PIPELINE.ini]",
       "the stages up to the schedule, for slices that others embed", settings,
       ScheduleCommand},
      {"commit", "[PIPELINE.ini]", "the snapshots, from slices that are all there",
       settings, CommitCommand},
      {"train", "[PIPELINE.ini]", "train on the snapshots of an earlier run", settings,
       TrainCommand},
      {"predict", "[PIPELINE.ini]",
       "take new rows and predict with the model of an earlier run", settings,
       PredictCommand},
      {"report", "[PIPELINE.ini]",
       "results and report of an earlier run; with --compare of several", ReportFlags(),
       ReportCommand},
      {"experiment", "SUITE [PIPELINE.ini]",
       "a suite of the paper's experiments around a pipeline", ExperimentFlags(),
       ExperimentCommand},
      {"generate", "sbm|rmat --out FOLDER", "make a synthetic log, features and labels",
       GenerateFlags(), GenerateCommand},
      {"verify",
       "RUN",
       "read every committed file again and compare its checksum",
       {},
       VerifyCommand},
      {"import", "edges|jodie|tgl FILE --out FOLDER",
       "turn delimited text into the files coden reads", ImportFlags(), ImportCommand},
      {"inspect", "PATH", "what a log, snapshot, model or run holds", {}, InspectCommand},
      {"settings",
       "",
       "every setting with its rule, default and meaning",
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
