#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "cli/command_line_internal.h"
#include "coden/pipeline/progress.h"
#include "coden/pipeline/settings.h"
#include "coden/report/results_table.h"

namespace coden {

/// Flags that help shows under one heading.
struct FlagSection {
  std::string title;
  std::vector<FlagHelp> flags;
};

/// One subcommand. What it puts into `output` goes to standard output, whether it
/// succeeds or not: `validate` lists problems and fails.
struct Command {
  std::string_view name;
  std::string_view arguments;  ///< as the usage line shows them
  std::string_view summary;    ///< one line for `coden --help`
  std::vector<FlagSection> flags;
  arrow::Status (*run)(const CommandLine& line, const RunContext& context,
                       std::string* output);
};

/// Every command, in the order of the help text.
std::vector<Command> AllCommands();

/// The flags of commands that work on a pipeline: every setting.
std::vector<FlagHelp> SettingFlags();

/// The flags of all sections; where two share a name, once.
std::vector<FlagHelp> AllFlags(const Command& command);

/// The settings that a pipeline file and flags add up to. `line.words` holds the file, or
/// nothing where flags say enough.
arrow::Result<Settings> SettingsFrom(const CommandLine& line);

/// The form that `--format` asks for.
arrow::Result<TableFormat> FormatFrom(const CommandLine& line);

/// Print several tables: one after another, or as one JSON object with a list per table.
std::string RenderAll(std::span<const ResultsTable> tables, TableFormat format);

/// The commands, one file each.
arrow::Status InitCommand(const CommandLine& line, const RunContext& context,
                          std::string* output);
arrow::Status RunCommand(const CommandLine& line, const RunContext& context,
                         std::string* output);
arrow::Status ScheduleCommand(const CommandLine& line, const RunContext& context,
                              std::string* output);
arrow::Status CommitCommand(const CommandLine& line, const RunContext& context,
                            std::string* output);
arrow::Status EmbedCommand(const CommandLine& line, const RunContext& context,
                           std::string* output);
arrow::Status TrainCommand(const CommandLine& line, const RunContext& context,
                           std::string* output);
arrow::Status PredictCommand(const CommandLine& line, const RunContext& context,
                             std::string* output);
arrow::Status ReportCommand(const CommandLine& line, const RunContext& context,
                            std::string* output);
arrow::Status ExperimentCommand(const CommandLine& line, const RunContext& context,
                                std::string* output);
arrow::Status PlanCommand(const CommandLine& line, const RunContext& context,
                          std::string* output);
arrow::Status ValidateCommand(const CommandLine& line, const RunContext& context,
                              std::string* output);
arrow::Status GenerateCommand(const CommandLine& line, const RunContext& context,
                              std::string* output);
arrow::Status VerifyCommand(const CommandLine& line, const RunContext& context,
                            std::string* output);
arrow::Status ImportCommand(const CommandLine& line, const RunContext& context,
                            std::string* output);
arrow::Status InspectCommand(const CommandLine& line, const RunContext& context,
                             std::string* output);
arrow::Status SettingsCommand(const CommandLine& line, const RunContext& context,
                              std::string* output);

/// The flags of `coden init`: every setting, and short names for some.
std::vector<FlagSection> InitFlags();

/// The flags of `coden plan`: every setting, and those of slices.
std::vector<FlagSection> PlanFlags();

/// The flags of `coden report`: every setting, and those of comparing.
std::vector<FlagSection> ReportFlags();

/// The flags of `coden generate`, by generator.
std::vector<FlagSection> GenerateFlags();

/// The suites and flags of `coden experiment`.
std::vector<FlagSection> ExperimentFlags();

/// The flags of `coden import`, by kind of file.
std::vector<FlagSection> ImportFlags();

}  // namespace coden
