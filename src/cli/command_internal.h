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

/// One subcommand. What it returns is printed to standard output.
struct Command {
  std::string_view name;
  std::string_view arguments;  ///< as the usage line shows them
  std::string_view summary;    ///< one line for `coden --help`
  std::vector<FlagHelp> flags;
  arrow::Result<std::string> (*run)(const CommandLine& line, const RunContext& context);
};

/// Every command, in the order of the help text.
std::vector<Command> AllCommands();

/// The flags of commands that work on a pipeline: every setting.
std::vector<FlagHelp> SettingFlags();

/// The settings that a pipeline file and flags add up to. `line.words` holds the file, or
/// nothing where flags say enough.
arrow::Result<Settings> SettingsFrom(const CommandLine& line);

/// The form that `--format` asks for.
arrow::Result<TableFormat> FormatFrom(const CommandLine& line);

/// Print tables one after another.
std::string RenderAll(std::span<const ResultsTable> tables, TableFormat format);

/// The commands, one file each.
arrow::Result<std::string> RunCommand(const CommandLine& line, const RunContext& context);
arrow::Result<std::string> EmbedCommand(const CommandLine& line,
                                        const RunContext& context);
arrow::Result<std::string> TrainCommand(const CommandLine& line,
                                        const RunContext& context);
arrow::Result<std::string> ReportCommand(const CommandLine& line,
                                         const RunContext& context);
arrow::Result<std::string> PlanCommand(const CommandLine& line,
                                       const RunContext& context);
arrow::Result<std::string> ValidateCommand(const CommandLine& line,
                                           const RunContext& context);
arrow::Result<std::string> GenerateCommand(const CommandLine& line,
                                           const RunContext& context);
arrow::Result<std::string> InspectCommand(const CommandLine& line,
                                          const RunContext& context);
arrow::Result<std::string> SettingsCommand(const CommandLine& line,
                                           const RunContext& context);

/// The flags of `coden generate`: those of every generator.
std::vector<FlagHelp> GenerateFlags();

}  // namespace coden
