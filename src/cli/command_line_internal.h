#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "cli/console_internal.h"
#include "cli/pipeline_file_internal.h"

namespace coden {

/// A flag that a command takes, as help shows it.
struct FlagHelp {
  std::string name;  ///< without the dashes
  std::string rule;
  std::string help;
  std::string default_text;
  bool takes_value = true;
  char short_name = 0;  ///< 0 where there is none
};

/// The words after `coden COMMAND`, sorted out but not yet interpreted.
struct CommandLine {
  std::vector<std::string> words;  ///< arguments that are no flags
  std::vector<std::pair<std::string, std::string>> flags;  ///< that have no member below
  bool help = false;
  bool help_all = false;
  bool version = false;
  bool quiet = false;
  bool force = false;
  bool resume = false;
  std::optional<std::string> format;
  std::string table;
  LogFormat log_format = LogFormat::kText;
  /// Of the settings that come from the pipeline file, for the errors of the command:
  /// filled where the file is read.
  std::shared_ptr<SettingPlaces> places = std::make_shared<SettingPlaces>();
};

/// Flags that work with every command, and without one.
std::span<const FlagHelp> CommonFlags();

/// The name of the command and everything else: common flags may stand before the name.
struct Invocation {
  std::string command;  ///< empty where there is none
  std::vector<std::string> arguments;
};
arrow::Result<Invocation> SplitInvocation(const std::vector<std::string>& arguments);

/// What a command says to a flag that it does not take.
using OnUnknownFlag = std::function<arrow::Status(const std::string& name)>;

/// Sort out `arguments` for a command that takes `flags` besides the common ones.
arrow::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                            std::span<const FlagHelp> flags,
                                            const OnUnknownFlag& on_unknown);

/// The form of the log lines that the arguments ask for, wherever the flag stands. Does
/// not fail and takes no memory: errors in the command line have the same form.
LogFormat FindLogFormat(std::span<const char* const> arguments);

/// Lay out flags for a help text, one entry each, wrapped at 90 columns.
std::string DescribeFlags(std::span<const FlagHelp> flags);

}  // namespace coden
