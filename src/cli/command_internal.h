#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>

#include "cli/command_line_internal.h"
#include "coden/base/progress.h"
#include "coden/report/results_table.h"
#include "coden/settings/settings.h"

namespace coden {

/// Flags that help shows under one heading.
struct FlagSection {
  std::string title;
  std::vector<FlagHelp> flags;
};

/// One subcommand. What it puts into `output` goes to standard output, whether it
/// succeeds or not: `validate` lists problems and fails.
///
/// A command that uses settings takes all of them, in a pipeline file and as flags, so
/// that the same file and flags serve several commands; those that it does not use have
/// no effect.
struct Command {
  std::string_view name;
  std::string_view arguments;      ///< as the usage line shows them
  std::string_view summary;        ///< one line for `coden --help`
  std::vector<FlagSection> flags;  ///< that only this command has
  arrow::Status (*run)(const CommandLine& line, const RunContext& context,
                       std::string* output);
  /// Which of --force, --resume, --format and --table it takes.
  std::vector<std::string_view> shared_flags = {};
  /// The settings that it uses, for its help: sections, and keys such as train.split_by.
  std::vector<std::string_view> sections = {};
};

/// Every command, in the order of the help text.
std::vector<Command> AllCommands();

/// Every setting as a flag.
std::vector<FlagHelp> SettingFlags();

/// The command of that name. The error names the nearest.
arrow::Result<Command> FindCommand(std::string_view name);

/// Sort out the arguments of `command`. The error of a flag that it does not take names
/// the commands that do, or the nearest flag.
arrow::Result<CommandLine> ParseFlagsOf(const Command& command,
                                        const std::vector<std::string>& arguments);

/// The text of `coden --help`.
std::string GeneralHelp();

/// The text of `coden COMMAND --help`, with the settings that the command uses, or with
/// all settings.
std::string CommandHelp(const Command& command, bool all_settings);

/// The settings that a pipeline file and flags add up to. `line.words` holds the file, or
/// nothing where flags say enough.
arrow::Result<Settings> SettingsFrom(const CommandLine& line);

/// The form that `--format` asks for.
arrow::Result<TableFormat> FormatFrom(const CommandLine& line);

/// How a command with several tables is to print them.
struct OutputForm {
  TableFormat format = TableFormat::kTable;
  std::string table;  ///< the key of the one to print; empty for all
};

/// Check, before long work, that tables with these keys can be printed in this form: CSV
/// holds one table.
arrow::Status CheckOutputForm(const OutputForm& form,
                              std::span<const std::string_view> keys);

/// Print tables one after another, or as one JSON object with their keys; with
/// `form.table` that one alone.
arrow::Result<std::string> RenderAll(std::span<const ResultsTable> tables,
                                     const OutputForm& form);

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

/// The flags of `coden init`: short names of some settings, and the file to write.
std::vector<FlagSection> InitFlags();

/// The flags of `coden plan`: those of slices.
std::vector<FlagSection> PlanFlags();

/// The flags of `coden report`: those of comparing.
std::vector<FlagSection> ReportFlags();

/// The flags of `coden generate`, by generator.
std::vector<FlagSection> GenerateFlags();

/// The suites of `coden experiment`.
std::vector<FlagSection> ExperimentFlags();

/// The flags of `coden settings`.
std::vector<FlagSection> SettingsFlags();

/// The flags of `coden import`, by kind of file.
std::vector<FlagSection> ImportFlags();

}  // namespace coden
