#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <arrow/result.h>

#include "cli/console_internal.h"

namespace coden {

/// A flag that a command takes, as help shows it.
struct FlagHelp {
  std::string name;  ///< without the dashes
  std::string rule;
  std::string help;
  std::string default_text;
  bool takes_value = true;
};

/// The words after `coden COMMAND`, sorted out but not yet interpreted.
struct CommandLine {
  std::vector<std::string> words;  ///< arguments that are no flags
  std::vector<std::pair<std::string, std::string>> flags;
  bool help = false;
  bool quiet = false;
  bool force = false;
  bool resume = false;
  LogFormat log_format = LogFormat::kText;
};

/// Flags that every command takes.
std::span<const FlagHelp> CommonFlags();

/// Sort out `arguments` for a command that takes `flags` besides the common ones. An
/// unknown flag is an error that names the nearest.
arrow::Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments,
                                            std::span<const FlagHelp> flags);

/// Lay out flags for a help text, one entry each, wrapped at 90 columns.
std::string DescribeFlags(std::span<const FlagHelp> flags);

}  // namespace coden
